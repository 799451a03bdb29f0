"""A gate for runs: how much a judge must discern, and how far it may fall below an earlier run."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.analysis.results import Result, Results
from dhp.core.errors import InputError
from dhp.runs.comparable import allowing, check_allowed, differences, same_judge
from dhp.runs.reader import read_results, read_run

_SHOWN = {"d_min": "D_min", "d_avg": "D_avg"}


@dataclass(frozen=True, slots=True)
class Gate:
    """What every result of a run must hold.

    Raises
    ------
    InputError
        Without any condition, for one that is not finite or a negative fall, and for a fall without an
        earlier run or the reverse.
    """

    d_min: float | None = None
    """The least D_min allowed."""
    d_avg: float | None = None
    """The least D_avg allowed."""
    max_drop: float | None = None
    """How far D_min and D_avg may each fall below those of the earlier run, 0 or more."""
    against: Path | None = None
    """Folder of the earlier run, or its results file."""
    allow: Collection[str] = ()
    """Parts of the signature that may differ from the earlier run; see `dhp.runs.comparable`."""

    def __post_init__(self) -> None:
        check_allowed(self.allow)
        conditions = {"`d_min`": self.d_min, "`d_avg`": self.d_avg, "`max_drop`": self.max_drop}
        for option, value in conditions.items():
            if value is not None and not abs(value) < float("inf"):
                raise InputError(f"{option} {value}: must be a finite number")
        if self.max_drop is not None and self.max_drop < 0:
            raise InputError(f"`max_drop` {self.max_drop}: allowed: 0 or more")
        if (self.max_drop is None) != (self.against is None):
            raise InputError("`max_drop` and `against`: belong together; give both or neither")
        if all(value is None for value in conditions.values()):
            raise InputError(f"there is no condition; allowed: {', '.join(conditions)}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a run passed."""

    met: bool
    line: str
    """What held, or all that did not: dataset, model, figure."""
    doubts: tuple[str, ...]
    """What makes figures of the run doubtful, passed or not."""


def check_run(folder: str | Path, gate: Gate) -> Verdict:
    """Hold a gate against every result of a run.

    An undefined D does not pass. Two runs are compared by dataset and name of the protocol, across edits of
    its prompts and settings; by model too where a run has several models, as otherwise the judge before and
    the judge after may bear different names. Either run is named by its folder or its results file.

    Raises
    ------
    InputError
        For a folder that holds no run, one with doses, whose averages mean nothing, an earlier run that
        lacks a result or differs in data, number of examples, suite, method, metrics, weights or statistics,
        one with a dataset that the run lacks, and a run that stopped early where more is asked of it than
        D_min >= 1.
    """
    results = _averaged(folder)
    _check_stopped(folder, results, gate)
    broken = [line for r in results for line in _broken(r, gate)]
    if gate.against is not None:
        pairs = _pairs(folder, results, gate.against, gate.allow)
        broken += [line for new, old in pairs for line in _fallen(new, old, gate.max_drop or 0.0)]
    doubts = tuple(f"{_name(r)}: {warning}" for r in results for warning in r.warnings)
    said = dict.fromkeys(broken or _held(results, gate))
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
        of = f" of {result.d_min_variant}" if figure == "d_min" and d is not None else ""
        if d is None or d < least:
            below = "is undefined" if d is None else f"= {d:.4g}{of} is below {least:g}"
            yield f"{_name(result)}: {_SHOWN[figure]} {below}"


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


def _fallen(new: Result, old: Result, allowed: float) -> Iterator[str]:
    for figure, shown in _SHOWN.items():
        after, before = getattr(new, figure), getattr(old, figure)
        if after is None or before is None:
            yield f"{_name(new)}: {shown} is undefined{'' if after is None else ' in the earlier run'}"
        elif before - after > allowed:
            yield (
                f"{_name(new)}: {shown} fell by {before - after:.4g} from {before:.4g} to {after:.4g}, "
                f"more than {allowed:g}"
            )


def _held(results: Results, gate: Gate) -> Iterator[str]:
    for figure, least in (("d_min", gate.d_min), ("d_avg", gate.d_avg)):
        if least is not None:
            lowest, place = min((float(getattr(r, figure)), _name(r)) for r in results)
            yield f"{_SHOWN[figure]} is {least:g} or more, the smallest {lowest:.4g} ({place})"
    if gate.max_drop is not None:
        yield f"D_min and D_avg fell by at most {gate.max_drop:g} against {gate.against}"
    yield f"{len(results)} result{'s' if len(results) > 1 else ''}"


def _name(result: Result) -> str:
    return ", ".join((result.dataset, result.model, *([result.protocol] if result.asked else [])))
