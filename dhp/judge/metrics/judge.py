"""`metric/NAME`: a classical metric as a judge."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.api import Judge, split_settings
from dhp.judge.metrics import overlap
from dhp.judge.metrics.likelihood import LIKELIHOODS, bertscore, likelihood
from dhp.judge.metrics.overlap import distinct

OVER_REFERENCES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "max": max,
    "first": lambda scores: scores[0],
}
AGAINST = ("auto", "reference", "source")
NAMES = (*overlap.NAMES, "distinct", "bertscore", *LIKELIHOODS)
ALONE = ("distinct", "loglikelihood", "perplexity")
"""Those that are computed from the text alone."""
WIDE = 1e9
"""Bound of the scale of scores that have none, such as perplexity."""


@dataclass(frozen=True)
class MetricJudge(Judge):
    """A classical metric, computed against the reference of a text, against its source, or alone."""

    model: str
    name: str
    score: overlap.Score
    higher_is_better: bool
    against: str
    over_references: str
    protocol: str = "none"

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with this metric in place of its own."""
        scale = Scale(min=-WIDE, max=0) if self.name in LIKELIHOODS else Scale(min=0, max=1)
        metric = computed_metric(self.name.replace("-", "_").lower(), self.name, scale)
        return task.model_copy(update={"metrics": [metric], "translations": {}})

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating a text; one that has nothing to be compared with is failed."""
        (metric,) = task.metric_names
        for c in candidates:
            place = (c.example, c.variant, metric, 0)
            others = self._others(c)
            if not others:
                yield Rating(*place, None, "failed", f"no {self.against} to compare with")
                continue
            score = OVER_REFERENCES[self.over_references]([self.score(c.text, other) for other in others])
            if not self.higher_is_better:
                score = 1 - min(1.0, score)
            if math.isnan(score):
                yield Rating(*place, None, "failed", f"{self.name} is undefined")
            else:
                yield Rating(*place, score)

    def _others(self, c: Candidate) -> Sequence[str]:
        if self.name in ALONE:
            return [""]
        if self.against == "source" or (self.against == "auto" and not c.references):
            return [c.source] if c.source.strip() else []
        return c.references


def computed_metric(name: str, label: str, scale: Scale) -> Metric:
    """The criterion of a judge that computes its scores and is shown no words."""
    return Metric(
        name=name,
        label=label,
        scale=scale,
        definition=f"{label}, computed.",
        steps=["Compute it."],
        question=f"What is the {label} of this text?",
        antonym="no overlap",
    )


def metric_judge(model: str, seed: int = 0) -> MetricJudge:
    """The judge called `metric/NAME?part=f&references=mean&against=reference&path=FOLDER&n=2`.

    Parameters
    ----------
    model
        Name and settings. `part` (`f`, `recall`, `precision`) is for ROUGE; `references` says how scores
        against several references become one (`mean`, `max`, `first`); `against` what the text is compared
        with (default `auto`: the reference where there is one, else the source); `path` is a local model
        (`bertscore`, `bartscore`, `loglikelihood`, `perplexity`), `layers` one of its layers (`bertscore`);
        `n` is the number of words in an n-gram (`distinct`, default 2). `distinct`, `loglikelihood` and
        `perplexity` look at the text alone.

    Raises
    ------
    InputError
        For an unknown name or setting, or a package that is not installed.
    """
    name = model.removeprefix("metric/").partition("?")[0]
    if name not in NAMES:
        raise InputError(f"model '{model}': unknown metric '{name}'; {suggest(name, NAMES)}")
    known = set() if name in ALONE else {"references", "against"}
    known |= {"n"} if name == "distinct" else set()
    known |= {"part"} if name in overlap.ROUGE else set()
    known |= {"path", "layers"} if name == "bertscore" else set()
    known |= {"path"} if name in LIKELIHOODS else set()
    _, settings = split_settings(model, known)
    part = _one_of(model, settings, "part", overlap.PARTS)
    over = _one_of(model, settings, "references", OVER_REFERENCES)
    against = _one_of(model, settings, "against", AGAINST)
    score: Any
    if name in LIKELIHOODS:
        score = likelihood(name, settings.get("path", ""))
    elif name == "distinct":
        score = distinct(settings.get("n", "2"))
    elif name == "bertscore":
        score = bertscore(settings.get("path", ""), settings.get("layers", ""))
    else:
        score = overlap.overlap(name, part)
    return MetricJudge(model, name, score, overlap.NAMES.get(name, True), against, over)


def _one_of(model: str, settings: dict[str, str], key: str, allowed: Sequence[str] | dict[str, Any]) -> str:
    value = settings.get(key, next(iter(allowed)))
    if value not in allowed:
        raise InputError(f"model '{model}': {key} '{value}'; allowed: {', '.join(allowed)}")
    return value
