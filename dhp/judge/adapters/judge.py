"""A user's own scorer as a judge: its scores, and verdicts by a threshold."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.seeding import key_digest
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.adapters.adapter import Adapter, fields_of
from dhp.judge.adapters.calls import Caller, Job
from dhp.judge.adapters.outcome import Outcome, as_json, failed, from_json, metric_name, read_outcomes
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import Judge
from dhp.llm.cached_model import RequestContext
from dhp.llm.claims import Claims
from dhp.llm.executor.api import Work
from dhp.llm.records import Reply
from dhp.llm.store import row

_TRIED = 5
"""Texts after which a judge is given up that has not scored one."""
_ENDPOINT = "python"


class Scorer:
    """Calls a user's judge, once for each different thing that it is given, and keeps what it said.

    Parameters
    ----------
    model
        What it is called.
    adapter
        How it is called.
    settings
        What the user says about it.
    context
        The store, the rate limits, the budget and the executor of its calls.
    threads
        Calls at once, where it is not asynchronous.
    calls
        Makes the calls; default: of `adapter`.
    """

    def __init__(
        self,
        model: str,
        adapter: Adapter,
        settings: JudgeSettings,
        context: RequestContext,
        threads: int,
        calls: Work[Job, object] | None = None,
    ) -> None:
        self.model = model
        self.adapter = adapter
        self.settings = settings
        self._context = context
        self._store = None if settings.version is None else context.store
        self._said: dict[bytes, dict[str, Outcome]] = {}
        self._calls = calls or Caller.of(adapter, at_once(adapter, context, threads)).results
        if settings.version is None:
            logging.getLogger("dhp").warning(
                "%s: its replies are not cached, as `judge_settings.version` is not set; "
                "another run will call it again",
                model,
            )

    def check(self, candidates: Sequence[Candidate]) -> None:
        """Raise `InputError` where a parameter has no field to be given."""
        there = {name for c in candidates for name in fields_of(c)}
        fields = self.fields
        for parameter, field in self.settings.fields.items():
            if field not in there:
                raise InputError(
                    f"{self.model}: `judge_settings.fields` {parameter}={field}: no example has that field; "
                    f"{suggest(field, there)}"
                )
            if parameter not in self.adapter.fields and not self.adapter.takes_further:
                raise InputError(
                    f"{self.model}: `judge_settings.fields` {parameter}={field}: the judge has no such "
                    f"parameter; {suggest(parameter, self.adapter.fields)}"
                )
        for parameter in sorted(self.adapter.required - set(self.settings.fields)):
            if not there & set(fields[parameter]):
                raise InputError(
                    f"{self.model}: parameter '{parameter}': no field of that name; map it by "
                    f"`judge_settings.fields` {parameter}=FIELD; fields: {', '.join(sorted(there))}"
                )
        if not any("output" in names for names in fields.values()):
            raise InputError(
                f"{self.model}: no parameter takes the text under judgement; map one by "
                f"`judge_settings.fields` PARAMETER=output; parameters: {', '.join(fields) or 'none'}"
            )

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """Parameter -> fields of which it is given the first that is there."""
        return {**self.adapter.fields, **{p: (field,) for p, field in self.settings.fields.items()}}

    def outcomes(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, dict[str, Outcome]]]:
        """Each text with what the judge says of it: what is known first, then as calls are done."""
        waiting: dict[bytes, list[Candidate]] = {}
        jobs: list[Job] = []
        for candidate in candidates:
            given = self._arguments(candidate)
            key = key_digest(self.model, _ENDPOINT, self.settings.version, given)
            if (said := self._cached(key)) is not None:
                yield candidate, said
            elif key in waiting:
                waiting[key].append(candidate)
            else:
                waiting[key] = [candidate]
                jobs.append((key, given))
        with Claims(self._store, refresh=self._context.refresh) as claims:
            while jobs:
                free = claims.take([[key] for key, _ in jobs])
                said_now = self._called([job for job, own in zip(jobs, free, strict=True) if own], claims)
                jobs = [job for job, own in zip(jobs, free, strict=True) if not own]
                for key in chain(said_now, self._said_elsewhere(jobs, claims)):
                    for candidate in waiting[key]:
                        yield candidate, self._said[key]
                jobs = [(key, given) for key, given in jobs if key not in self._said]

    def _called(self, jobs: Sequence[Job], claims: Claims) -> Iterator[bytes]:
        """The keys of what is called now, each as soon as the judge has said something."""
        for (key, _), returned in self._context.executor.each(self._calls, self._reserved(jobs)):
            is_error = isinstance(returned, Exception)
            said = {self.name: failed(returned)} if is_error else read_outcomes(returned, self.name)
            claims.end([key], stored=self._keep(key, said))
            yield key

    def _said_elsewhere(self, jobs: Sequence[Job], claims: Claims) -> Iterator[bytes]:
        """The keys of what the judge has said to other commands, which were calling it."""
        if jobs:
            claims.wait(len(jobs), lambda: None)
        yield from (key for key, _ in jobs if self._cached(key) is not None)

    @property
    def name(self) -> str:
        """Name of the metric, if the scorer gives one score."""
        return metric_name(self.adapter.name)

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
        found = self._store.find({0: key}, f"a text by {self.model}")
        if found:
            self._said[key] = from_json(found[0].reply.text)
        return self._said.get(key)

    def _keep(self, key: bytes, outcomes: dict[str, Outcome]) -> bool:
        """Whether what was said is stored, too."""
        self._said[key] = outcomes
        if self._store is None or any(o.status == "failed" for o in outcomes.values()):
            return False
        reply = Reply(as_json(outcomes), "stop", 0, 0, 1)
        self._store.add([row(key, self.model, _ENDPOINT, 0, reply, "")], replace=self._context.refresh)
        return True


def at_once(adapter: Adapter, context: RequestContext, threads: int) -> int:
    """Calls that one process has in flight."""
    return (
        max(1, context.rate_limits.concurrency // context.executor.workers) if adapter.is_async else threads
    )


@dataclass(frozen=True, slots=True)
class _FirstFindings:
    """Metrics and scale of a judge, as found on the first texts."""

    metrics: tuple[str, ...]
    scale: tuple[float, float]


class ObjectJudge(Judge):
    """A user's own judge; what it rates, and on which scale, the first texts tell."""

    takes_settings = True

    def __init__(self, scorer: Scorer, verdicts: bool) -> None:
        self._scorer = scorer
        self._findings: _FirstFindings | None = None
        self._verdicts = verdicts
        settings = scorer.settings
        self.model = scorer.model
        self.protocol = f"pass@{settings.threshold:g}" if verdicts else "none"
        self.settings = {
            "shape": scorer.adapter.shape,
            "scale": None if settings.ends is None else list(settings.ends),
            "lower_is_better": self._lower_is_better,
            "version": settings.version,
            "fields": dict(settings.fields),
        }

    @property
    def _lower_is_better(self) -> bool:
        said = self._scorer.settings.lower_is_better
        return self._scorer.adapter.lower_is_better if said is None else said

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the metrics of the judge, for which the first originals are rated."""
        if self._findings is None:
            self._scorer.check(candidates)
            self._findings = self._inspect(candidates)
        low, high = (0.0, 1.0) if self._verdicts else self._findings.scale
        metrics = [
            Metric(
                name=f"{name}_pass" if self._verdicts else name,
                scale=Scale(min=low, max=high),
                definition=f"{name}, as the judge defines it.",
                steps=["Call it."],
                question=f"What is the {name} of this text?",
                antonym=f"poor {name}",
            )
            for name in self._findings.metrics
        ]
        return task.model_copy(update={"metrics": metrics, "translations": {}})

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric."""
        self._scorer.check(candidates)
        for candidate, outcomes in self._scorer.outcomes(candidates):
            alone = next(iter(outcomes.values())) if len(outcomes) == 1 else None
            for metric in task.metrics:
                key = metric.name.removesuffix("_pass") if self._verdicts else metric.name
                outcome = outcomes.get(key)
                if outcome is None and alone and alone.status != "scored":
                    outcome = alone
                place = (candidate.example, candidate.variant, metric.name, 0)
                yield self._rating(place, outcome or failed(f"returned no '{key}'"))

    def _rating(self, place: tuple[str, str, str, int], outcome: Outcome) -> Rating:
        assert self._findings is not None
        if outcome.value is None:
            return Rating(*place, None, outcome.status, outcome.reason)
        low, high = self._findings.scale
        words = f"{outcome.value:g}" + (f": {outcome.reason}" if outcome.reason else "")
        if not low <= outcome.value <= high:
            return Rating(*place, None, "out_of_scale", words)
        score = low + high - outcome.value if self._lower_is_better else outcome.value
        if self._verdicts:
            threshold = self._scorer.settings.threshold
            assert threshold is not None
            passes = outcome.value <= threshold if self._lower_is_better else outcome.value >= threshold
            score = float(passes)
        return Rating(*place, score, raw=words)

    def _inspect(self, candidates: Sequence[Candidate]) -> _FirstFindings:
        """Metrics and scale by the first originals, which are rated one by one."""
        originals = islice((c for c in candidates if c.variant == ORIGINAL), _TRIED)
        tried: list[Outcome] = []
        for candidate in list(originals) or candidates[:_TRIED]:
            ((_, outcomes),) = self._scorer.outcomes([candidate])
            tried += outcomes.values()
            if scored := [o for o in outcomes.values() if o.status == "scored"]:
                return _FirstFindings(tuple(outcomes), self._scale(scored))
        if any(o.status == "failed" for o in tried):
            reason = next(o.reason for o in tried if o.status == "failed")
            raise InputError(
                f"{self.model}: the judge failed on the first {len(tried)} texts ({reason}); "
                "it is not called again"
            )
        if (scale := self._scorer.settings.ends or self._scorer.adapter.scale) is None:
            raise InputError(
                f"{self.model}: returned no score for the first {len(tried)} texts ({tried[0].reason}); "
                "set `judge_settings.scale` to continue anyway"
            )
        return _FirstFindings((self._scorer.name,), scale)

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
        if settings.threshold is not None and not scale[0] <= settings.threshold <= scale[1]:
            raise InputError(
                f"`judge_settings.threshold` {settings.threshold:g}: lies off the scale of {self.model}; "
                f"allowed: {scale[0]:g} to {scale[1]:g}"
            )
        return scale
