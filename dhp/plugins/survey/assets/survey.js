
"use strict";
const form = document.querySelector("form");
const issues = [...form.querySelectorAll("fieldset")];
const warning = document.getElementById("warning");
const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
let unsaved = false;

const chosen = (issue) => issue.querySelector(":checked")?.value ?? null;
const open = () => issues.filter((issue) => chosen(issue) === null);

function changed() {
  const done = issues.length - open().length;
  document.getElementById("bar").value = done;
  document.getElementById("count").textContent = `${done} of ${issues.length} answered`;
  warning.hidden = true;
  unsaved = true;
}

function warn() {
  const links = open().flatMap((issue) => {
    const link = document.createElement("a");
    link.href = `#issue-${issue.dataset.issue}`;
    link.textContent = issue.parentElement.querySelector("h3").textContent;
    return [link, document.createElement("br")];
  });
  const anyway = document.createElement("button");
  anyway.id = "anyway";
  anyway.type = "button";
  anyway.textContent = "Save all the same";
  anyway.addEventListener("click", save);
  const head = document.createElement("p");
  head.textContent = `Not answered yet: ${open().length} of ${issues.length}`;
  warning.replaceChildren(head, ...links, anyway);
  warning.hidden = false;
  warning.focus();
}

function save() {
  const { schema, survey, task, metrics } = form.dataset;
  const answers = Object.fromEntries(issues.map((issue) => [issue.dataset.issue, chosen(issue)]));
  const expert = document.getElementById("expert").value.trim();
  const date = new Date().toISOString().slice(0, 10);
  const saved = { schema, id, survey, task, metrics: metrics.split(" "), date, expert, answers };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(saved, null, 1) + "\n"], { type: "application/json" }));
  link.download = `votes-${task}-${id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  warning.hidden = true;
  unsaved = false;
  document.getElementById("count").textContent = `Saved as ${link.download}`;
}

form.addEventListener("input", changed);
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("save").addEventListener("click", () => (open().length ? warn() : save()));
addEventListener("beforeunload", (event) => unsaved && event.preventDefault());
