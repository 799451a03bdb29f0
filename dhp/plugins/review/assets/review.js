"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const place = `${data.schema} ${data.set}`;
const stage = document.getElementById("stage");
const warning = document.getElementById("warning");
const reviewer = document.getElementById("reviewer");
const review = { id: newId(), reviewer: "", answers: {}, decided: [] };
let editing = false;

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
}

const answer = (index) => (review.answers[index] ??= {});
const original = (pair) => data.examples[pair.example].original;
const degraded = (pair) => pair.pieces.filter((p) => p[0] !== "-").map((p) => p.slice(1)).join("");
/** The first pair without a decision; all before it have one. */
const current = () => data.pairs.findIndex((_, index) => !review.answers[index]?.decision);

function restore() {
  try {
    Object.assign(review, JSON.parse(localStorage.getItem(place) ?? "{}"));
  } catch {
    warn("What this browser kept of the review cannot be read; it begins anew.");
  }
  reviewer.value = review.reviewer;
  document.getElementById("help").open = review.decided.length === 0;
}

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify(review));
  } catch {
    warn("This browser cannot keep your progress: save the review before you close the page.");
  }
}

function warn(text) {
  warning.textContent = text;
  warning.hidden = !text;
}

/** An element with attributes, and children that are elements or texts, never markup. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  made.append(...children);
  return made;
}

const button = (words, key, act) =>
  element("button", { type: "button", className: "act", onclick: act }, words, element("kbd", {}, key));

function side(heading, text, ...below) {
  return element("section", { className: "side" }, element("h3", {}, heading), text, ...below);
}

const plain = (text) => element("p", { className: "text" }, text);

function marked(pieces) {
  const tags = { "=": "span", "-": "del", "+": "ins" };
  return element("p", { className: "text" }, ...pieces.map((p) => element(tags[p[0]], {}, p.slice(1))));
}

function sides(pair, first, second) {
  return element("div", { className: "sides" }, ...(pair.left ? [second, first] : [first, second]));
}

function source(pair) {
  const texts = Object.entries(data.examples[pair.example].source);
  if (!texts.length) return "";
  const shown = texts.flatMap(([label, text]) => [element("h3", {}, label), plain(text)]);
  return element("details", { className: "source", open: true }, element("summary", {}, "What the writer had"), ...shown);
}

function blind(pair, index) {
  const texts = [original(pair), degraded(pair)];
  const [left, right] = pair.left ? texts.reverse() : texts;
  const [isLeft, isRight] = pair.left ? ["degraded", "original"] : ["original", "degraded"];
  return [
    element("h2", {}, `Pair ${index + 1} of ${data.pairs.length}`),
    element("div", { className: "sides" },
      side("Left", plain(left), button("Left is worse", "←", () => say(isLeft))),
      side("Right", plain(right), button("Right is worse", "→", () => say(isRight)))),
    element("div", { className: "actions" }, button("The same", "S", () => say("same"))),
    source(pair),
  ];
}

const SAID = {
  degraded: "You said that the changed text is worse.",
  original: "You said that the original is worse.",
  same: "You said that they are the same.",
};
const TAGS = { control: "must not make it worse", attack: "must not raise a score" };

function shown(pair, index) {
  const kind = data.kinds[pair.kind], said = answer(index);
  const tag = element("span", { className: "tag" }, TAGS[kind.level] ?? kind.level);
  const checks = pair.checks.map(([passed, text]) =>
    element("li", { className: passed ? "passed" : "failed" }, passed ? text : `Look: ${text}`));
  const note = element("input", {
    id: "note", value: said.note ?? "", maxLength: data.note_length, oninput: () => noted(note.value),
  });
  return [
    element("h2", {}, `${kind.words} `, tag),
    element("p", {}, `${SAID[said.worse]} ${kind.description}`),
    sides(pair, side("Original", plain(original(pair))), side("Changed", marked(pair.pieces))),
    element("ul", { className: "checks" }, ...checks),
    ...(editing ? editor(pair, said) : [element("div", { className: "actions" },
      button("Accept", "A", () => decide("accept")), button("Reject", "R", () => decide("reject")),
      button("Edit", "E", edit), button("Undo", "U", undo))]),
    element("label", { className: "note" }, element("span", {}, "Note ", element("kbd", {}, "N")), note),
    source(pair),
  ];
}

function editor(pair, said) {
  const area = element("textarea", { id: "edit", value: said.text ?? degraded(pair), ariaLabel: "Edited text" });
  return [area, element("div", { className: "actions" },
    button("Keep edit", "Ctrl Enter", keepEdit), button("Cancel", "Esc", () => show(editing = false)))];
}

function finished() {
  return [
    element("h2", {}, `All ${data.pairs.length} texts are reviewed`),
    element("p", {}, "Save the review and send the file back."),
    element("div", { className: "actions" }, button("Undo", "U", undo)),
  ];
}

function show() {
  const index = current(), pair = data.pairs[index];
  const parts = !pair ? finished() : answer(index).worse ? shown(pair, index) : blind(pair, index);
  stage.replaceChildren(...parts);
  if (scrollY > stage.offsetTop) scrollTo(0, stage.offsetTop);
  document.getElementById("bar").value = review.decided.length;
  document.getElementById("count").textContent = `${review.decided.length} of ${data.pairs.length} reviewed`;
  (document.getElementById("edit") ?? stage).focus({ preventScroll: true });
}

function say(worse) {
  answer(current()).worse = worse;
  keep();
  show();
}

function decide(decision, text) {
  const index = current();
  Object.assign(answer(index), { decision, text });
  review.decided.push(index);
  editing = false;
  warn("");
  keep();
  show();
}

function edit() {
  editing = true;
  show();
}

function keepEdit() {
  const text = document.getElementById("edit").value, pair = data.pairs[current()];
  if (!text.trim()) return warn("The edited text is empty.");
  if (text === original(pair)) return warn("The edited text equals the original; reject it instead.");
  if (text === degraded(pair)) return warn("Nothing was edited; accept it instead.");
  return decide("edit", text);
}

function noted(text) {
  answer(current()).note = text;
  keep();
}

function undo() {
  if (!review.decided.length) return;
  delete answer(review.decided.pop()).decision;
  keep();
  show();
}

function saved() {
  return [...review.decided].sort((a, b) => a - b).map((index) => {
    const { worse, decision, text, note } = review.answers[index], pair = data.pairs[index];
    const { dataset, id: example } = data.examples[pair.example];
    const edited = decision === "edit" ? { text } : {};
    return { dataset, variant: data.kinds[pair.kind].name, example, worse, decision, ...edited, note: note ?? "" };
  });
}

function save() {
  const date = new Date().toISOString().slice(0, 10);
  const file = { schema: data.schema, set: data.set, id: review.id, reviewer: review.reviewer, date, reviews: saved() };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 1) + "\n"], { type: "application/json" }));
  link.download = `review-${data.set.slice(0, 8)}-${review.id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  document.getElementById("count").textContent = `Saved as ${link.download}`;
}

function typed(event) {
  if (event.target.id === "edit") {
    if (event.key === "Escape") show((editing = false));
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keepEdit();
  } else if (["Enter", "Escape"].includes(event.key)) event.target.blur();
}

function keys(index) {
  const pair = data.pairs[index];
  if (!pair) return { u: undo };
  const [left, right] = pair.left ? ["degraded", "original"] : ["original", "degraded"];
  if (!answer(index).worse) {
    return { ArrowLeft: () => say(left), ArrowRight: () => say(right), s: () => say("same"), u: undo };
  }
  const note = () => document.getElementById("note").focus();
  return { a: () => decide("accept"), r: () => decide("reject"), e: edit, n: note, u: undo };
}

addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea")) return typed(event);
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || editing) return undefined;
  const act = keys(current())[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) {
    event.preventDefault();
    act();
  }
  return undefined;
});
reviewer.addEventListener("input", () => {
  review.reviewer = reviewer.value;
  keep();
});
document.getElementById("save").addEventListener("click", save);
restore();
show();
