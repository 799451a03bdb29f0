"use strict";
// The pairs of original and degraded text of a run. Whatever a run holds is shown by textContent alone.
(() => {
  const section = document.getElementById("explorer");
  const begin = async () => {
    const STEP = 50;
    const form = section.querySelector("form");
    const status = section.querySelector("[role=status]");
    const list = section.querySelector(".pairs");
    const more = section.querySelector("button");
    const fields = form.elements;

    const element = (tag, className, ...children) => {
      const made = document.createElement(tag);
      if (className) made.className = className;
      made.append(...children);
      return made;
    };
    const count = new Intl.NumberFormat("en");
    const decimals = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
    const figure = (x) => (x === 0 || Math.abs(x) >= 0.005 ? decimals.format(x) : x.toPrecision(1));
    const mean = (numbers) =>
      numbers.length ? Math.round((numbers.reduce((a, b) => a + b, 0) / numbers.length) * 1e9) / 1e9 : null;

    if (!("DecompressionStream" in window)) {
      status.textContent = "This browser is too old to unpack the texts; any browser of 2023 or later can.";
      return;
    }
    const packed = atob(section.querySelector("script").textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { cut, excerpt, datasets, judges } = await new Response(unpacked).json();

    let judge, variants, pairs, matching, shown;
    let only = null; // the example that a link is to

    const verdict = (drop) => (drop === null ? "none" : drop > 0 ? "fell" : drop < 0 ? "rose" : "tied");
    const SIGN = { fell: "▼", tied: "=", rose: "▲", none: "–" };
    const WORD = { fell: "fell", tied: "tied", rose: "rose", none: "no score" };
    const chosenDrop = (pair) => {
      const metric = judge.metrics.indexOf(fields.metric.value);
      return metric < 0 ? mean(pair.drops.filter((drop) => drop !== null)) : pair.drops[metric];
    };

    // The mean score of a text, of the originals 0, by the chosen metric or by all; null without one.
    const scoreOf = ({ ratings }, t) => {
      const metric = judge.metrics.indexOf(fields.metric.value);
      const given = (ratings.scores[t] ?? []).filter((_, m) => metric < 0 || m === metric);
      return mean(given.map((samples) => mean(samples.filter(Number.isFinite))).filter((score) => score !== null));
    };
    // Whether a text reaches the mark of each metric that has one; null if a missing score could decide it.
    function passes({ ratings }, t) {
      const reached = judge.marks.flatMap((mark, m) => {
        const score = mean((ratings.scores[t]?.[m] ?? []).filter(Number.isFinite));
        return mark === null ? [] : [score === null ? null : score >= mark - 1e-9 * Math.max(1, Math.abs(mark))];
      });
      return reached.includes(false) ? false : reached.includes(null) ? null : true;
    }
    const AT_MARK = {
      "": () => true,
      passes: (pair) => passes(pair, 1 + pair.v) === true,
      stopped: (pair) => passes(pair, 1 + pair.v) === false,
      fails: (pair) => passes(pair, 0) === false,
    };
    function inRange(pair) {
      const [least, most] = [fields.least.value, fields.most.value];
      if (least === "" && most === "") return true;
      const score = scoreOf(pair, 1 + pair.v);
      return score !== null && (least === "" || score >= Number(least)) && (most === "" || score <= Number(most));
    }

    function choose(select, options, all) {
      const before = select.value;
      const groups = new Map();
      select.replaceChildren(...(all ? [new Option(all, "")] : []));
      for (const [value, text, group] of options) {
        if (group && !groups.has(group)) {
          groups.set(group, select.appendChild(element("optgroup")));
          groups.get(group).label = group;
        }
        (groups.get(group) ?? select).append(new Option(text, value));
      }
      select.value = before;
      if (select.selectedIndex < 0) select.selectedIndex = 0;
    }

    function enter() {
      judge = judges[Number(fields.result.value)];
      const dataset = datasets[judge.dataset];
      variants = dataset.variants;
      choose(fields.variant, variants.map(({ name, words, level }) => [name, words, level]), "all");
      choose(fields.metric, judge.metrics.map((name) => [name, name]), "all, their mean");
      fields.mark.parentElement.hidden = judge.marks === null;
      if (judge.marks === null) fields.mark.value = "";
      section.querySelector(".remarks").textContent = remarks();
      pairs = judge.examples.flatMap((ratings, place) =>
        ratings.drops.flatMap((drops, v) =>
          drops === null ? [] : [{ example: dataset.examples[place], ratings, v, drops }]
        )
      );
    }

    function refresh() {
      const wanted = fields.verdict.value ? fields.verdict.value.split(" ") : Object.keys(SIGN);
      matching = pairs
        .filter(({ v }) => !fields.variant.value || variants[v].name === fields.variant.value)
        .filter(({ example }) => only === null || example.id === only)
        .filter(holds)
        .filter(AT_MARK[fields.mark.value])
        .filter(inRange)
        .map((pair) => ({ ...pair, drop: chosenDrop(pair), size: size(pair) }))
        .filter(({ drop }) => wanted.includes(verdict(drop)));
      const order = { "": clearest, detected: (a, b) => b.drop - a.drop }[fields.order.value];
      if (order)
        matching.sort((a, b) =>
          a.drop === null || b.drop === null ? (a.drop === null) - (b.drop === null) : order(a, b)
        );
      const one = pairs.length === 1 ? "pair" : "pairs";
      status.textContent = `${count.format(matching.length)} of ${count.format(pairs.length)} ${one}`;
      list.replaceChildren();
      shown = 0;
      show();
    }

    // Whether a pair holds what is searched for: in its texts, its source or the name of its example.
    function holds({ example, v }) {
      const wanted = fields.text.value.trim().toLowerCase();
      if (!wanted) return true;
      const changes = example.changes[v] ?? [];
      const side = (taken) => changes.filter(([sign]) => sign !== taken).map((change) => change.slice(1)).join("");
      const texts = [example.id, example.original ?? "", side("+"), side("-"), example.source ?? ""];
      return [...texts, ...Object.values(example.fields)].some((text) => (text ?? "").toLowerCase().includes(wanted));
    }

    // Damage before controls and attacks, the largest rise first, of equal ones the largest change.
    const probe = ({ v }) => variants[v].level === "control" || variants[v].level === "attack";
    const size = ({ example, v }) =>
      (example.changes[v] ?? []).reduce((sum, change) => sum + (change[0] === "=" ? 0 : change.length - 1), 0);
    const clearest = (a, b) => probe(a) - probe(b) || a.drop - b.drop || b.size - a.size;

    function remarks() {
      const said = [];
      if (variants.some(({ level }) => level === "control" || level === "attack"))
        said.push("A control should tie, an attack should not rise.");
      const long = (what, length, file) => {
        if (length === 0) said.push(`${what} are left out here; ${file} holds them.`);
        else if (length !== null)
          said.push(`${what} longer than ${count.format(length)} characters are shortened here; ${file} holds them whole.`);
      };
      long("Sources", cut.source, "examples.jsonl");
      long("Answers", cut.answer, "ratings.parquet");
      if (Object.values(datasets).some(({ examples }) => examples.some(({ original }) => original === null)))
        said.push(`Of texts longer than ${count.format(excerpt)} characters the first changes are shown; perturbed.jsonl holds them whole.`);
      if (cut.examples !== null) said.push(`Only the first ${count.format(cut.examples)} examples are here.`);
      return said.join(" ");
    }

    function show() {
      const added = matching.slice(shown, shown + STEP).map(row);
      shown += added.length;
      list.append(...added);
      more.hidden = shown === matching.length;
      more.textContent = `Show ${Math.min(STEP, matching.length - shown)} more`;
      return added[0];
    }

    const arrow = (drop) => {
      const kind = verdict(drop);
      const amount = kind === "fell" || kind === "rose" ? ` ${figure(Math.abs(drop))}` : "";
      return [kind, `${SIGN[kind]} ${WORD[kind]}${amount}`];
    };

    function row(pair) {
      const { name, words, level } = variants[pair.v];
      const details = element("details", "pair");
      details.dataset.level = level;
      const chip = (label, drop) => {
        const [kind, said] = arrow(drop);
        return element("span", kind, element("small", "", label), said);
      };
      const title = element("span", "name", words, element("small", "", pair.example.id));
      title.title = name;
      const summary = element("summary", "", chip(fields.metric.value || "mean", pair.drop), title);
      if (judge.marks !== null && passes(pair, 1 + pair.v)) summary.append(element("span", "rose", "passes"));
      const named = pair.ratings.named?.[pair.v] ?? null;
      if (named !== null) summary.append(element("small", "", named ? "named" : "not named"));
      if (judge.metrics.length > 1)
        summary.append(element("span", "chips", ...pair.drops.map((drop, m) => chip(judge.metrics[m], drop))));
      summary.append(marked("span", "snippet", pair.example.snippets[pair.v]));
      details.append(summary);
      filled(details, () => element("div", "body", ...body(pair)));
      return details;
    }

    const MARKED = { "=": "span", "-": "del", "+": "ins" };
    function marked(tag, className, changes) {
      const made = element(tag, className, ...changes.map((change) => element(MARKED[change[0]], "", change.slice(1))));
      made.dir = "auto";
      return made;
    }

    // What is inside a fold is made when it is first opened.
    function filled(details, make) {
      details.addEventListener("toggle", () => details.append(make()), { once: true });
    }

    function fold(title, make) {
      const details = element("details", "", element("summary", "", title));
      filled(details, make);
      return details;
    }

    const paragraph = (text) => {
      const made = element("p", "text", text);
      made.dir = "auto";
      return made;
    };

    function body({ example, ratings, v, drops }) {
      const changes = example.changes[v];
      const before = changes.filter((change) => change[0] !== "+").map((change) => change.slice(1));
      const texts = element(
        "div",
        "sides",
        element("div", "", element("h3", "", "Original"), paragraph(example.original ?? before.join(""))),
        element("div", "", element("h3", "", `Degraded: ${variants[v].words}`), marked("p", "text", changes))
      );
      const given = [["Source", example.source], ...Object.entries(example.fields)];
      const folds = given.filter(([, text]) => text).map(([title, text]) => fold(title, () => paragraph(text)));
      const sides = [0, 1 + v].map((t) => ({
        scores: ratings.scores[t] ?? [],
        answers: ratings.answers[t] ?? [],
        shares: ratings.shares?.[t] ?? [],
      }));
      const link = element("a", "note", "Link to this pair");
      const chosen = { result: fields.result.value, variant: variants[v].name, pair: example.id };
      link.href = `#explorer?${new URLSearchParams(chosen)}`;
      return [texts, ...folds, table(sides, drops), ...probabilities(sides), ...answers(sides), link];
    }

    function table(sides, drops) {
      const head = element("tr");
      for (const title of ["metric", "original", "mean", "degraded", "mean", "change"]) {
        const cell = element("th", title === "mean" ? "number" : "", title);
        cell.scope = "col";
        head.append(cell);
      }
      const rows = judge.metrics.map((metric, m) => {
        const name = element("th", "", metric);
        name.scope = "row";
        const cells = sides.flatMap(({ scores }) => {
          const samples = scores[m] ?? [];
          const average = mean(samples.filter((score) => typeof score === "number"));
          const single = samples.map((score) =>
            typeof score === "number" ? `${figure(score)} ` : element("em", "", `${score} `)
          );
          const value = average === null ? "–" : figure(average);
          return [element("td", "samples", ...single), element("td", "number", value)];
        });
        const [kind, words] = arrow(drops[m]);
        return element("tr", "", name, ...cells, element("td", kind, words));
      });
      const wide = element("div", "wide", element("table", "", element("thead", "", head), element("tbody", "", ...rows)));
      wide.tabIndex = 0; // so that the keyboard can scroll it
      return wide;
    }

    const SIDES = ["original", "degraded"];

    // The probabilities of the points of each scale, the worst first, as far as the judge gives them.
    function probabilities(sides) {
      const found = judge.metrics.flatMap((metric, m) =>
        sides.flatMap(({ shares }, side) =>
          (shares[m] ?? []).map((each) =>
            element("li", "", `${metric}, ${SIDES[side]}: ${each.map((share) => `${share} %`).join(", ")}`)
          )
        )
      );
      const intro = "Probabilities of the points of the scale, the worst first:";
      return found.length ? [element("div", "note", intro, element("ul", "", ...found))] : [];
    }

    function answers(sides) {
      const given = sides.flatMap(({ answers }) => answers.flat()).filter((answer) => answer !== null);
      if (!given.length) return [];
      const make = () =>
        element(
          "div",
          "",
          ...judge.metrics.map((_, m) => element("div", "sides", ...sides.map((side, s) => column(side, s, m))))
        );
      return [fold(`The judge's answers (${given.length})`, make)];
    }

    function column({ scores, answers }, side, m) {
      const column = element("div", "", element("h3", "", `${judge.metrics[m]}, ${SIDES[side]}`));
      (answers[m] ?? []).forEach((answer, k) => {
        const score = scores[m][k];
        column.append(
          element("small", "", `sample ${k + 1}: ${typeof score === "number" ? figure(score) : score}`),
          element("pre", "", answer ?? "–")
        );
      });
      return column;
    }

    // The choice stands in the address, so that it can be linked to: #explorer?variant=...&metric=..., and so
    // can one pair: #explorer?variant=...&pair=EXAMPLE.
    function restore() {
      const [place, query] = location.hash.split("?");
      if (place !== "#explorer" || query === undefined) return;
      const asked = new URLSearchParams(query);
      const take = (name) => {
        const value = asked.get(name) ?? fields[name].options[0].value;
        if ([...fields[name].options].some((option) => option.value === value)) fields[name].value = value;
      };
      take("result");
      enter();
      for (const name of ["variant", "metric", "verdict", "mark", "order"]) take(name);
      for (const name of ["least", "most", "text"]) fields[name].value = asked.get(name) ?? "";
      only = asked.get("pair");
      refresh();
      section.open = true;
      section.scrollIntoView();
      if (only !== null && list.firstChild) list.firstChild.open = true;
    }

    form.addEventListener("input", ({ target }) => {
      only = null;
      if (target === fields.result) enter();
      refresh();
      const set = (field) => (field.tagName === "INPUT" ? field.value : field.selectedIndex > 0);
      const chosen = [...fields].filter(set).map((field) => [field.name, field.value]);
      history.replaceState(null, "", `#explorer?${new URLSearchParams(chosen)}`);
    });
    // j and k open the next pair and the one before, / goes to the search.
    function press(event) {
      if (!section.open || event.target.closest("input, select, textarea")) return;
      if (event.ctrlKey || event.metaKey || event.altKey || !["j", "k", "/"].includes(event.key)) return;
      event.preventDefault();
      if (event.key === "/") return fields.text.focus();
      const rows = [...list.children];
      const at = rows.findIndex((each) => each === document.activeElement?.closest(".pair"));
      const next = event.key === "j" ? (rows[at + 1] ?? show()) : rows[Math.max(at - 1, 0)];
      if (!next) return;
      if (at >= 0) rows[at].open = false;
      next.open = true;
      next.firstChild.focus();
      next.scrollIntoView({ block: "nearest" });
    }

    addEventListener("keydown", press);
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => show()?.firstChild.focus());
    addEventListener("hashchange", restore);

    choose(fields.result, judges.map((each, i) => [String(i), `${each.name} on ${each.dataset}`]));
    fields.result.parentElement.hidden = judges.length === 1;
    form.hidden = false;
    enter();
    refresh();
    restore();
    addEventListener("click", ({ target }) => {
      if (target.closest?.('a[href^="#explorer"]')) setTimeout(restore);
    });
  };

  // The texts are unpacked when the fold is first opened, or linked to.
  const reveal = () => {
    if (location.hash.split("?")[0] === "#explorer") section.open = true;
  };
  section.addEventListener("toggle", begin, { once: true });
  addEventListener("hashchange", reveal);
  reveal();
})();
