"use strict";
// Tables with data-sortable: a press on a heading, by mouse or keyboard, sorts by that column. A cell's data-value
// stands for its text where it is given; cells without a value come last in either direction.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.value ?? cell.textContent).trim();
    const number = Number(text.replace(/,|%$/g, ""));
    return text === "" || text === "–" ? null : Number.isNaN(number) ? text : number;
  };
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  headings.forEach((heading, column) => {
    if (heading.textContent.trim() === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const numeric = [...body.rows].some((row) => typeof value(row, column) === "number");
      const before = heading.getAttribute("aria-sort");
      const down = before === null ? numeric : before === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return down ? compared(b, a) : compared(a, b);
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
