"use strict";
// Filters of the leaderboard: whatever says another value than the one chosen is hidden, and what is left empty with it.
const form = document.getElementById("filters");
if (form) {
  const facets = [...form.querySelectorAll("select")];
  const marked = document.querySelectorAll("main :is(tr, th, td)[data-dataset], main tr[data-provider]");
  const fits = (element) =>
    facets.every(({ name, value }) => !value || !(name in element.dataset) || element.dataset[name] === value);
  const filter = () => {
    for (const element of marked) element.hidden = !fits(element);
    let shown = 0;
    let all = 0;
    for (const section of document.querySelectorAll("main section")) {
      const rows = [...section.querySelectorAll("tbody tr")];
      const left = rows.filter((row) => !row.hidden).length;
      section.hidden = left === 0;
      shown += left;
      all += rows.length;
    }
    for (const row of document.querySelectorAll(".overview tbody tr")) {
      if (![...row.querySelectorAll("td[data-value]")].some((cell) => !cell.hidden)) row.hidden = true;
    }
    form.querySelector("output").textContent = `${shown} of ${all} results shown`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
}
