"""The `dhp.yaml` with the best prompt."""

from typing import Any

import click
from click.core import ParameterSource

from dhp.core.hiding import HIDDEN, hidden
from dhp.core.writing import inner_folder, write_lines
from dhp.plugins.improve.changes import JudgePrompt, Marks
from dhp.plugins.improve.trials import ORIGINAL, Outcome

_OPTIONS = {
    "answer": "answer",
    "samples": "samples",
    "temperature": "temperature",
    "extraction": "extraction",
    "max_tokens": "answer-tokens",
}
"""Setting of a protocol that a change moves -> its option."""
_NOT_KEPT = ("out", "dry-run", "config", "name", "prompt-file")
"""Options that do not go into the `dhp.yaml`, or that it gives anew."""


def written(outcome: Outcome, context: click.Context) -> str:
    """Write the prompt that helps and a `dhp.yaml` that asks by it; returns a line that names both."""
    import yaml

    asked, best = outcome.asked, str(outcome.helps)
    prompt = outcome.prompts[best]
    files = prompt.written(inner_folder(asked.out, "best"))
    path = asked.out / "dhp.yaml"

    # What the change moves replaces what the user typed.
    options = _stated(context)
    options.update(_moved(asked.original, prompt))
    options["prompt-file"] = files

    head = f"# Run it by: dhp benchmark --config {path}\n"
    # A wide line, so that YAML breaks no value over several lines.
    text = yaml.safe_dump(options, allow_unicode=True, sort_keys=False, width=10_000)
    if hidden(text) != text:  # `write_lines` hides keys, and the file would not run as it is
        head += f"# {HIDDEN} stands for a key: fill it in before.\n"
    write_lines(path, [head, text])
    pages = " and ".join(str(asked.out / name / "report.html") for name in (ORIGINAL, best))
    return f"written: {', '.join(files)}; {path} asks by it; both judges on the other texts: {pages}"


def _stated(context: click.Context) -> dict[str, Any]:
    """The options that the user gave, as a `dhp.yaml` has them."""
    options: dict[str, Any] = {}
    for option in context.command.params:
        value = context.params.get(str(option.name))
        name = option.opts[0].removeprefix("--")
        is_default = context.get_parameter_source(str(option.name)) is ParameterSource.DEFAULT
        if is_default or name in _NOT_KEPT:
            continue
        options[name] = list(value) if isinstance(value, tuple) else value  # YAML has no tuples
    return options


def _moved(old: JudgePrompt, new: JudgePrompt) -> dict[str, Any]:
    """The options that follow from a change."""
    settings: dict[str, Any] = {}
    for name, option in _OPTIONS.items():
        value = getattr(new.protocol, name)
        if value != getattr(old.protocol, name):
            settings[option] = value

    if new.metrics != old.metrics:
        metric = new.metrics[0]  # a change widens the scales of all metrics alike
        worst, best = metric.scale.min, metric.scale.max
        if metric.lower_is_better:
            worst, best = best, worst
        settings["scale"] = f"{worst:g}..{best:g}"  # `--scale` names the worst end first
        settings["metric"] = [metric.name for metric in new.metrics]
    if new.pass_mark is not None and new.pass_mark != old.pass_mark:
        settings["pass-mark"] = _typed(new.pass_mark)
    return settings


def _typed(marks: Marks) -> list[str]:
    """Pass marks as `--pass-mark` takes them."""
    typed = []
    for metric, mark in marks.items():
        typed.append(f"{metric}={mark}" if metric else mark)
    return typed
