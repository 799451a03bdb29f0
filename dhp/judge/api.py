"""The interface of judges, and functions that judges share.

`Judge` has an answer to everything that a run asks a judge, so that a judge states only what differs.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from dhp.core.errors import InputError, one_of, unique
from dhp.core.records import Candidate, Rating
from dhp.core.signature import PAIRWISE
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.pairs import OVERALL, Pair, PairVerdict, beside_originals, comparing_task, two_order_ratings

if TYPE_CHECKING:
    from dhp.llm.cached_model import CachedModel
    from dhp.llm.records import Request

WIDE = 1e9
"""Bound of the scale of scores that have none, such as those of a column."""
_NOTHING: Mapping[str, object] = MappingProxyType({})
"""No settings; nobody can write into what all judges share."""
FIRST_ANSWERS = 40
"""Answers that are asked for before all others, as so many tell whether they can be read.

With the second answers a run in which nothing can be read then pays for at most 100 calls.
"""


class Judge:
    """A model under a protocol, or what else rates texts.

    It is shown one text at a time, or with `compare` a degraded text together with its original. Subclasses
    override `rate`, those that compare `verdicts`, and what else they need. Where judges are taken, so is any
    other object with `model`, `protocol` and `rate`.
    """

    model: str
    """Name of the model, `provider/name`."""
    protocol: str
    """Name of the way it is asked and read."""
    samples: int = 1
    """Ratings of one text on one metric."""
    settings: Mapping[str, object] = _NOTHING
    """Other settings that its ratings depend on, for the manifest; JSON."""
    cached_model: "CachedModel | None" = None
    """The language model that it asks, with what that has cost; None if it asks none."""
    compare: bool = False
    """Whether its scores say how a text compares with the original, from -1 to 1, not what it is worth."""
    by_metric: bool = False
    """Whether it compares by each metric of the task; else as a whole."""
    explains: bool = True
    """Whether its words about a text may hold a reason, and not a rating alone."""
    answers: int = 1
    """Verdicts on a pair by a metric in each order; the majority counts."""
    auto_steps: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({})
    """Task -> metric -> evaluation steps that the language model wrote."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Ratings of every candidate on every metric of the task, in any order.

        The score of a candidate depends on its text, source and fields (and the sources of the whole
        dataset), never on another candidate's text; with `compare` also on the original, by the verdicts in
        both orders. What a judge leaves unrated counts as failed.

        Called once a dataset, or several times if there are very many texts, each time with other examples.
        """
        if not self.compare:
            raise NotImplementedError
        verdicts = self.verdicts(beside_originals(candidates), task, task.metric_names)
        return two_order_ratings(candidates, task, verdicts, self.answers)

    def verdicts(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Which text of each pair is better by each metric: `answers` verdicts in each order, unsorted.

        Final words on verdicts that contradict each other may come on top.
        """
        raise NotImplementedError

    @property
    def waits(self) -> bool:
        """Whether answers come later, so that ratings are missing for now."""
        return self.cached_model is not None and self.cached_model.context.waiting > 0

    @property
    def identity(self) -> dict[str, object]:
        """Model, protocol and all else that decides its ratings."""
        return {"model": self.model, "protocol": self.protocol, **self.settings}

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the metrics by which it rates; one that computes its scores has one of its own.

        A judge that cannot tell them beforehand may rate some of the texts that it will be given.
        """
        return comparing_task(task, by_metric=self.by_metric) if self.compare else task

    def for_benchmark(self, *, by_metric: bool) -> "Judge":
        """The same judge with the name and settings that it has in the benchmark, if it compares."""
        if not self.compare or self.protocol.startswith(PAIRWISE):
            return self
        judge = copy(self)
        judge.by_metric = by_metric
        judge.protocol = f"{PAIRWISE}{self.protocol if self.protocol != 'none' else 'compared'}"
        judge.settings = {**self.settings, "by_metric": by_metric}
        return judge

    def with_token_limit(self, texts: Sequence[tuple[Sequence[Candidate], Task]], run: str = "") -> "Judge":
        """The judge with the token limit that its answers need.

        Parameters
        ----------
        texts
            Candidates and task of each dataset.
        run
            The name of the run, to which replies count.
        """
        return self

    def asked_about(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those of the candidates that it is asked about: all, but for a recording, which has only some."""
        return candidates

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Called once a dataset with all its candidates, before any is rated."""
        return

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterable["Request"]:
        """What it would ask the language model."""
        return ()

    def short_request(self, request: "Request", task: Task) -> str:
        """What it asks after an answer to a request that it cannot read; empty if nothing."""
        return ""

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """Why answers have no score, and what most likely helps."""
        return ""

    def prompts(self, candidate: Candidate, task: Task) -> Sequence[Mapping[str, str]]:
        """The prompts about one text: `metric`, `answer` (its form) and `prompt`."""
        return ()


class _OtherJudge(Judge):
    """An object with the least that a judge has."""

    def __init__(self, judge: Any) -> None:
        self.model = judge.model
        self.protocol = judge.protocol
        self.samples = getattr(judge, "samples", 1)
        self.settings = getattr(judge, "settings", _NOTHING)
        self.compare = getattr(judge, "compare", False)
        self._judge = judge

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        if hasattr(self._judge, "prepare"):
            self._judge.prepare(candidates, task)

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        ratings: Iterator[Rating] = self._judge.rate(candidates, task)
        return ratings


def as_judge(judge: object) -> Judge:
    """A judge as a `Judge`.

    That is a `Judge`, or any object with texts `model` and `protocol` and a method `rate`, whose `samples`,
    `settings`, `compare` and `prepare` count if it has them; `InputError` for others.
    """
    if not is_judge(judge):
        raise InputError(
            f"model {judge!r} is not a judge; allowed: provider/name, or an object with texts 'model' and "
            "'protocol' and a method 'rate'"
        )
    adapted = judge if isinstance(judge, Judge) else _OtherJudge(judge)
    if type(adapted.samples) is not int or adapted.samples < 1:
        raise InputError(f"judge '{adapted.model}': samples is {adapted.samples!r}; allowed: 1 or more")
    return adapted


def is_judge(judge: object) -> bool:
    """Whether an object has what every judge has: `model`, `protocol` and `rate`."""
    if isinstance(judge, type):
        return False
    model, protocol = getattr(judge, "model", None), getattr(judge, "protocol", None)
    is_named = isinstance(model, str) and isinstance(protocol, str)
    return is_named and callable(getattr(judge, "rate", None))


def with_original(
    candidates: Sequence[Candidate], recorded: Callable[[Candidate], bool]
) -> Sequence[Candidate]:
    """The candidates that are recorded, of the examples whose original is."""
    kept = [c for c in candidates if recorded(c)]
    originals = {c.example for c in kept if c.level is None}
    return [c for c in kept if c.example in originals]


def split_settings(model: str, known: Collection[str] | None = None) -> tuple[str, dict[str, str]]:
    """A name with settings, `mock/blind?noise=1`: the name before the `?` and the settings after it.

    `known` are the settings that there are; None takes any. Raises `InputError` if the settings are malformed
    or unknown, or one is given twice.
    """
    name, _, query = model.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise InputError(
            f"model '{model}': broken settings '{query}'; allowed: name=value&name=value"
        ) from None
    settings = dict(pairs)
    unique("setting", (key for key, _ in pairs), f"model '{model}'")
    if known is not None:
        for key in settings:
            one_of("setting", key, known, f"model '{model}'")
    return name, settings


_COMPUTED = ["Compute it."]
"""The evaluation steps by which such a metric is known."""


def is_computed(metric: Metric) -> bool:
    """Whether it is a metric of `computed_task`: nobody but the judge knows its scale."""
    return metric.steps == _COMPUTED


def computed_task(task: Task, name: str, label: str, scale: Scale) -> Task:
    """The task with the one criterion of a judge that computes its scores and is shown no words."""
    metric = Metric(
        name=name,
        label=label,
        scale=scale,
        definition=f"{label}, computed.",
        steps=_COMPUTED,
        question=f"What is the {label} of this text?",
        antonym="no overlap",
    )
    return task.model_copy(update={"metrics": [metric], "translations": {}})


def metric_name(name: str, otherwise: str = "score") -> str:
    """A name as metrics have it: lower case, digits and `_`, a letter first, else `otherwise` first."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"{otherwise}_{plain}".rstrip("_")


def rescale(score: float, source: Scale, target: Scale) -> float:
    """`score`, read on the scale `source`, at the same place of the scale `target`."""
    if source == target:
        return score
    share = (score - source.min) / (source.max - source.min)
    return min(target.min + share * (target.max - target.min), target.max)  # rounding may lead beyond it
