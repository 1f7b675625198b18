"use strict";

// On a narrow screen a table is a list of cards, on which each value has the head of its column.
// biome-ignore lint/correctness/noUnusedVariables: the scripts that follow on the page use it
function cards(table) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
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
