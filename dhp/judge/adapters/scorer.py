"""A user's own judge: what its parameters are given, its metrics and its scale.

The first originals are rated one by one, until metrics and scale of the judge are known. Each different set
of arguments is one call, as if the function were a model: stored, counted and limited like calls to a
server.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.seeding import key_digest
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.adapters.adapter import Adapter, adapt, fields_of
from dhp.judge.adapters.function_model import ENDPOINT, FunctionModel, function_request, subject_of
from dhp.judge.adapters.returned import RETURNS, Outcome, failed, from_text
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import Judge, metric_name
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.records import Reply, Request
from dhp.llm.store import MemoryStore

_TRIED = 5
"""Texts after which a judge is given up that has not scored one. Chosen."""


class Scorer:
    """Has a user's judge called, once for each different thing that it is given."""

    def __init__(
        self, function: FunctionModel, adapter: Adapter, settings: JudgeSettings, context: RequestContext
    ) -> None:
        self.model = function.model
        self.adapter = adapter
        self.settings = settings
        self.fields = {**adapter.fields, **{p: (field,) for p, field in settings.fields.items()}}
        """Parameter -> fields; it is given the first that is there."""
        self.name = metric_name(adapter.name)
        """Name of the metric, if the scorer gives one score."""
        if settings.version is None:
            logging.getLogger("dhp").warning(
                "%s: its replies are not cached, as `judge_settings.version` is not set; "
                "another run will call it again",
                self.model,
            )
        if settings.version is None or context.store is None:  # equal texts are judged once all the same
            context = replace(context, store=MemoryStore(), refresh=False)
        self._cached_model = CachedModel(function, context)

    def check(self, candidates: Sequence[Candidate]) -> None:
        """Raise `InputError` if a parameter has no field to be given."""
        known: set[str] = set()
        for candidate in candidates:
            known.update(fields_of(candidate))
        for parameter, field in self.settings.fields.items():
            if field not in known:
                raise InputError(
                    f"{self.model}: `judge_settings.fields` {parameter}={field}: no example has that field; "
                    f"{suggest(field, known)}"
                )
            if parameter not in self.adapter.fields and not self.adapter.takes_further:
                raise InputError(
                    f"{self.model}: `judge_settings.fields` {parameter}={field}: the judge has no such "
                    f"parameter; {suggest(parameter, self.adapter.fields)}"
                )
        for parameter in sorted(self.adapter.required - set(self.settings.fields)):
            if not known & set(self.fields[parameter]):
                raise InputError(
                    f"{self.model}: parameter '{parameter}': no field of that name; map it by "
                    f"`judge_settings.fields` {parameter}=FIELD; fields: {', '.join(sorted(known))}"
                )
        if not any("output" in names for names in self.fields.values()):
            raise InputError(
                f"{self.model}: no parameter takes the text under judgement; map one by "
                f"`judge_settings.fields` PARAMETER=output; parameters: {', '.join(self.fields) or 'none'}"
            )

    def outcomes(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, dict[str, Outcome]]]:
        """Each text with what the judge says of it, in any order."""
        for request, outcomes in self._cached_model.ask(map(self._request, candidates)):
            outcome = outcomes[0]
            if isinstance(outcome, Reply):
                yield subject_of(request), from_text(outcome.text)
            else:
                yield subject_of(request), {self.name: failed(outcome.reason)}

    def _request(self, candidate: Candidate) -> Request:
        arguments = self._arguments(candidate)
        key = key_digest(self.model, ENDPOINT, self.settings.version, arguments)
        place = f"example '{candidate.example}', variant '{candidate.variant}'"
        return function_request(arguments, key, place, candidate)

    def _arguments(self, candidate: Candidate) -> dict[str, str | None]:
        """What each parameter is given of a text."""
        available = fields_of(candidate)
        arguments: dict[str, str | None] = {}
        used = set()
        for parameter, names in self.fields.items():
            filled = [name for name in names if name in available]
            if filled:
                arguments[parameter] = available[filled[0]]
                used.add(filled[0])
            elif parameter not in self.adapter.optional:
                arguments[parameter] = None
        if not self.adapter.takes_further:
            return arguments

        # What no parameter takes is passed as well, and does not replace what one takes.
        further: dict[str, str | None] = {}
        for name in candidate.fields:
            if name in available and name not in used:
                further[name] = available[name]
        if "source" in available and "source" not in used:
            further["context"] = available["source"]
        return {**further, **arguments}


@dataclass(frozen=True, slots=True)
class _FirstFindings:
    """Metrics and scale of a judge, as found on the first texts."""

    metrics: tuple[str, ...]
    scale: tuple[float, float]


class ObjectJudge(Judge):
    """A user's own judge; what it rates, and on which scale, the first texts tell."""

    protocol = "none"

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._findings: _FirstFindings | None = None
        settings, lower_is_better = scorer.settings, scorer.settings.lower_is_better
        self._lower_is_better = scorer.adapter.lower_is_better if lower_is_better is None else lower_is_better
        self.model = scorer.model
        self.settings = {
            "shape": scorer.adapter.shape,
            "scale": None if settings.ends is None else list(settings.ends),
            "lower_is_better": self._lower_is_better,
            "version": settings.version,
            "fields": dict(settings.fields),
        }

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the metrics of the judge, for which the first originals are rated."""
        if self._findings is None:
            self._scorer.check(candidates)
            self._findings = self._inspect(candidates)
        metrics = [self._metric(name, *self._findings.scale) for name in self._findings.metrics]
        return task.model_copy(update={"metrics": metrics, "translations": {}})

    def _metric(self, name: str, low: float, high: float) -> Metric:
        return Metric(
            name=name,
            scale=Scale(min=low, max=high),
            lower_is_better=self._lower_is_better,
            definition=f"{name}, as the judge defines it.",
            steps=["Call it."],
            question=f"What is the {name} of this text?",
            antonym=f"poor {name}",
        )

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        self._scorer.check(candidates)
        for candidate, outcomes in self._scorer.outcomes(candidates):
            # A call that failed as a whole tells of all metrics why.
            of_all = [outcome for outcome in outcomes.values() if outcome.status != "scored"]
            failure = of_all[0] if len(outcomes) == len(of_all) == 1 else None
            for metric in task.metrics:
                outcome = outcomes.get(metric.name, failure)
                place = (candidate.example, candidate.variant, metric.name, 0)
                yield self._rating(place, outcome or failed(f"returned no '{metric.name}'"))

    def _rating(self, place: tuple[str, str, str, int], outcome: Outcome) -> Rating:
        assert self._findings is not None
        if outcome.value is None:
            return Rating(*place, None, outcome.status, outcome.reason)
        low, high = self._findings.scale
        words = f"{outcome.value:g}: {outcome.reason}" if outcome.reason else f"{outcome.value:g}"
        if not low <= outcome.value <= high:
            return Rating(*place, None, "out_of_scale", words)
        score = low + high - outcome.value if self._lower_is_better else outcome.value
        return Rating(*place, score, raw=words)

    def _inspect(self, candidates: Sequence[Candidate]) -> _FirstFindings:
        """Metrics and scale by the first originals, which are rated one by one until a score can be used.

        Raises `InputError` if none of them gets a score that can be used: then no other text would either.
        """
        originals = [c for c in candidates if c.variant == ORIGINAL]
        tried: list[Outcome] = []
        for candidate in (originals or candidates)[:_TRIED]:
            ((_, outcomes),) = self._scorer.outcomes([candidate])  # one text has one answer
            tried += outcomes.values()
            scored = [o for o in outcomes.values() if o.status == "scored"]
            if scored:
                low, high = self._scale(scored)
                if any(low <= (o.value or 0.0) <= high for o in scored):
                    return _FirstFindings(tuple(outcomes), (low, high))
        raise InputError(f"{self.model}: {_unusable(tried, self._scorer.settings.ends)}")

    def _scale(self, scored: Sequence[Outcome]) -> tuple[float, float]:
        settings = self._scorer.settings
        scale = settings.ends or self._scorer.adapter.scale
        if scale is None and all(o.is_verdict for o in scored):
            scale = (0.0, 1.0)
        value = scored[0].value
        if scale is None:
            raise InputError(
                f"{self.model}: returned {value:g}, and its scale is not known; "
                "set `judge_settings.scale`, e.g. 0..1"
            )
        if settings.ends is None and not any(scale[0] <= (o.value or 0.0) <= scale[1] for o in scored):
            raise InputError(
                f"{self.model}: returned {value:g}, off the scale {scale[0]:g} to {scale[1]:g} of its shape "
                f"({self._scorer.adapter.shape}); set another by `judge_settings.scale`"
            )
        return scale


def _unusable(tried: Sequence[Outcome], ends: tuple[float, float] | None) -> str:
    """Why none of the first scores can be used, and what to do about it."""
    failures = [o.reason for o in tried if o.status == "failed"]
    if failures:
        return (
            f"the judge failed on the first {len(tried)} texts ({failures[0]}); {_remedy(str(failures[0]))}"
        )
    values = ", ".join(dict.fromkeys(f"{o.value:g}" for o in tried if o.value is not None))
    if values and ends:
        low, high = ends
        return f"returned {values}, off the scale {low:g} to {high:g}; set another `judge_settings.scale`"
    return f"returned no score for the first {len(tried)} texts ({tried[0].reason}); allowed: {RETURNS}"


_EXPECTS_DICT = ("string indices must be integers", "'str' object has no attribute 'get'")
"""What Python says of a text that is read like a dict."""


def _remedy(reason: str) -> str:
    """What to do about a judge that fails."""
    if any(words in reason for words in _EXPECTS_DICT):
        return "if it reads dicts, say so: def judge(inputs: dict, outputs: dict)"
    return "it is not called again"


def object_judge(
    judge: object, name: str | None, settings: JudgeSettings, context: RequestContext
) -> ObjectJudge:
    """The judge that an object is.

    `name` is the name `python:...` by which the object was found; None if it was handed over as it is.
    Raises `InputError` if it has no known shape.
    """
    adapter = adapt(judge, f"model '{name}'" if name else f"model {judge!r}")
    usual_threads = getattr(judge, "threads", 1)
    threads = settings.threads or (usual_threads if isinstance(usual_threads, int) else 1)
    at_once = context.rate_limits.concurrency if adapter.is_async else threads
    function = FunctionModel(name or _name(judge, adapter), adapter, at_once, is_named=name is not None)
    return ObjectJudge(Scorer(function, adapter, settings, context))


def _name(scorer: object, adapter: Adapter) -> str:
    if adapter.shape not in ("function", "langfuse evaluator", "langsmith evaluator"):
        return f"python:{adapter.shape.partition(' ')[0]}:{adapter.name}"
    called: Any = scorer.func if isinstance(scorer, partial) else scorer
    named = called if hasattr(called, "__qualname__") else type(called)
    return f"python:{named.__module__}:{named.__qualname__.replace('<locals>.', '')}"
