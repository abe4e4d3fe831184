"use strict";
// Sorts tables by a column, shows rows by name, makes wide tables fit narrow screens, and opens what is folded before printing.
// The page is whole without it.
const rowsOf = (table) => [...table.querySelectorAll("tr")].filter((row) => row.querySelector("td"));

// The first number of a cell; text without one comes last.
const numberOf = (cell) => {
  const found = cell.textContent.replaceAll(",", "").replaceAll("−", "-").match(/-?\d*\.?\d+/);
  return found ? Number(found[0]) : -Infinity;
};

const sort = (table, header, column) => {
  const isDown = header.getAttribute("aria-sort") !== "descending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const compare = (one, other) => {
    const [left, right] = [one.cells[column], other.cells[column]];
    const difference = column === 0 ? right.textContent.localeCompare(left.textContent) : numberOf(right) - numberOf(left);
    return isDown ? difference : -difference;
  };
  const rows = rowsOf(table);
  rows[0]?.parentElement.append(...rows.sort(compare));
};

for (const table of document.querySelectorAll("table.sorts, table.cards")) {
  if (!table.querySelector("th[scope=col]")) continue;
  // On a narrow screen each row is a card, whose cells carry the names of their columns.
  const names = [...table.rows[0].cells].map((header) => header.textContent);
  for (const row of rowsOf(table)) [...row.cells].forEach((cell, column) => (cell.dataset.label = names[column]));
  table.classList.add("labelled");
  if (!table.matches(".sorts")) continue;
  [...table.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header, column));
    header.append(button);
  });
}

for (const place of document.querySelectorAll(".filter")) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  label.append("Show only strategies with this in their name: ", input);
  place.append(label);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of [...document.querySelectorAll("table.sorts")].flatMap(rowsOf)) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    }
  });
}

addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
