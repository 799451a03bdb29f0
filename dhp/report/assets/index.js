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
  const heading = (text, small) => {
    const made = element("th", text);
    made.scope = "col";
    if (small) made.append(document.createElement("br"), element("small", small));
    return made;
  };

  function command([one, two]) {
    const prompts = JSON.stringify(one.prompts) === JSON.stringify(two.prompts) ? "" : " --allow protocol";
    return `dhp compare ${quoted(one.path)} ${quoted(two.path)}${prompts} --html compared.html`;
  }

  // Dataset -> kind -> the cell of each column.
  function byDataset(columns) {
    const datasets = new Map();
    columns.forEach(({ cells }, place) =>
      cells.forEach(([dataset, , kind, ...cell]) => {
        if (!datasets.has(dataset)) datasets.set(dataset, new Map());
        const kinds = datasets.get(dataset);
        if (!kinds.has(kind)) kinds.set(kind, columns.map(() => null));
        kinds.get(kind)[place] = cell;
      })
    );
    return datasets;
  }

  const differ = (cells) => cells.every(Boolean) && new Set(cells.map(([verdict]) => verdict)).size > 1;

  function line(kind, cells) {
    const row = element("tr", "");
    const name = element("th", differ(cells) ? `${kind} ≠` : kind);
    name.scope = "row";
    row.append(name);
    for (const cell of cells) {
      const place = element("td", "", cell ? `v ${cell[0].replaceAll(" ", "-")}` : "none");
      if (cell) {
        const inside = element("span", `${cell[1]} `, "in");
        inside.append(element("small", cell[2]));
        place.append(inside);
        place.title = cell[0];
      } else place.textContent = "·";
      row.append(place);
    }
    return row;
  }

  function show(chosen) {
    // A run with several judges has a column for each of them.
    const columns = chosen.flatMap((run) =>
      run.judges.map((judge) => ({ run, judge, cells: run.cells.filter((cell) => cell[1] === judge) }))
    );
    const datasets = byDataset(columns);
    const every = [...datasets.values()].flatMap((kinds) => [...kinds.values()]).filter((cells) => cells.every(Boolean));
    section.querySelector("code").textContent = command(chosen);
    section.querySelector(".verdicts").textContent = every.length
      ? `${every.filter(differ).length} of ${every.length} verdicts differ.`
      : "These runs have no kind of damage in common.";
    const head = element("tr", "");
    head.append(element("td", ""), ...columns.map(({ run, judge }) => heading(judge, run.name)));
    const thead = element("thead", "");
    thead.append(head);
    const bodies = [...datasets].map(([dataset, kinds]) => {
      const body = element("tbody", "");
      const title = element("tr", "", "title");
      const name = element("th", dataset);
      name.scope = "rowgroup";
      name.colSpan = columns.length + 1;
      title.append(name);
      body.append(title, ...[...kinds].map(([kind, cells]) => line(kind, cells)));
      return body;
    });
    section.querySelector("table").replaceChildren(thead, ...bodies);
    section.scrollIntoView({ block: "nearest" });
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
