"""What stands on a leaderboard: results from run folders and results files, one for each judge and data."""

import datetime as dt
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.comparing import PARTS
from dhp.content import DATASETS, read_card, read_suite, read_task, task_names
from dhp.errors import InputError
from dhp.files import reason
from dhp.ratings import Group
from dhp.report.notes import notes
from dhp.results import Result, Results
from dhp.runs import RATINGS, RESULTS, Run, read_results, read_run
from dhp.seeding import text_hash

ALIKE = tuple(part for part in PARTS if part != "protocol")
"""Parts of the signature that results of one table share."""
_BILLIONS = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.I)
_MILLIONS = re.compile(r"(?<![a-z0-9.])(\d+)m(?![a-z0-9])", re.I)

_LARGEST = 1e6
"""A D far beyond what any number of examples gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One result, with its ratings where they are at hand."""

    place: str
    """The file or folder it is from, for messages."""
    result: Result
    group: Group | None = None

    @property
    def kind(self) -> tuple[str, ...]:
        """The parts of the signature that results of one table share: `ALIKE`, empty if not there."""
        return tuple(self.result.signed.get(part, "") for part in ALIKE)

    @property
    def key(self) -> tuple[str, ...]:
        """What no two results of a board share: judge, way of asking, data and analysis."""
        return (self.result.model, self.result.protocol, *self.kind)

    @property
    def provider(self) -> str:
        """The model's name before its first `/`; `unknown` without one."""
        before, slash, _ = self.result.model.partition("/")
        return before if slash and before else "unknown"

    @property
    def size(self) -> float | None:
        """Billions of parameters by the model's name: 7B, 0.5b, 135M, 8x7B (which is 56); None without."""
        name = self.result.model.partition("?")[0]
        if found := _BILLIONS.search(name):
            return int(found[1] or 1) * float(found[2])
        found = _MILLIONS.search(name)
        return int(found[1]) / 1000 if found else None

    @property
    def cost(self) -> float | None:
        """Money per 1,000 judgements asked for, in the currency of the run's prices; None without prices."""
        asked = self.result.ratings.get("asked", 0)
        return None if self.result.cost is None or asked < 1 else self.result.cost / asked * 1000

    @property
    def created(self) -> dt.datetime:
        """When it was computed."""
        found = dt.datetime.fromisoformat(self.result.created)
        return found if found.tzinfo else found.replace(tzinfo=dt.UTC)

    @property
    def task(self) -> str:
        """The task of the suite or dataset, or the one with these metrics; `unknown` if there is none."""
        suite = self.result.signed.get("suite", "").partition("@")[0]
        dataset = self.result.dataset.removeprefix("mini/")
        if suite in DATASETS:
            return read_suite(suite).task
        if dataset in DATASETS:
            return read_card(dataset).task
        metrics = {metric for v in self.result.variants for metric in v.metrics}
        return next((t for t in task_names() if set(read_task(t).metric_names) == metrics), "unknown")


def read_entries(paths: Iterable[str | Path]) -> list[Entry]:
    """The results in run folders, results files and boards (folders of results files).

    Of two results of one judge on the same data the newer is taken, with a warning that says so.

    Raises
    ------
    InputError
        For no path, a folder that holds no run and no results file, a file of another version or with
        figures that are no numbers, and ratings that are not those of the results beside them.
    """
    entries = [entry for path in paths for entry in _read(Path(path))]
    if not entries:
        raise InputError("no run is given; allowed: run folders, results files or folders of them")
    return newest(entries)


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, of those with the same key the one that was created last; the others are warned of.

    Of the same result twice the one with ratings is taken, without a word.
    """
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        first = kept.setdefault(entry.key, entry)
        if first.result == entry.result:
            kept[entry.key] = first if first.group is not None else entry
            continue
        older, newer = (entry, first) if entry.created <= first.created else (first, entry)
        kept[entry.key] = newer
        warnings.warn(
            f"two runs of model '{entry.result.model}' (protocol '{entry.result.protocol}') on "
            f"'{entry.result.dataset}': the newest counts, {newer.place} ({newer.result.created}), not "
            f"{older.place} ({older.result.created})",
            stacklevel=2,
        )
    return list(kept.values())


def safe_name(*names: str, key: Sequence[str] = ()) -> str:
    """A file name without its ending that tells `names`, and differs where they or `key` do.

    Letters, digits and `-` only, so it can neither leave its folder nor mean anything to a page.
    """
    readable = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] for name in names]
    return "-".join([*filter(None, readable), text_hash(json.dumps([*names, *key]))])


def _read(path: Path) -> list[Entry]:
    if path.is_file():
        return _checked(read_results(path), str(path))
    if (path / RESULTS).is_file():
        return _of_run(read_run(path))
    if not path.is_dir():
        raise InputError(f"{path}: does not exist; allowed: a run folder, a results file or a folder of them")
    files = sorted(path.glob("*.json"))
    if not files:
        inner = sorted(each.parent.name for each in path.glob(f"*/{RESULTS}"))
        hint = f"did you mean {path / inner[0]}? " if inner else ""
        raise InputError(
            f"{path}: holds no run ({RESULTS}) and no results files (*.json); {hint}allowed: a run folder, a "
            "results file or a folder of them"
        )
    return [entry for file in files for entry in _checked(read_results(file), str(file))]


def _of_run(run: Run) -> list[Entry]:
    entries = _checked(run.results, str(run.folder))
    if not (run.folder / RATINGS).is_file():
        return entries
    made = [Entry(e.place, e.result, r.group) for e, r in zip(entries, run.rated(), strict=True)]
    for each in made:
        assert each.group is not None
        metrics = {metric for v in each.result.variants for metric in v.metrics}
        if len(each.group.examples) != each.result.n or set(each.group.metrics) != metrics:
            raise InputError(f"{run.folder}: {RATINGS} does not hold the ratings of {RESULTS}")
    return made


def _checked(results: Results, place: str) -> list[Entry]:
    """The results as entries; raises `InputError` for one that no table can take."""
    for result in results:
        if fault := _fault(result):
            raise InputError(f"{place}: model '{result.model}' on '{result.dataset}': {fault}")
    return [Entry(place, result) for result in results]


def _fault(result: Result) -> str | None:
    """What makes a result unfit for any table, although its shape is right; None if nothing does."""
    for part, said in _said(result).items():
        if not (signed := result.signed.get(part, "")).startswith(said):
            return f"signature: {part} is '{signed}', not '{said}' as in the result"
    scores = (result.d_avg, result.d_min, result.d_avg_ew, result.d_min_ew, *(v.d for v in result.variants))
    if wrong := [d for d in scores if d is not None and not 0 <= d <= _LARGEST]:
        return f"D is {wrong[0]:g}; allowed: 0 to {_LARGEST:g}"
    try:
        dt.datetime.fromisoformat(result.created)
    except ValueError:
        return f"created '{result.created}' is no time; allowed: e.g. 2026-05-31T12:00:00+00:00"
    try:
        notes(result)
    except (LookupError, ArithmeticError, ValueError) as e:
        return f"its parts contradict each other or lack {reason(e)}; allowed: results as dhp writes them"
    return None


def _said(result: Result) -> dict[str, str]:
    """How parts of the signature begin, by what else the result says."""
    return {
        "dataset": f"{result.dataset}@",
        "weights": f"{result.weights}.",
        "statistics": f"{result.statistics}+{result.combination}",
        "protocol": result.protocol,
    }
