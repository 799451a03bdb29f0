"use strict";
// Two runs side by side. Whatever the runs hold is shown by textContent alone.
(() => {
  const runs = JSON.parse(document.getElementById("runs").textContent);
  const boxes = [...document.querySelectorAll(".runs input")];
  const section = document.getElementById("two");
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const quoted = (name) => (/^[\w./:@%+=-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

  function show(chosen) {
    section.querySelector("code").textContent = `dhp compare ${chosen.map((run) => quoted(run.name)).join(" ")}`;
    // A run with several judges has a column for each of them.
    const columns = chosen.flatMap((run) =>
      run.judges.map((judge) => ({ run, judge, cells: run.cells.filter((cell) => cell[1] === judge) }))
    );
    const rows = new Map();
    columns.forEach(({ cells }, place) =>
      cells.forEach(([data, , kind, verdict, figure]) => {
        const key = JSON.stringify([data, kind]);
        if (!rows.has(key)) rows.set(key, { data, kind, found: [] });
        rows.get(key).found[place] = { verdict, figure };
      })
    );
    const several = new Set([...rows.values()].map(({ data }) => data)).size > 1;
    const head = element("tr", "");
    head.append(element("td", ""), ...columns.map(({ run, judge }) => element("th", `${run.name}: ${judge}`)));
    const lines = [...rows.values()].map(({ data, kind, found }) => {
      const line = element("tr", "");
      const name = element("th", several ? `${data}: ${kind}` : kind);
      name.scope = "row";
      line.append(name);
      columns.forEach((_, place) => {
        const cell = found[place];
        line.append(cell ? element("td", cell.figure, `v ${cell.verdict.replaceAll(" ", "-")}`) : element("td", "·", "none"));
        if (cell) line.lastChild.title = cell.verdict;
      });
      return line;
    });
    const table = section.querySelector("table");
    const thead = element("thead", "");
    const tbody = element("tbody", "");
    thead.append(head);
    tbody.append(...lines);
    table.replaceChildren(thead, tbody);
  }

  let order = [];
  for (const box of boxes) {
    box.hidden = false;
    box.addEventListener("change", () => {
      order = order.filter((other) => other !== box);
      if (box.checked) order.push(box);
      if (order.length > 2) order.shift().checked = false;
      section.hidden = order.length < 2;
      if (order.length === 2) show(order.map(({ value }) => runs[Number(value)]));
    });
  }
})();
