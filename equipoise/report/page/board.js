"use strict";
(() => {
  /** @type {HTMLInputElement | null} */
  const find = document.querySelector("#find");
  const all = ".standings tbody tr, .every tbody tr, .releases tbody tr";
  const rows = [.../** @type {NodeListOf<HTMLTableRowElement>} */ (document.querySelectorAll(all))];
  const name = (row) => row.querySelector("th").textContent.toLowerCase();

  if (find) find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    const models = new Set();
    for (const row of rows) {
      row.hidden = wanted !== "" && !name(row).includes(wanted);
      if (!row.hidden) models.add(name(row));
    }
    document.getElementById("shown").textContent = wanted === "" ? "" : `${models.size.toLocaleString("en")} models`;
  });

  // A rank shows all models that cannot be told apart from its own; the same rank again ends that.
  for (const table of document.querySelectorAll(".standings")) {
    const ranked = [.../** @type {NodeListOf<HTMLTableRowElement>} */ (table.querySelectorAll("tbody tr"))];
    ranked.forEach((row, place) => {
      /** @type {HTMLButtonElement | null} */
      const button = row.querySelector("button.ranks");
      if (!button) return;
      button.setAttribute("aria-pressed", "false");
      button.title = "Show the models that cannot be told apart from this one";
      button.addEventListener("click", () => {
        const isOn = button.getAttribute("aria-pressed") === "true";
        const alike = BigInt(`0x${row.dataset.alike}`);
        ranked.forEach((other, number) => {
          other.classList.toggle("alike", !isOn && (number === place || (alike >> BigInt(number) & 1n) === 1n));
          other.querySelector("button.ranks")?.setAttribute("aria-pressed", String(!isOn && number === place));
        });
        table.classList.toggle("choosing", !isOn);
      });
    });
  }

  /** @type {NodeListOf<HTMLElement>} */
  const jumps = document.querySelectorAll("[data-jump]");
  for (const link of jumps) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = document.getElementById(link.dataset.jump);
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
      target.scrollIntoView();
    });
  }

  // Alone on its page, the board is all that there is to make ready.
  if (!document.getElementById("index")) {
    lay();
    document.documentElement.classList.add("scripted", "ready");
  }
})();
