"""Calls a user's judge, once for each different thing, and reads what it returns."""

import asyncio
import json
import logging
import math
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain, islice
from numbers import Real
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating, RatingStatus
from dhp.core.seeding import key_digest
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.adapters.adapter import Adapter, absolute, adapt, fields_of, load_object
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import Judge, metric_name
from dhp.llm.cached_model import RequestContext
from dhp.llm.claims import Claims
from dhp.llm.clients.responses import shortened
from dhp.llm.executor import LOCAL, Work
from dhp.llm.records import Reply
from dhp.llm.store import rows

_VERDICTS = {
    **dict.fromkeys(("yes", "true", "pass", "passed", "correct"), True),
    **dict.fromkeys(("no", "false", "fail", "failed", "incorrect"), False),
}
_KEYS = ("key", "name")
_VALUES = ("score", "value")
_REASONS = ("reason", "comment", "explanation", "rationale", "error")
_LONGEST_REASON = 500
RETURNS = (
    "a number, a bool, None, a text such as yes or no, a mapping or an object with 'score' or 'value', "
    "or a list of these with 'key' or 'name'"
)
"""What a judge may return."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score of one text, or why there is none."""

    status: RatingStatus
    value: float | None
    reason: str | None
    """The judge's own reason for the score, or why there is none."""
    is_verdict: bool = False
    """Whether it was a bool or a word for one: then the scale is 0 to 1."""


def failed(error: object) -> Outcome:
    """The outcome of a call that raised, or returned something unreadable."""
    words = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error)
    return Outcome("failed", None, shortened(words.rstrip(": "), _LONGEST_REASON))


def read_outcomes(returned: object, name: str) -> dict[str, Outcome]:
    """Metric -> outcome of what a judge returned; `name` is that of a score without one."""
    if isinstance(returned, list | tuple):
        if not returned:
            return {metric_name(name): failed("returned an empty list")}
        outcomes: dict[str, Outcome] = {}
        for each in returned:
            key, outcome = _named_outcome(each, name)
            if key in outcomes:
                return {metric_name(name): failed(f"returned two scores called '{key}'")}
            outcomes[key] = outcome
        return outcomes
    return dict([_named_outcome(returned, name)])


def _named_outcome(returned: object, name: str) -> tuple[str, Outcome]:
    parts = _parts(returned)
    keys = (parts.get(part) for part in _KEYS)
    key = metric_name(next((key for key in keys if isinstance(key, str) and key.strip()), name))
    values = [part for part in _VALUES if part in parts]
    if not values:
        return key, failed(f"returned an object of type {type(returned).__name__}; allowed: {RETURNS}")
    reasons = (parts.get(part) for part in _REASONS)
    reason = next((str(r) for r in reasons if r not in (None, "")), None)
    return key, _outcome(parts[values[0]], reason)


def _parts(returned: object) -> Mapping[str, object]:
    """What was returned by name: the attributes of an object, or a plain value as the score."""
    if isinstance(returned, Mapping):
        return returned
    if returned is None or isinstance(returned, str | Real):
        return {"score": returned}
    known = (*_KEYS, *_VALUES, *_REASONS)
    return {name: getattr(returned, name) for name in known if hasattr(returned, name)}


def _outcome(value: object, reason: str | None) -> Outcome:
    reason = None if reason is None else shortened(reason, _LONGEST_REASON)
    if value is None:
        return Outcome("unparsed", None, reason or "returned no score")
    verdict = value if isinstance(value, bool) else None
    if isinstance(value, str):
        verdict = _VERDICTS.get(value.strip().lower())
        if verdict is None:
            return Outcome("unparsed", None, shortened(f"returned the text '{value}'", _LONGEST_REASON))
    if verdict is not None or type(value).__name__ == "bool_":  # numpy's
        return Outcome("scored", float(bool(value) if verdict is None else verdict), reason, True)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return failed(f"returned a score of type {type(value).__name__}; allowed: {RETURNS}")
    if not math.isfinite(number):
        return Outcome("unparsed", None, reason or f"returned {number:g}")
    return Outcome("scored", number, reason)


Job = tuple[bytes, Mapping[str, str | None]]
"""A call of a user's judge: its key, and what the parameters are given."""


class Caller:
    """Calls a user's judge once for each job.

    Calls of a coroutine function run in one event loop, which lives as long as the caller, as clients bind to
    it. With one call at once other functions run in the thread of the caller, unless that runs an event
    loop, as in a notebook: a function may call `asyncio.run`.
    """

    def __init__(self, adapter: Adapter, at_once: int) -> None:
        self._adapter = adapter
        self._at_once = at_once
        self._loop: asyncio.AbstractEventLoop | None = None

    def results(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, object]]:
        """Each job with what its call returned, or the `Exception` that it raised, as it is done."""
        call, is_async = self._adapter.call, self._adapter.is_async
        if self._at_once == 1 and not is_async and not _in_a_loop():
            for job in jobs:
                yield job, _attempted(partial(call, job[1]))
            return
        pending: dict[Future[object], Job] = {}
        pool = None if is_async else ThreadPoolExecutor(self._at_once, "dhp-judge", _give_loop)
        try:
            for job in jobs:
                pending[pool.submit(call, job[1]) if pool else self._submitted(job)] = job
                if len(pending) >= self._at_once:
                    yield from _done(pending)
            while pending:
                yield from _done(pending)
        finally:
            for future in pending:
                future.cancel()
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, job: Job) -> "Future[object]":
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="dhp-judge", daemon=True).start()
        coroutine: Coroutine[Any, Any, object] = self._adapter.call(job[1])  # type: ignore[assignment]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


def _in_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _give_loop() -> None:
    """Give the thread a loop that does not run, for functions that take the one that is there."""
    asyncio.set_event_loop(asyncio.new_event_loop())


def _done(pending: "dict[Future[object], Job]") -> Iterator[tuple[Job, object]]:
    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in sorted(ready, key=list(pending).index):
        job = pending.pop(future)
        yield job, _attempted(future.result)


def _attempted(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as e:  # noqa: BLE001  whatever somebody else's judge raises is a failed rating
        return e


_TRIED = 5
"""Texts after which a judge is given up that has not scored one."""
_ENDPOINT = "python"


class Scorer:
    """Calls a user's judge, once for each different thing that it is given, and keeps what it said.

    `calls` makes the calls.
    """

    def __init__(
        self,
        model: str,
        adapter: Adapter,
        settings: JudgeSettings,
        context: RequestContext,
        calls: Work[Job, object],
    ) -> None:
        self.model = model
        self.adapter = adapter
        self.settings = settings
        self.fields = {**adapter.fields, **{p: (field,) for p, field in settings.fields.items()}}
        """Parameter -> fields of which it is given the first that is there."""
        self.name = metric_name(adapter.name)
        """Name of the metric, if the scorer gives one score."""
        self._context = context
        self._store = None if settings.version is None else context.store
        self._said: dict[bytes, dict[str, Outcome]] = {}
        self._calls = calls
        if settings.version is None:
            logging.getLogger("dhp").warning(
                "%s: its replies are not cached, as `judge_settings.version` is not set; "
                "another run will call it again",
                model,
            )

    def check(self, candidates: Sequence[Candidate]) -> None:
        """Raise `InputError` if a parameter has no field to be given."""
        known = {name for c in candidates for name in fields_of(c)}
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
        """Each text with what the judge says of it: what is known first, then as calls are done."""
        waiting: dict[bytes, list[Candidate]] = {}
        jobs: list[Job] = []
        for candidate in candidates:
            arguments = self._arguments(candidate)
            key = key_digest(self.model, _ENDPOINT, self.settings.version, arguments)
            if (cached := self._cached(key)) is not None:
                yield candidate, cached
            elif key in waiting:
                waiting[key].append(candidate)
            else:
                waiting[key] = [candidate]
                jobs.append((key, arguments))
        with Claims(self._store, refresh=self._context.refresh) as claims:
            while jobs:
                free = claims.take([[key] for key, _ in jobs])
                said_now = self._called(
                    [job for job, is_free in zip(jobs, free, strict=True) if is_free], claims
                )
                jobs = [job for job, is_free in zip(jobs, free, strict=True) if not is_free]
                for key in chain(said_now, self._said_elsewhere(jobs, claims)):
                    for candidate in waiting[key]:
                        yield candidate, self._said[key]
                jobs = [(key, arguments) for key, arguments in jobs if key not in self._said]

    def _called(self, jobs: Sequence[Job], claims: Claims) -> Iterator[bytes]:
        """The keys of what is called now, each as soon as the judge has said something."""
        for (key, _), returned in self._context.executor.each(self._calls, self._reserved(jobs)):
            is_error = isinstance(returned, Exception)
            outcomes = {self.name: failed(returned)} if is_error else read_outcomes(returned, self.name)
            claims.end([key], stored=self._keep(key, outcomes))
            yield key

    def _said_elsewhere(self, jobs: Sequence[Job], claims: Claims) -> Iterator[bytes]:
        """The keys of what the judge has said to other commands, which were calling it."""
        if jobs:
            claims.wait(len(jobs), lambda: None)
        yield from (key for key, _ in jobs if self._cached(key) is not None)

    def _reserved(self, jobs: Sequence[Job]) -> Iterator[Job]:
        for job in jobs:
            self._context.budget.settle(self._context.budget.reserve(0, 0), [])
            yield job

    def _arguments(self, candidate: Candidate) -> dict[str, str | None]:
        available = fields_of(candidate)
        arguments: dict[str, str | None] = {}
        used = set()
        for parameter, names in self.fields.items():
            field = next((name for name in names if name in available), None)
            if field is not None:
                arguments[parameter] = available[field]
                used.add(field)
            elif parameter not in self.adapter.optional:
                arguments[parameter] = None
        if self.adapter.takes_further:
            further: dict[str, str | None] = {
                k: v for k, v in candidate.fields.items() if k in available and k not in used
            }
            if "source" in available and "source" not in used:
                further["context"] = available["source"]
            arguments = {**further, **arguments}
        return arguments

    def _cached(self, key: bytes) -> dict[str, Outcome] | None:
        if key in self._said:
            return self._said[key]
        if self._store is None or self._context.refresh:
            return None
        stored = self._store.find({0: key}, f"a text by {self.model}")
        if stored:
            outcomes = json.loads(stored[0][0].text)
            self._said[key] = {name: Outcome(**each) for name, each in outcomes.items()}
        return self._said.get(key)

    def _keep(self, key: bytes, outcomes: dict[str, Outcome]) -> bool:
        """Whether what was said is stored, too."""
        self._said[key] = outcomes
        if self._store is None or any(o.status == "failed" for o in outcomes.values()):
            return False
        text = json.dumps({name: asdict(each) for name, each in outcomes.items()}, ensure_ascii=False)
        reply = Reply(text, "stop", 0, 0, 1)
        stored = rows({0: key}, self.model, _ENDPOINT, {0: reply}, "")
        self._store.add(stored, replace=self._context.refresh)
        return True


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
        low, high = self._findings.scale
        metrics = [
            Metric(
                name=name,
                scale=Scale(min=low, max=high),
                lower_is_better=self._lower_is_better,
                definition=f"{name}, as the judge defines it.",
                steps=["Call it."],
                question=f"What is the {name} of this text?",
                antonym=f"poor {name}",
            )
            for name in self._findings.metrics
        ]
        return task.model_copy(update={"metrics": metrics, "translations": {}})

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        self._scorer.check(candidates)
        for candidate, outcomes in self._scorer.outcomes(candidates):
            alone = next(iter(outcomes.values())) if len(outcomes) == 1 else None
            for metric in task.metrics:
                outcome = outcomes.get(metric.name)
                if outcome is None and alone and alone.status != "scored":
                    outcome = alone
                place = (candidate.example, candidate.variant, metric.name, 0)
                yield self._rating(place, outcome or failed(f"returned no '{metric.name}'"))

    def _rating(self, place: tuple[str, str, str, int], outcome: Outcome) -> Rating:
        assert self._findings is not None
        if outcome.value is None:
            return Rating(*place, None, outcome.status, outcome.reason)
        low, high = self._findings.scale
        words = f"{outcome.value:g}" + (f": {outcome.reason}" if outcome.reason else "")
        if not low <= outcome.value <= high:
            return Rating(*place, None, "out_of_scale", words)
        score = low + high - outcome.value if self._lower_is_better else outcome.value
        return Rating(*place, score, raw=words)

    def _inspect(self, candidates: Sequence[Candidate]) -> _FirstFindings:
        """Metrics and scale by the first originals, which are rated one by one until a score can be used.

        Raises `InputError` if none of them gets a score that can be used: then no other text would either.
        """
        originals = islice((c for c in candidates if c.variant == ORIGINAL), _TRIED)
        tried: list[Outcome] = []
        for candidate in list(originals) or candidates[:_TRIED]:
            ((_, outcomes),) = self._scorer.outcomes([candidate])
            tried += outcomes.values()
            if scored := [o for o in outcomes.values() if o.status == "scored"]:
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
    if failures := [o.reason for o in tried if o.status == "failed"]:
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
    of_worker = max(1, context.rate_limits.concurrency // context.executor.workers)
    at_once = of_worker if adapter.is_async else threads
    calls: Work[Job, object] = Caller(adapter, at_once).results
    if name and context.executor is not LOCAL:  # what workers cannot be sent they find by its name
        calls = partial(_called, absolute(name), at_once)
    return ObjectJudge(Scorer(name or _name(judge, adapter), adapter, settings, context, calls))


def _called(name: str, at_once: int, jobs: Iterable[Job]) -> Iterator[tuple[Job, object]]:
    return _caller(name, at_once).results(jobs)


@cache
def _caller(name: str, at_once: int) -> Caller:
    return Caller(adapt(load_object(name), f"model '{name}'"), at_once)


def _name(scorer: object, adapter: Adapter) -> str:
    if adapter.shape not in ("function", "langfuse evaluator", "langsmith evaluator"):
        return f"python:{adapter.shape.partition(' ')[0]}:{adapter.name}"
    called: Any = scorer.func if isinstance(scorer, partial) else scorer
    named = called if hasattr(called, "__qualname__") else type(called)
    return f"python:{named.__module__}:{named.__qualname__.replace('<locals>.', '')}"
