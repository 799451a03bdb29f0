"""The changes of a judge prompt that are tried, each alone, and a judge prompt with one of them.

`changes.yaml` lists the changes. `JudgePrompt.changed` makes one: it refuses a change that does not fit,
picks the text for the form of the answer (numbers, labels, JSON), fills its slots with the ends of the user's
scale or the damage to look for, puts it at the end of the prompt, and moves the settings of the protocol. A
wider scale rewrites the prompt, the metrics and the pass mark together.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dhp.content.catalog import changes_content, descriptions, kind_name, override
from dhp.content.yaml_files import load_spec
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol
from dhp.core.slots import fill
from dhp.core.specs import Metric, Spec
from dhp.core.writing import write_lines
from dhp.judge.extraction.probabilities import score_tokens
from dhp.judge.prompt_files import PromptFile, pieces_of
from dhp.plugins.improve.race import Unusable
from dhp.plugins.improve.wider import wider_marks, wider_metric, wider_text
from dhp.report.labels import listed

_CUE = re.compile(r"\n[^\n{}]{0,40}[::][ \t]*\Z")
"""A last line that only asks for the answer, as "Rating:". Chosen: a longer one than 40 says more."""

Marks = Mapping[str, str]
"""Metric -> its pass mark as it was typed; the mark of all metrics has an empty name."""


class Change(Spec):
    """One change of a judge prompt."""

    change: str
    """Its name, also that of the changed judge."""
    label: str
    """What it is, in a few words."""
    numbers: str = ""
    """Text that is added where answers are numbers."""
    words: str = ""
    """Text that is added where answers are labels."""
    object: str = ""
    """Text that is added where the answer is JSON."""
    replaces_cue: bool = False
    """Whether a last line that only asks for the answer goes, as the text asks for another one."""
    protocol: dict[str, Any] = Field(default_factory=dict)
    """Settings of the protocol that change with it."""
    unless: dict[str, str] = Field(default_factory=dict)
    """Pattern -> why the change is not tried of a prompt in which it is found."""
    highest: int | None = None
    """The new end of the scale."""
    looks_for: Literal["content", "form"] | None = None
    """Kinds of damage that the text names in its slot `looked_for`, as far as the judge misses them: those
    that change what a text says, or all others. None if it names no kind."""


class Changes(Spec):
    """All changes, in the order in which they are tried."""

    changes: list[Change]


@cache
def known_changes() -> Changes:
    """Those of `changes.yaml`."""
    return load_spec(Path(__file__).with_name("changes.yaml"), Changes)


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A judge as it is asked: prompt files, protocol and metrics."""

    files: tuple[PromptFile, ...]
    protocol: Protocol
    metrics: tuple[Metric, ...]
    pass_mark: Marks | None = None
    """The score from which texts pass, on the scale of the prompt."""

    def written(self, folder: Path) -> list[str]:
        """Write the prompts into a folder; returns what names them for `prompt`."""
        names = []
        for file in self.files:
            path = folder / file.path.name
            write_lines(path, [file.text])
            # METRIC=FILE, or FILE alone for the prompt of all metrics.
            names.append(f"{file.metric}={path}" if file.metric else str(path))
        return names

    def changed(self, change: Change, missed: Sequence[str]) -> "JudgePrompt":
        """The prompt with a change, for a judge that misses these perturbers' damage, the most missed first.

        Raises `Unusable` if the change does not fit the prompt or what is missed, or changes nothing.
        """
        self._check_fits(change, missed)

        addition = self._addition(change, missed)
        texts = [_with(file.text, addition, cue=not change.replaces_cue) for file in self.files]

        # A wider scale moves prompts, metrics and mark together.
        metrics, pass_mark = self.metrics, self.pass_mark
        if change.highest is not None:
            metrics = tuple(wider_metric(metric, change.highest) for metric in self.metrics)
            narrow = self.metrics[0].scale
            texts = [wider_text(text, narrow, change.highest) for text in texts]
            if pass_mark is not None:
                pass_mark = wider_marks(pass_mark, self.metrics, change.highest)

        protocol = override(self.protocol, protocol=change.change, **self._settings(change))
        files = []
        for file, text in zip(self.files, texts, strict=True):
            files.append(replace(file, text=text))
        return JudgePrompt(tuple(files), protocol, metrics, pass_mark)

    def _check_fits(self, change: Change, missed: Sequence[str]) -> None:
        if change.looks_for and not _looked_for(change, missed):
            raise Unusable("the judge misses no kind of damage that it is for")

        # Every second piece of a prompt is a slot, whose name says nothing of what the prompt asks for.
        pieces: list[str] = []
        for file in self.files:
            pieces += pieces_of(file.text)[::2]
        for pattern, reason in change.unless.items():
            for piece in pieces:
                if re.search(pattern, piece):
                    raise Unusable(reason)
        self._check_settings(change, missed)

    def _check_settings(self, change: Change, missed: Sequence[str]) -> None:
        settings = self._settings(change)
        known = {name: getattr(self.protocol, name) for name in settings}
        # With a text to add, the prompt is another one even under the same settings.
        if settings and settings == known and not self._addition(change, missed):
            raise Unusable("the judge is asked so already")
        # Several samples of a probability are one and the same answer.
        if "samples" in settings and self.protocol.extraction != "parse":
            raise Unusable("probabilities are read already")
        if settings.get("extraction", "parse") != "parse":
            # A probability is that of one token, so each score must be a single one.
            try:
                for metric in self.metrics:
                    score_tokens(metric.scale, "score-only")
            except InputError:
                raise Unusable("it takes a scale of whole numbers within 0 to 9") from None

    def _settings(self, change: Change) -> dict[str, Any]:
        """The settings of the protocol that change.

        The user's limit of tokens and number of samples never fall, unless the change needs one sample alone.
        """
        settings = dict(change.protocol)
        # JSON is the user's own form, which programs read on.
        if self.protocol.answer == "json":
            settings.pop("answer", None)
        if "max_tokens" in settings:
            settings["max_tokens"] = max(settings["max_tokens"], self.protocol.max_tokens)
        if settings.get("samples", 1) > 1:
            settings["samples"] = max(settings["samples"], self.protocol.samples)
            # Samples at temperature 0 would be alike; any other temperature of the user stays.
            settings["temperature"] = self.protocol.temperature or settings["temperature"]
        return settings

    def _addition(self, change: Change, missed: Sequence[str]) -> str:
        """The text that a change adds to the prompt; empty for a change of settings or of the scale alone."""
        if self.protocol.answer == "json":
            text, why_not = change.object, "answers are JSON"
        elif any(metric.labels for metric in self.metrics):
            text, why_not = change.words, "answers are words"
        else:
            text, why_not = change.numbers, "answers are numbers"

        if not text:
            # It has a text, but for answers of another form.
            if change.numbers or change.words or change.object:
                raise Unusable(why_not)
            return ""
        if change.looks_for:
            return fill(text, {"looked_for": listed(_looked_for(change, missed))})
        if "{{" in text:  # only then, as metrics with several scales have no points in common
            return fill(text, self._points())
        return text

    def _points(self) -> dict[str, str]:
        """The points of the scale; raises `Unusable` if metrics have several scales."""
        scales = set()
        for each in self.metrics:
            scales.add((each.scale.min, each.scale.max, each.lower_is_better, tuple(each.labels)))
        if len(scales) > 1:
            raise Unusable("its metrics have several scales")

        metric = self.metrics[0]
        if metric.labels:  # from the worst to the best
            return {"best": metric.labels[-1], "worst": metric.labels[0]}
        worst, best = metric.scale.min, metric.scale.max
        if metric.lower_is_better:
            worst, best = best, worst
        middle = round((worst + best) / 2)
        return {"best": f"{best:g}", "worst": f"{worst:g}", "middle": f"{middle}"}


def _looked_for(change: Change, missed: Sequence[str]) -> list[str]:
    """The missed kinds of damage that a change is for, as people call them."""
    wants_content = change.looks_for == "content"
    looked_for = []
    for perturber in missed:
        # What a perturber of the user's own does to a text is not known.
        if perturber in descriptions() and changes_content(perturber) == wants_content:
            looked_for.append(kind_name(perturber))
    return looked_for


def _with(text: str, addition: str, *, cue: bool) -> str:
    """The text with an addition at its end, above the last line if it only asks for the answer."""
    if not addition:
        return text
    body, last = text.rstrip(), ""
    match = _CUE.search(body)
    if match:
        body = body[: match.start()].rstrip()
        last = f"\n{match[0]}" if cue else ""
    return f"{body}\n\n{addition.strip()}{last}\n"
