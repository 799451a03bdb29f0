"""Gates: whether every result of a run is good enough, also against an earlier run.

Limits are read off the intervals that every page prints: a limit is met where the lower end of the interval
reaches it, not met where the upper end lies below it, and else undecided. A loss is tested by swapping the
labels of the two runs example by example: met where a loss of the margin is ruled out, not met where it is
proven that detection fell by more, over all kinds of damage or of one of them (Holm over all of these).
A shift of level is read off intervals that hold for all metrics and results together.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Literal

import numpy as np

from dhp.analysis.results import Ends, Result, Results, VariantResult
from dhp.content.catalog import named_kinds, variant_name
from dhp.core.errors import InputError
from dhp.core.options import as_list, keywords_of
from dhp.core.seeding import key_digest
from dhp.core.verdicts import FAINT, FALSE_ALARM, NOTICED, UNDECIDED
from dhp.runs.compare import allowing, check_alike, differences, judge_scores, same_judge
from dhp.runs.conditions import Gate
from dhp.runs.reader import Run, RunResult, RunSource, open_run, read_results
from dhp.stats.arrays import Floats, Ints
from dhp.stats.compare import in_common
from dhp.stats.detection import examples_to_separate
from dhp.stats.discernment import holm
from dhp.stats.influences import mean_influences, student_interval
from dhp.stats.swap import NonInferiority, detection_pairs, noninferiority


@dataclass(frozen=True, slots=True)
class LevelShift:
    """The shift of one metric."""

    metric: str
    """Name of the metric."""
    points: float | None
    """Mean score in the run less that in the earlier run, in points of the metric's scale, on the texts that
    both scored; each example counts once. None where there is no such text."""
    ci: tuple[float, float] | None
    """Student's interval over examples, or over clusters of them; None for fewer than two."""
    n: int
    """Number of examples."""


def alike(new: RunResult, old: RunResult) -> bool:
    """Whether scores of both are grades on the same scale."""
    graded = all(each.result.statistics != "sign-flip" for each in (new, old))
    return graded and new.result.signed.metrics == old.result.signed.metrics


def level_shifts(new: RunResult, old: RunResult, intervals: int) -> list[LevelShift]:
    """The shift of each metric between two runs of a judge on the same examples.

    Both results have ratings of the same original and degraded texts. `intervals` is the number of intervals
    that are to hold together at 95 % (Bonferroni).
    """
    variants = [row.variant for row in new.result.variants]
    (mine, theirs), clusters = judge_scores([new, old], variants)
    change = np.concatenate([mine.original[:, None], mine.degraded], axis=1)
    change -= np.concatenate([theirs.original[:, None], theirs.degraded], axis=1)
    metrics = new.ratings.metrics
    return [_shift_of(name, change[..., m], clusters, intervals) for m, name in enumerate(metrics)]


def _shift_of(metric: str, change: Floats, clusters: Ints | None, intervals: int) -> LevelShift:
    """From changes of shape (examples, texts), NaN where a text lacks a score."""
    texts = (~np.isnan(change)).sum(axis=1)
    mean = mean_influences(np.where(texts > 0, np.nansum(change, axis=1) / np.maximum(texts, 1), np.nan))
    n = int(mean.there.sum())
    if not n:
        return LevelShift(metric, None, None, 0)
    low, high = map(float, student_interval(mean, clusters, 1 - 0.05 / intervals))
    return LevelShift(metric, float(mean.value), None if np.isnan(low) else (low, high), n)


State = Literal["met", "undecided", "not met"]
Finding = tuple[State, str, str]
"""What became of one condition, of which result, and in words."""
_SHOWN = 5  # findings shown of one result and state
_ALPHA = 0.05
_DEVIATE = 1.6448536269514722  # of a one-sided test at 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a run passed."""

    state: State
    """`met` where every condition holds, `not met` where one does not, else `undecided`."""
    passed: bool
    """Whether it is met, or undecided where no proof is required."""
    line: str
    """Conditions that held, or all that did not: dataset, model, figure."""
    doubts: tuple[str, ...]
    """Reasons to doubt figures of the run, whether it passed or not."""
    results: Results
    """What was checked."""
    checks: "Mapping[str, tuple[Finding, ...]]"
    """Condition, by the name of its option or `false alarms` -> what became of it; a result that meets it may
    have no finding."""
    shifts: Mapping[str, tuple[LevelShift, ...]]
    """Name of a result -> shift of level of each metric against the earlier run, where there is one."""


@dataclass(frozen=True, slots=True)
class GateSpec(Gate):
    """What `gate` is asked: a run, and the conditions, fields as in `Gate`."""

    run: RunSource
    """Folder of a finished run, its results file, or its results."""


@keywords_of(GateSpec)
def gate(spec: GateSpec) -> Outcome:
    """Whether every result of a run is good enough, with the line that says why; as `dhp gate`.

    Parameters
    ----------
    run
        Folder of a finished run, its results file, or its results.
    detection
        The least detection allowed, in per cent.
    must_notice
        Kinds of damage that must be noticed, e.g. `typos, minor`, or `all`.
    against
        An earlier run, in one of these forms.
    max_drop, max_shift
        The points of detection, 0 to 100, that a judge may lose against it, and the points of its scale by
        which a metric's mean score of the same texts may be higher or lower.
    allow
        Parts of the signature that may differ from the earlier run: `protocol`, `metrics`.
    require_proof, ignore_controls
        Whether what is undecided fails too, and whether a judge with a false alarm may pass.

    Raises
    ------
    InputError
        Without any condition, and for runs that do not compare; see `dhp.runs.gate.check_run`.
    """
    return check_run(spec.run, spec)


def check_run(source: RunSource, gate: Gate) -> Outcome:
    """Hold a gate against every result of a run.

    A figure that is undefined is not met, and neither is any gate where harmless edits are a false alarm. Two
    runs are compared by dataset and name of the protocol, across edits of its prompts and settings; by model
    too where a run has several models, as otherwise the judge before and the judge after may bear different
    names. Without an earlier run a results file is enough. Raises `InputError` for a folder that holds no
    run, one with doses, whose averages mean nothing, a kind of damage that was not run, an earlier run that
    lacks a result or differs in data, number of examples, suite, method, metrics, weights or statistics, one
    with a dataset that the run lacks, and, where a loss is asked about, runs without ratings and a run that
    stopped early.
    """
    run = _averaged(source, "the results")
    results = run.results
    demanded = _demanded(results, as_list(gate.must_notice))
    checks: dict[str, Iterable[Finding]] = {}
    if not gate.ignore_controls:
        checks["false alarms"] = [f for r in results for f in _false_alarms(r)]
    if gate.detection is not None:
        checks["min-detection"] = _detections(results, gate.detection)
    if demanded:
        checks["must-notice"] = _noticed(results, demanded)
    shifts: dict[str, tuple[LevelShift, ...]] = {}
    if gate.against is not None:
        _check_stopped(run)
        earlier = _averaged(gate.against, "the earlier results")
        pairs = _pairs(run, earlier, as_list(gate.allow))
        if gate.max_drop is not None:
            checks["max-drop"] = _losses(pairs, earlier.name, gate.max_drop)
        shifts = _shifts(pairs)
        if gate.max_shift is not None:
            _check_scales(pairs, earlier.name)
            checks["max-shift"] = _shifted(shifts, gate.max_shift)
    found = {check: tuple(each) for check, each in checks.items()}
    findings = [finding for each in found.values() for finding in each]
    states = {state for state, _, _ in findings}
    state: State = "not met" if "not met" in states else "undecided" if "undecided" in states else "met"
    said = _in_words(finding for finding in findings if finding[0] == state)
    if state == "met":
        said.append(f"{len(results)} result{'s' if len(results) > 1 else ''}")
    if shifts:
        said.append(_moved(shifts))
    doubts = tuple(f"{result_name(r)}: {warning}" for r in results for warning in r.warnings)
    passed = state == "met" or (state == "undecided" and not gate.require_proof)
    return Outcome(state, passed, f"{state}: {'; '.join(said)}", doubts, results, found, shifts)


def _averaged(source: RunSource, name: str) -> Run:
    """A run by its folder, its results file, or its results, which messages call `name`."""
    if not isinstance(source, Results) and (path := Path(source)).is_file():
        run = Run(path.parent, read_results(path), str(path))
    else:
        run = open_run(source, name)
    if dosed := [r for r in run.results if r.curves]:
        raise InputError(
            f"{run.name}: {result_name(dosed[0])}: is a run with doses, its averages mean nothing; "
            "allowed: runs without `doses`"
        )
    return run


def _in_words(findings: Iterable[Finding]) -> list[str]:
    """The findings in words, those of one result together."""
    by_result: dict[str, list[str]] = {}
    for _, name, words in findings:
        by_result.setdefault(name, []).append(words)
    said = []
    for name, each in by_result.items():
        more = [f"and {len(each) - _SHOWN} more"] if len(each) > _SHOWN else []
        said.append(f"{name}: {'; '.join([*each[:_SHOWN], *more])}")
    return said


def _check_stopped(run: Run) -> None:
    early = [r for r in run.results if any(row.stopped_at is not None for row in r.variants)]
    if early:
        raise InputError(
            f"{run.name}: {result_name(early[0])}: stopped early, so that it compares with no other run; "
            "allowed: `detection`, `must_notice`, or runs without `stop_when_resolved`"
        )


def _demanded(results: Results, names: Iterable[str]) -> list[str]:
    """The variants that must be noticed; raises `InputError` for one that no result has."""
    variants = dict.fromkeys(row.variant for r in results for row in r.variants)
    try:
        return [variant for each in names for variant in named_kinds(each, list(variants))]
    except InputError as e:
        raise InputError(f"`must_notice` {e}") from None


def _false_alarms(result: Result) -> Iterator[Finding]:
    for row in result.controls:
        if row.verdict is FALSE_ALARM:
            yield "not met", result_name(result), _kind(row)


def _detections(results: Results, least: float) -> Iterator[Finding]:
    """Detection of each result below the limit, and the lowest detection that reaches it."""
    held = []
    for result in results:
        value, ends = result.detection.avg, result.detection.ci["avg"]
        if value is None or ends is None:
            yield "not met", result_name(result), "detection is undefined, no kind of damage has five pairs"
            continue
        said = f"detection {_figure(value, ends)}"
        if _points(ends[1]) < least:
            yield "not met", result_name(result), f"{said} is below {least:g} %"
        elif _points(ends[0]) < least:
            n = examples_to_separate(result.n, value, *ends, least / 100)
            yield "undecided", result_name(result), f"{said} may or may not reach {least:g} %, {_decides(n)}"
        else:
            held.append((ends[0], result_name(result), said))
    if held:
        _, name, said = min(held)
        yield "met", name, f"{said}, {least:g} % or more{' in all' * (len(results) > 1)}"


def _noticed(results: Results, demanded: Collection[str]) -> Iterator[Finding]:
    """Each kind that is not noticed, and the noticed kind with the lowest detection."""
    held = []
    for result, row in ((r, row) for r in results for row in r.variants if row.variant in demanded):
        name, said = result_name(result), _kind(row)
        if row.verdict is NOTICED:
            held.append((row.detection or 0.0, name, said))
        elif not row.n:
            yield "not met", name, f"{variant_name(row.variant)} has no pair of scores"
        elif row.verdict is UNDECIDED:
            yield "undecided", name, f"{said}, {_decides(row.n_to_decide)}"
        elif row.detection is None or row.detection_ci is None or row.detection_ci[1] < result.floor:
            yield "not met", name, said
        elif row.verdict is FAINT:
            n = examples_to_separate(result.n, row.detection, *row.detection_ci, result.floor)
            yield "undecided", name, f"{said}, {_decides(n)}"
        else:
            yield "undecided", name, said
    if held:
        _, name, said = min(held)
        yield "met", name, f"{said}{f', the lowest of {len(held)} kinds noticed' if len(held) > 1 else ''}"


def _pairs(run: Run, earlier: Run, allow: Collection[str]) -> list[tuple[RunResult, RunResult]]:
    """Each result with that of the same judge in the earlier run."""
    models = any(len({r.model for r in each.results}) > 1 for each in (run, earlier))

    def same(one: RunResult, others: Sequence[RunResult]) -> list[RunResult]:
        found = [r for r in others if same_judge(one.result, r.result, models=models, allow=allow)]
        return sorted(found, key=lambda r: r.result.protocol != one.result.protocol)

    pairs = []
    for new in run.rated:
        result = new.result
        old = next((r for r in same(new, earlier.rated) if r.result.dataset == result.dataset), None)
        if old is None:
            model = f" by model '{result.model}'" if models else ""
            raise InputError(
                f"{earlier.name}: holds no result on '{result.dataset}' under protocol '{result.protocol}'"
                f"{model}; allowed: a run of the same datasets and protocols{allowing('protocol', allow)}"
            )
        check_alike(new, old, differences(result, old.result, allow), allow)
        pairs.append((new, old))
    for old in earlier.rated:
        mine = same(old, run.rated) or run.rated
        if all(r.result.dataset != old.result.dataset for r in mine):
            raise InputError(
                f"{run.name}: lacks dataset '{old.result.dataset}', on which {earlier.name} has a result; "
                "allowed: a run of all datasets of the earlier one"
            )
    return pairs


def _shifts(pairs: Sequence[tuple[RunResult, RunResult]]) -> dict[str, tuple[LevelShift, ...]]:
    """The shifts of all results whose scores are on one scale in both runs."""
    comparable = [(new, old) for new, old in pairs if alike(new, old)]
    intervals = sum(len(new.ratings.metrics) for new, _ in comparable)
    return {result_name(n.result): tuple(level_shifts(n, old, intervals)) for n, old in comparable}


def _check_scales(pairs: Sequence[tuple[RunResult, RunResult]], against: str) -> None:
    if unlike := [new.result for new, old in pairs if not alike(new, old)]:
        raise InputError(
            f"{against}: {result_name(unlike[0])}: `max_shift` compares scores; allowed: judges "
            "that rate texts, by metrics of the same scales and definitions"
        )


def _shifted(shifts: Mapping[str, Sequence[LevelShift]], allowed: float) -> Iterator[Finding]:
    """Of each result whether its levels stayed within the limit, by the metric that decides it."""
    intervals = sum(map(len, shifts.values()))
    held = []
    for name, each in shifts.items():
        states: dict[State, list[tuple[float, str]]] = {}
        for shift in each:
            state, words = _within(shift, allowed, intervals)
            states.setdefault(state, []).append((abs(shift.points or 0.0), words))
        worst: State = next(state for state in ("not met", "undecided", "met") if state in states)
        size, words = max(states[worst])
        if worst == "met":
            held.append((size, name, words))
            continue
        others = len(states[worst]) - 1
        yield worst, name, f"{words}{f'; and {others} more of its metrics' if others else ''}"
    if held:
        _, name, words = max(held)
        yield "met", name, words


def _within(shift: LevelShift, allowed: float, intervals: int) -> tuple[State, str]:
    """Whether a level stayed within the limit, and in words."""
    if shift.points is None or shift.ci is None:
        return "not met", f"shift of {shift.metric} is undefined, fewer than two examples have scores"
    # Float noise beside a limit decides nothing.
    value, low, high = (round(each, 9) for each in (shift.points, *shift.ci))
    words = f"level of {_shift(shift)}"
    if low > allowed or high < -allowed:
        return "not met", f"{words}, more than {allowed:g}"
    if -allowed <= low and high <= allowed:
        return "met", f"{words}, within {allowed:g}"
    line = allowed if value > 0 else -allowed
    errors = NormalDist().inv_cdf(1 - 0.025 / intervals)  # standard errors from a shift to its limits, about
    n = examples_to_separate(shift.n, value, low, high, line, (errors, errors))
    return "undecided", f"{words} may or may not be within {allowed:g}, {_decides(n)}"


def _moved(shifts: Mapping[str, Sequence[LevelShift]]) -> str:
    """The metrics whose level moved; where none did, how far one may have."""
    known = [(name, s, s.ci) for name, each in shifts.items() for s in each if s.ci is not None]
    if not known:
        return "shift of level unknown"
    moved = [(name, shift) for name, shift, (low, high) in known if low > 0 or high < 0]
    if not moved:
        most = max(max(abs(low), abs(high)) for *_, (low, high) in known)
        return f"no level moved, by {most:.2f} points at most"
    if len(moved) <= _SHOWN:
        words: list[Finding] = [("met", name, _shift(shift)) for name, shift in moved]
        return f"level moved on the same texts: {'; '.join(_in_words(words))}"
    name, shift = max(moved, key=lambda each: abs(each[1].points or 0.0))
    count = f"{len(moved)} of {len(known)} metrics"
    return f"level moved on the same texts by {count}, farthest {name}: {_shift(shift)}"


def _shift(shift: LevelShift) -> str:
    """A shift with its interval: `coherence -0.40 points (-0.48 to -0.32)`."""
    ends = "" if shift.ci is None else " ({:+z.2f} to {:+z.2f})".format(*shift.ci)
    return f"{shift.metric} {shift.points:+z.2f} points{ends}"


def _losses(rated: Sequence[tuple[RunResult, RunResult]], against: str, allowed: float) -> Iterator[Finding]:
    """Significant losses; else whether a loss is ruled out or unknown."""
    tests = [_tested(new, old, allowed / 100) for new, old in rated]
    adjusted = np.exp(holm(np.log(np.concatenate([test.p_inferior for _, test in tests])))).tolist()
    for (new, _), (names, test) in zip(rated, tests, strict=True):
        p_values, adjusted = adjusted[: len(names)], adjusted[len(names) :]
        judge, overall, error = result_name(new.result), float(test.difference[0]), float(test.error[0])
        for name, apart, p in zip(names, test.difference.tolist(), p_values, strict=True):
            if p <= _ALPHA:
                fell = f"{name} fell by {-100 * apart:.1f} points, more than {allowed:g} (p = {p:.2g})"
                yield "not met", judge, fell
        if np.isnan(overall):
            yield "not met", judge, "detection is undefined, no kind of damage has five pairs in both runs"
            continue
        change = f"detection {100 * overall:+.1f} points against {against}"
        if test.p_noninferior[0] <= _ALPHA:
            yield "met", judge, f"{change}, no loss of {allowed:g}"
        else:
            ends, line = (overall - _DEVIATE * error, overall + _DEVIATE * error), -allowed / 100
            n = examples_to_separate(new.result.n, overall, *ends, line, (_DEVIATE, _DEVIATE))
            doubt = f"a loss of {allowed:g} is neither proven nor ruled out, {_decides(n)}"
            yield "undecided", judge, f"{change}, {doubt}"


def _tested(new: RunResult, old: RunResult, margin: float) -> tuple[list[str], NonInferiority]:
    """The names of the figures, detection over all kinds of damage first, and the test of each."""
    levels = {v.variant: v.level for v in new.result.variants}
    scores, clusters = judge_scores([new, old], list(levels))
    rng = np.random.default_rng(int.from_bytes(key_digest(new.ratings.digest, old.ratings.digest, "gate")))
    mine, theirs = (judge.differences for judge in in_common(scores))
    both = next(detection_pairs([mine, theirs], list(levels.values()), clusters))
    return ["detection", *map(variant_name, levels)], noninferiority(*both, margin, rng, clusters)


def _kind(row: VariantResult) -> str:
    """A kind of damage, or a control, with its verdict and detection."""
    a = "a " if row.verdict is FALSE_ALARM else ""
    return f"{variant_name(row.variant)} is {a}{row.verdict}, {_figure(row.detection, row.detection_ci)}"


def _points(share: float) -> float:
    """The value in per cent with one decimal, as printed: the printed value decides."""
    return round(100 * share, 1)


def _figure(value: float | None, ends: Ends) -> str:
    interval = "" if ends is None else f" ({_points(ends[0]):.1f}–{_points(ends[1]):.1f})"
    return "undefined" if value is None else f"{_points(value):.1f} %{interval}"


def _decides(n: int | None) -> str:
    return "no number of texts up to 100,000 would decide" if n is None else f"{n:,} texts would decide"


def result_name(result: Result) -> str:
    """Dataset, model and, where there is one, protocol."""
    return ", ".join((result.dataset, result.model, *([result.protocol] if result.asked else [])))
