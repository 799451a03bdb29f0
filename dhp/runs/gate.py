"""A gate for runs: how much a judge must detect, and that it lost nothing against an earlier run.

A loss is tested by swapping the two runs' labels example by example: the gate fails only where it is proven
that detection fell by more than the margin, over all variants or in one of them (Holm over all of these). A
judge that samples its answers and did not change therefore passes.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dhp.analysis.results import Result, Results
from dhp.content.damage import variant_name
from dhp.core.errors import InputError
from dhp.core.seeding import key_digest
from dhp.runs.comparable import allowing, check_allowed, differences, same_judge
from dhp.runs.compare import judge_scores, stated_weights
from dhp.runs.reader import RATINGS, RunResult, read_results, read_run
from dhp.stats.compare import averaged
from dhp.stats.detection import detection_influences
from dhp.stats.multiplicity import holm
from dhp.stats.swap import NonInferiority, noninferiority

_SHOWN = {"d_min": "D_min", "d_avg": "D_avg"}
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Gate:
    """What every result of a run must hold.

    Raises
    ------
    InputError
        Without any condition, for one that is not finite or out of range, and for a loss without an earlier
        run or the reverse.
    """

    d_min: float | None = None
    """The least D_min allowed."""
    d_avg: float | None = None
    """The least D_avg allowed."""
    detection: float | None = None
    """The least detection over all variants allowed, in per cent."""
    max_drop: float | None = None
    """Points of detection, 0 to 100, that may be lost against the earlier run."""
    against: Path | None = None
    """Folder of the earlier run, with its ratings."""
    allow: Collection[str] = ()
    """Parts of the signature that may differ from the earlier run; see `dhp.runs.comparable`."""

    def __post_init__(self) -> None:
        check_allowed(self.allow)
        conditions = {
            "`d_min`": self.d_min,
            "`d_avg`": self.d_avg,
            "`detection`": self.detection,
            "`max_drop`": self.max_drop,
        }
        for option, value in conditions.items():
            if value is not None and not abs(value) < float("inf"):
                raise InputError(f"{option} {value}: must be a finite number")
        for option in ("`detection`", "`max_drop`"):
            if (value := conditions[option]) is not None and not 0 <= value <= 100:
                raise InputError(f"{option} {value:g}: allowed: 0 to 100, in per cent")
        if (self.max_drop is None) != (self.against is None):
            raise InputError("`max_drop` and `against`: belong together; give both or neither")
        if all(value is None for value in conditions.values()):
            raise InputError(f"there is no condition; allowed: {', '.join(conditions)}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a run passed."""

    met: bool
    """Whether every condition held."""
    line: str
    """What held, or all that did not: dataset, model, figure."""
    doubts: tuple[str, ...]
    """What makes figures of the run doubtful, passed or not."""


def check_run(folder: str | Path, gate: Gate) -> Verdict:
    """Hold a gate against every result of a run.

    An undefined figure does not pass. Two runs are compared by dataset and name of the protocol, across edits
    of its prompts and settings; by model too where a run has several models, as otherwise the judge before
    and the judge after may bear different names. What neither fell nor held beyond doubt is `undecided`, and
    passes. Without an earlier run a results file is enough.

    Raises
    ------
    InputError
        For a folder that holds no run, one with doses, whose averages mean nothing, an earlier run that
        lacks a result or differs in data, number of examples, suite, method, metrics, weights or statistics,
        one with a dataset that the run lacks, runs without ratings where a loss is asked about, and a run
        that stopped early where more is asked of it than D_min >= 1.
    """
    return check_results(_averaged(folder), gate, folder)


def check_results(results: Results, gate: Gate, folder: str | Path = "the run") -> Verdict:
    """Hold a gate against results; `folder` is what they are called in messages. See `check_run`."""
    _check_stopped(folder, results, gate)
    broken = [line for r in results for line in _broken(r, gate)]
    undecided: list[str] = []
    if gate.against is not None:
        pairs = _pairs(folder, results, gate.against, gate.allow)
        lost, undecided = _losses(pairs, folder, gate)
        broken += lost
    doubts = tuple(f"{_name(r)}: {warning}" for r in results for warning in r.warnings)
    said = dict.fromkeys(broken or [*_held(results, gate), *undecided, _counted(results)])
    return Verdict(not broken, f"{'not met' if broken else 'met'}: {'; '.join(said)}", doubts)


def _check_stopped(folder: str | Path, results: Results, gate: Gate) -> None:
    """Of a variant that was resolved early D tells whether it is at least 1, and no more."""
    early = [r for r in results if any(row.stopped_at is not None for row in r.variants)]
    if early and (gate.d_avg is not None or gate.max_drop is not None or (gate.d_min or 0.0) > 1):
        raise InputError(
            f"{folder}: {_name(early[0])}: stopped early, so that D tells only whether it is at least 1; "
            "allowed: `d_min` of at most 1, or runs without `stop_when_resolved`"
        )


def _averaged(place: str | Path) -> Results:
    """The results of a run, by its folder or its results file."""
    results = read_results(Path(place)) if Path(place).is_file() else read_run(place).results
    if dosed := [r for r in results if r.curves]:
        raise InputError(
            f"{place}: {_name(dosed[0])}: is a run with doses, its averages mean nothing; "
            "allowed: runs without `doses`"
        )
    return results


def _broken(result: Result, gate: Gate) -> Iterator[str]:
    for figure, least in (("d_min", gate.d_min), ("d_avg", gate.d_avg)):
        if least is None:
            continue
        d: float | None = getattr(result, figure)
        worst = result.d_min_variant if figure == "d_min" and d is not None else None
        of = f" ({variant_name(worst)})" if worst else ""
        if d is None or d < least:
            below = "is undefined" if d is None else f"= {d:.4g}{of} is below {least:g}"
            yield f"{_name(result)}: {_SHOWN[figure]} {below}"
    if gate.detection is not None:
        value = _detection(result)
        if value is None or value * 100 < gate.detection:
            below = "is undefined" if value is None else f"{value * 100:.1f} % is below {gate.detection:g} %"
            yield f"{_name(result)}: detection {below}"


def _pairs(
    folder: str | Path, results: Results, place: Path, allow: Collection[str]
) -> list[tuple[Result, Result]]:
    """Each result with that of the same judge in the earlier run at `place`."""
    earlier = _averaged(place)
    models = any(len({r.model for r in run}) > 1 for run in (results, earlier))

    def alike(one: Result, others: Sequence[Result]) -> list[Result]:
        found = [r for r in others if same_judge(one, r, models=models, allow=allow)]
        return sorted(found, key=lambda r: r.protocol != one.protocol)

    pairs = [(r, _counterpart(r, alike(r, earlier), place, models, allow)) for r in results]
    for old in earlier:
        mine = alike(old, results) or list(results)
        if all(r.dataset != old.dataset for r in mine):
            raise InputError(
                f"{folder}: lacks dataset '{old.dataset}', on which {place} has a result; "
                "allowed: a run of all datasets of the earlier one"
            )
    return pairs


def _counterpart(
    result: Result, earlier: Sequence[Result], place: Path, models: bool, allow: Collection[str]
) -> Result:
    alike = [r for r in earlier if r.dataset == result.dataset]
    if not alike:
        model = f" by model '{result.model}'" if models else ""
        raise InputError(
            f"{place}: holds no result on '{result.dataset}' under protocol '{result.protocol}'{model}; "
            f"allowed: a run of the same datasets and protocols{allowing('protocol', allow)}"
        )
    for part, (here, there) in differences(result, alike[0], {"protocol", *allow}).items():
        raise InputError(
            f"{place}: dataset '{result.dataset}': {part} differs, '{there}' there and '{here}' in the "
            f"run; allowed: runs that agree in it{allowing(part, allow)}"
        )
    return alike[0]


def _losses(
    pairs: Sequence[tuple[Result, Result]], folder: str | Path, gate: Gate
) -> tuple[list[str], list[str]]:
    """What was lost beyond doubt, and what is not known or held."""
    against, allowed = str(gate.against), gate.max_drop or 0.0
    rated = [(_rated(folder, new), _rated(against, old)) for new, old in pairs]
    tests = [_tested(new, old, allowed / 100) for new, old in rated]
    adjusted = np.exp(holm(np.log(np.concatenate([test.p_inferior for _, test in tests])))).tolist()
    lost, others = [], []
    for (new, _), (names, test) in zip(rated, tests, strict=True):
        p_values, adjusted = adjusted[: len(names)], adjusted[len(names) :]
        judge, overall = _name(new.result), 100 * float(test.difference[0])
        fallen = [
            f"{judge}: {name} fell by {-100 * apart:.1f} points, more than {allowed:g} (p = {p:.2g})"
            for name, apart, p in zip(names, test.difference.tolist(), p_values, strict=True)
            if p <= _ALPHA
        ]
        if np.isnan(overall):
            lost.append(f"{judge}: detection is undefined in one of the runs")
        lost += fallen
        change = f"{judge}: detection {overall:+.1f} points against {against}"
        if test.p_noninferior[0] <= _ALPHA:
            others.append(f"{change}, no loss of {allowed:g}")
        else:
            others.append(f"undecided: {change}, a loss of {allowed:g} is neither proven nor ruled out")
    return lost, others


def _rated(place: str | Path, result: Result) -> RunResult:
    """A result with its ratings."""
    folder = Path(place).parent if Path(place).is_file() else Path(place)
    if not (folder / RATINGS).exists():
        raise InputError(f"{place}: `max_drop` needs the ratings of both runs; allowed: run folders")
    key = (result.model, result.protocol, result.dataset)
    rated = read_run(folder).rated
    return next(e for e in rated if (e.result.model, e.result.protocol, e.result.dataset) == key)


def _tested(new: RunResult, old: RunResult, margin: float) -> tuple[list[str], NonInferiority]:
    """The names of the figures, detection over all variants first, and the test of each."""
    levels = {v.variant: v.level for v in new.result.variants}
    (mine, theirs), clusters = judge_scores(new.result.dataset, [new, old], list(levels))
    lacking = np.isnan(mine.differences) | np.isnan(theirs.differences)
    figures = [
        averaged(
            detection_influences(np.where(lacking, np.nan, judge.differences)),
            list(levels.values()),
            stated_weights(new),
            each=True,
        )
        for judge in (mine, theirs)
    ]
    rng = np.random.default_rng(int.from_bytes(key_digest(new.ratings.digest, old.ratings.digest, "gate")))
    names = ["detection", *map(variant_name, levels)]
    return names, noninferiority(figures[0], figures[1], margin, rng, clusters)


def _held(results: Results, gate: Gate) -> Iterator[str]:
    for figure, least in (("d_min", gate.d_min), ("d_avg", gate.d_avg)):
        if least is not None:
            lowest, place = min((float(getattr(r, figure)), _name(r)) for r in results)
            yield f"{_SHOWN[figure]} is {least:g} or more, the smallest {lowest:.4g} ({place})"
    if gate.detection is not None:
        lowest, place = min((_detection(r) or 0.0, _name(r)) for r in results)
        yield f"detection is {gate.detection:g} % or more, the smallest {lowest * 100:.1f} % ({place})"


def _counted(results: Results) -> str:
    return f"{len(results)} result{'s' if len(results) > 1 else ''}"


def _detection(result: Result) -> float | None:
    return None if result.detection is None else result.detection.avg


def _name(result: Result) -> str:
    return ", ".join((result.dataset, result.model, *([result.protocol] if result.asked else [])))
