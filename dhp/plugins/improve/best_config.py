"""The `dhp.yaml` with the best prompt."""

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from dhp.analysis.marks import PassMark
from dhp.core.hiding import HIDDEN, hidden
from dhp.core.writing import inner_folder, write_lines
from dhp.plugins.improve.changes import JudgePrompt
from dhp.plugins.improve.trials import ORIGINAL, Outcome

_OPTIONS = {
    "answer": "answer",
    "samples": "samples",
    "temperature": "temperature",
    "extraction": "extraction",
    "max_tokens": "answer-tokens",
}
"""Setting of a protocol that a change moves -> its option."""
_NOT_KEPT = "out dry-run config name prompt-file".split()
"""Options that do not go into the `dhp.yaml`, or that it gives anew."""


def written(outcome: Outcome, context: click.Context) -> str:
    """Write the prompt that helps and a `dhp.yaml` that asks by it; returns a line that names both."""
    import yaml

    asked, best = outcome.asked, str(outcome.helps)

    prompt = outcome.prompts[best]
    files = prompt.written(inner_folder(asked.out, "best"))
    path = asked.out / "dhp.yaml"
    # What the user typed, over it what the change moves, and the new prompt files.
    options = {**_stated(context), **_changed(asked.original, prompt), "prompt-file": files}
    head = f"# Run it by: dhp benchmark --config {path}\n"
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
        options[name] = [*value] if isinstance(value, tuple) else value
    return options


def _changed(old: JudgePrompt, new: JudgePrompt) -> dict[str, Any]:
    """The options that follow from a change."""
    settings: dict[str, Any] = {}
    for name, option in _OPTIONS.items():
        value = getattr(new.protocol, name)
        if value != getattr(old.protocol, name):
            settings[option] = value

    if new.metrics != old.metrics:
        metric = new.metrics[0]  # a change widens the scales of all metrics alike
        ends = [f"{end:g}" for end in (metric.scale.min, metric.scale.max)]
        # `--scale` names the worst end first.
        settings["scale"] = "..".join(ends[::-1] if metric.lower_is_better else ends)
        settings["metric"] = [metric.name for metric in new.metrics]
    if new.pass_mark != old.pass_mark:
        settings["pass-mark"] = _typed(new.pass_mark)
    return settings


def _typed(mark: PassMark) -> list[str]:
    """A pass mark as `--pass-mark` takes it."""
    if not isinstance(mark, Mapping):
        return [f"{mark}"]
    typed = []
    for name, each in mark.items():
        typed.append(f"{name}={each}" if name else f"{each}")  # no name: the mark of all metrics
    return typed
