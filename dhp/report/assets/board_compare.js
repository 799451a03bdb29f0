"use strict";
// Two judges side by side, from the data in the page; the choice stands in the address behind #.
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("choice");
const place = document.getElementById("comparison");
const [one, two] = form.querySelectorAll("select");

const made = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};
// Whole points, halves away from zero; what rounds to zero has no sign.
const points = (value) => Math.sign(value) * Math.round(Math.abs(100 * value));
const nothing = { value: null, ends: null, text: "–", limits: "", verdict: null };
const cell = ({ text, limits, verdict }) => {
  const found = made("td", text, { class: "number" });
  if (limits) found.append(" ", made("small", limits));
  if (verdict) found.append(" ", made("small", verdict, { class: verdict.replaceAll(" ", "-") }));
  return found;
};
const drawn = (both) => {
  const found = made("td", undefined, { class: "drawn" });
  both.forEach(({ value, ends }, i) => {
    if (value === null) return;
    const span = made("span", undefined, { class: i ? "span ew" : "span", "aria-hidden": "true" });
    for (const [name, number] of Object.entries({ v: value, ...(ends && { l: ends[0], h: ends[1] }) }))
      span.style.setProperty(`--${name}`, number);
    if (ends) span.append(made("i"));
    span.append(made("b"));
    found.append(span);
  });
  return found;
};
const line = (name, both) => {
  const row = made("tr");
  const [first, second] = both.map(({ value }) => value);
  const apart = first === null || second === null ? null : second - first;
  row.append(made("th", name, { scope: "row", class: "model" }), drawn(both), ...both.map(cell));
  row.append(made("td", signed(apart), { class: "number" }));
  return row;
};
const signed = (value) =>
  value === null ? "–" : `${points(value) > 0 ? "+" : ""}${points(value)}`.replace("-", "−");

const verdict = (table, [first, second], [a, b]) => {
  const [old, other] = [a, b].map(({ averages }) => averages.detection.value);
  const apart = old === null || other === null ? null : other - old;
  const pair = (table.pairs ?? []).find(([i, j]) => (i === first && j === second) || (i === second && j === first));
  const said = made("p", undefined, { class: "verdict" });
  said.append("Difference of detection: ");
  if (!pair) {
    said.append(made("strong", `${signed(apart)} points`), ". The ratings for a paired interval are not at hand.");
    return said;
  }
  const turn = pair[0] === first ? 1 : -1;
  const ends = [turn * pair[3], turn * pair[4]].sort((x, y) => x - y);
  said.append(made("strong", `${signed(turn * pair[2])} points`), `, 95 % interval ${signed(ends[0])} to ${signed(ends[1])}, `);
  said.append(`p = ${pair[5].toPrecision(2)} (label swaps example by example, Holm over all pairs of the table).`);
  return said;
};

const section = (table, chosen) => {
  const found = chosen.map((judge) => table.results[judge]);
  const whole = made("section");
  const parts = made("ul", undefined, { class: "parts" });
  for (const [name, value] of table.parts) {
    const item = made("li");
    item.append(made("span", name), ` ${value}`);
    parts.append(item);
  }
  const shared = made("details", undefined, { class: "note" });
  shared.append(made("summary", "What these results share"), parts);
  const grid = made("table", undefined, { class: "results" });
  const head = made("tr");
  const { kind, detection } = data.headings;
  head.append(made("th", kind, { scope: "col" }), made("th", `${detection}, drawn`, { scope: "col", class: "drawn" }));
  chosen.forEach((judge, i) => {
    const name = made("th", undefined, { scope: "col", class: "number judge" });
    name.append(made("span", undefined, { class: i ? "mark ew" : "mark" }), " ");
    for (const piece of data.judges[judge].split(/(?<=[/_])/)) name.append(piece, made("wbr"));
    head.append(name);
  });
  head.append(made("th", "difference", { scope: "col", class: "number" }));
  grid.append(made("thead"), made("tbody"), made("tfoot"));
  grid.tHead.append(head);
  for (const variant of table.kinds)
    grid.tBodies[0].append(line(variant, found.map((result) => result.variants[variant] ?? nothing)));
  for (const name of Object.keys(data.quantities))
    grid.tFoot.append(line(data.quantities[name], found.map((result) => result.averages[name])));
  grid.tFoot.append(line("harmless edits", found.map(({ harmless }) => harmless)));
  const counts = line("noticed", [nothing, nothing]);
  [...counts.querySelectorAll(".number")].slice(0, 2).forEach((place, i) => (place.textContent = found[i].noticed));
  grid.tFoot.append(counts);
  const wide = made("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": table.dataset });
  wide.append(grid);
  whole.append(made("h2", table.dataset), verdict(table, chosen, found), wide, shared);
  return whole;
};

const show = () => {
  const chosen = [Number(one.value), Number(two.value)];
  const common = data.tables.filter(({ results }) => chosen.every((judge) => judge in results));
  place.replaceChildren(...common.map((table) => section(table, chosen)));
  if (!common.length) place.append(made("p", "These two stand in no table together, so nothing can be compared."));
};

const chosen = new URLSearchParams(location.hash.slice(1));
for (const select of [one, two]) {
  data.judges.forEach((name, i) => select.append(made("option", name, { value: i })));
  const wanted = data.judges.indexOf(chosen.get(select.name) ?? "");
  select.value = wanted >= 0 ? wanted : data.first[select === two ? Math.min(1, data.first.length - 1) : 0];
}
form.hidden = false;
form.addEventListener("input", () => {
  const names = { one: data.judges[one.value], two: data.judges[two.value] };
  history.replaceState(null, "", `#${new URLSearchParams(names)}`);
  show();
});
show();
