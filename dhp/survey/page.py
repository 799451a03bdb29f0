"""The survey as one self-contained page: instructions, definitions, examples, answers saved as a file."""

import base64
import hashlib
from html import escape
from pathlib import Path

from dhp.core.diff import marked
from dhp.core.specs import Metric, Task
from dhp.survey.answers import ROLE_LENGTH, SCHEMA
from dhp.survey.issues import Issue, Survey

_HERE = Path(__file__).parent


def survey_page(survey: Survey) -> str:
    """The page of a survey, the same for the same survey.

    It asks nothing of any network and runs no script but its own (content security policy); every text in
    it is escaped.
    """
    style, script = ((_HERE / name).read_text("utf-8") for name in ("survey.css", "survey.js"))
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_sha256(script)}'"
    task, count = survey.task, len(survey.issues)
    title = f"Which quality suffers most? {titled(task.task)}"
    issues = "\n".join(_issue(number, issue, task) for number, issue in enumerate(survey.issues, 1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{_introduction(task, count)}
<form data-schema="{SCHEMA}" data-survey="{survey.hash}" data-task="{escape(task.task)}"
 data-metrics="{escape(" ".join(task.metric_names))}" autocomplete="off">
{issues}
<section>
<h2><label for="expert">Your role or initials</label></h2>
<p class="note" id="expert-note">Optional, e.g. “linguist”. What you enter here is published with the
weights.</p>
<input id="expert" type="text" maxlength="{ROLE_LENGTH}" aria-describedby="expert-note">
</section>
<div id="warning" role="alert" tabindex="-1" hidden></div>
<footer>
<span><progress id="bar" max="{count}" value="0" aria-label="Questions answered"></progress>
<span id="count" role="status">0 of {count} answered</span></span>
<button id="save" type="button">Save answers</button>
</footer>
</form>
<noscript><p>Your browser runs no scripts, and without them the answers cannot be saved.</p></noscript>
</main>
<script>{script}</script>
</body>
</html>
"""


def titled(name: str) -> str:
    """A name as a heading: `random_typos` -> Random typos."""
    return name.replace("_", " ").capitalize()


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _introduction(task: Task, count: int) -> str:
    metrics = "\n".join(
        f"<dt>{escape(m.label.capitalize())}</dt><dd>{escape(m.definition)}</dd>" for m in task.metrics
    )
    given = " and ".join(label.lower() for label in (task.source_label, *task.shown_fields.values()))
    output = task.output_label.lower()
    return f"""<p>Good texts were made worse in {count} known ways, and a judge will rate the results by the
qualities defined below. For each way, please choose the <strong>one</strong> quality whose rating should fall
the most. There is no right answer: what counts is your judgement of this kind of damage in general, of which
the example shows but one case. Afterwards press <em>Save answers</em> and send the saved file back. Nothing
leaves your computer until then.</p>
<h2>The texts</h2>
<p>What the writer was asked to do: {escape(task.instruction)} The writer was given the
<strong>{escape(given)}</strong>; what is damaged and judged is the <strong>{escape(output)}</strong>.</p>
<h2>The qualities</h2>
<dl>
{metrics}
</dl>
<h2>The damage</h2>
<p>In each damaged text, <del>what was taken away</del> is struck through and <ins>what was put in</ins>
is underlined.</p>"""


def _issue(number: int, issue: Issue, task: Task) -> str:
    name = escape(issue.perturber)
    fields = {task.source_label: issue.example.source}
    fields |= {label: issue.example.fields.get(key, "") for key, label in task.shown_fields.items()}
    given = "".join(_text(label, escape(text)) for label, text in fields.items())
    shown = _text(f"{task.output_label}, undamaged", escape(issue.example.output))
    for degree, after in issue.degraded.items():
        label = f"{task.output_label}, damaged" + (f" ({degree})" if degree else "")
        shown += _text(label, marked(issue.example.output, after, issue.level))
    choices = "\n".join(_choice(name, metric) for metric in task.metrics)
    return f"""<section class="issue" id="issue-{name}">
<h3>{number}. {escape(titled(issue.perturber))}</h3>
<p>{escape(issue.description)}</p>
<details><summary>What the writer was given</summary>{given}</details>
{shown}
<fieldset data-issue="{name}">
<legend>Which quality suffers most from this?</legend>
{choices}
</fieldset>
</section>"""


def _text(label: str, html: str) -> str:
    return f'<div class="text"><h4>{escape(label)}</h4><p>{html}</p></div>\n'


def _choice(issue: str, metric: Metric) -> str:
    return (
        f'<label><input type="radio" name="{issue}" value="{escape(metric.name)}">'
        f"<span><strong>{escape(metric.label.capitalize())}</strong> "
        f"<small>{escape(metric.question)}</small></span></label>"
    )
