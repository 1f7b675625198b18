"use strict";

// Tables: sorted by a click on a head; on a narrow screen a list of cards.

/** @type {(one: any, other: any) => number} */
const compared = (one, other) => (typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true }));

// Items by a value, those without one last, whichever way the others go.
function ordered(items, value, down) {
  const missing = (one) => one === undefined || one === null || one === "";
  const keys = new Map(items.map((item) => [item, value(item)]));
  return [...items].sort((one, other) => {
    const [first, second] = [keys.get(one), keys.get(other)];
    if (missing(first) || missing(second)) return Number(missing(first)) - Number(missing(second));
    return (down ? -1 : 1) * compared(first, second);
  });
}

// What a cell is sorted by: its own key, a number if it is one, else its text.
function sortKey(cell) {
  const text = cell.dataset.sort ?? cell.textContent.trim();
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells].filter((head) => !head.matches(".no-sort"));
  for (const head of heads) {
    const sort = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...ordered([...table.tBodies[0].rows], (row) => sortKey(row.cells[head.cellIndex]), down));
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  }
}

document.querySelectorAll("table.sortable").forEach(sortable);

// As a card each value has the head of its column.
function cards(table) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.label ?? cell.textContent.trim());
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) part.setAttribute("role", "rowgroup");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, at) => {
      const isHead = cell.tagName === "TH";
      cell.setAttribute("role", isHead ? (cell.closest("thead") ? "columnheader" : "rowheader") : "cell");
      if (!isHead) cell.dataset.label = heads[at];
    });
  }
  return table;
}

// Of thousands of rows cards are made ready only where they show.
const narrow = matchMedia("(max-width: 40rem)");
function lay() {
  if (narrow.matches) document.querySelectorAll("table.cards:not([role])").forEach(cards);
}
narrow.addEventListener("change", lay);
