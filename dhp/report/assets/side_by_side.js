"use strict";
// Of all judges two are shown side by side, as chosen; the choice stands in the address behind #.
(() => {
  const form = document.getElementById("choice");
  if (!form) return;
  const fields = [...form.querySelectorAll("select")];
  const sets = [...document.querySelectorAll("section[data-pairs]")];
  const command = document.querySelector("#command code");

  // Whole points, halves away from zero; what rounds to zero has no sign.
  function signed(share) {
    const points = Math.sign(share) * Math.round(Math.abs(100 * share));
    return `${points > 0 ? "+" : ""}${points}`.replace("-", "−");
  }

  // Shows the cells of the two alone, in their order, and how far they are apart; returns the two.
  function arrange(row, judges) {
    const cells = [...row.querySelectorAll("[data-judge]")];
    for (const cell of cells) cell.hidden = !judges.includes(cell.dataset.judge);
    const two = judges.map((judge) => cells.find((cell) => cell.dataset.judge === judge));
    row.cells[0].after(...new Set(two));
    const [first, second] = two.map((cell) => cell.dataset.value);
    if (first && second) row.lastElementChild.textContent = signed(second - first);
    row.lastElementChild.hidden = false;
    return two;
  }

  // The kinds of which the verdicts differ are marked, those of one judge alone are named below.
  function show(section, judges) {
    section.hidden = !judges.every((judge) => section.querySelector(`th[data-judge="${judge}"]`));
    if (section.hidden) return;
    const [head, ...averages] = section.querySelectorAll("thead tr, .averages tr");
    arrange(head, judges);
    const detection = averages.map((row) => arrange(row, judges)).find(([cell]) => "value" in cell.dataset);
    const alone = [];
    let common = 0;
    let differing = 0;
    for (const row of section.querySelectorAll("tbody:not(.averages) tr")) {
      const two = arrange(row, judges);
      const differ = two[0].className !== two[1].className;
      row.querySelector("th b").hidden = !differ;
      row.hidden = two.some((cell) => cell.classList.contains("none"));
      if (!row.hidden) [common, differing] = [common + 1, differing + differ];
      else if (differ) alone.push(row.cells[0].firstChild.textContent.trim());
    }
    const note = section.querySelector(".alone");
    note.hidden = alone.length === 0;
    note.querySelector("span").textContent = alone.join("; ");
    say(section, judges, detection, `${differing} of ${common} verdicts differ.`);
  }

  function say(section, judges, detection, verdicts) {
    const sentence = section.querySelector(".difference");
    const pair = JSON.parse(section.dataset.pairs).find((each) => judges.every((judge) => each.slice(0, 2).includes(+judge)));
    const [first, second] = (detection ?? []).map((cell) => cell.dataset.value);
    sentence.hidden = false;
    sentence.querySelector("strong").textContent = first && second ? `${signed(second - first)} points` : "–";
    const test = sentence.querySelector("span");
    test.textContent = `; ${verdicts}`;
    if (!pair || judges[0] === judges[1]) return;
    const turn = pair[0] === +judges[0] ? 1 : -1;
    const ends = [turn * pair[3], turn * pair[4]].sort((one, other) => one - other);
    test.textContent = `, 95 % interval ${ends.map(signed).join(" to ")}, p = ${pair[5].toPrecision(2)}; ${verdicts}`;
  }

  function compare() {
    const judges = fields.map(({ value }) => value);
    for (const section of sets) show(section, judges);
    const shown = sets.find((section) => !section.hidden);
    document.getElementById("apart").hidden = shown !== undefined;
    shown?.querySelector("details")?.setAttribute("open", "");
    if (!command) return;
    const runs = fields.map((field) => field.selectedOptions[0].dataset);
    const prompts = runs[0].prompts === runs[1].prompts ? "" : " --allow protocol";
    const paths = [...new Set(runs.map(({ path }) => path))].join(" ");
    command.textContent = `dhp compare ${paths}${prompts} --html compared.html`;
  }

  const named = new URLSearchParams(location.hash.slice(1));
  for (const field of fields) {
    const option = [...field.options].find(({ text }) => text === named.get(field.name));
    if (option) option.selected = true;
  }
  form.hidden = false;
  form.addEventListener("input", () => {
    const names = fields.map((field) => [field.name, field.selectedOptions[0].text]);
    history.replaceState(null, "", `#${new URLSearchParams(names)}`);
    compare();
  });
  compare();
})();
