"""Entries of a leaderboard: read, checked, added; one result per judge and dataset.

An entry is a result with its place. What is added is checked as if it came from a stranger.
"""

import datetime as dt
import json
import logging
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dhp.analysis.analyze import analyze_ratings, averages, of_comparisons
from dhp.analysis.config import AnalysisConfig, ResolvedConfig
from dhp.analysis.ratings import RatingsArray, ratings_of_file
from dhp.analysis.results import SCHEMA, Interval, Result, Results
from dhp.content.catalog import DATASETS, names_of, read_card, read_suite, read_task
from dhp.core.errors import InputError
from dhp.core.files import indented_json, read_json, reason
from dhp.core.progress import Progress, counted
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name
from dhp.core.specs import Scale, Weights
from dhp.core.writing import MANIFEST, RUN, held_in, write_lines
from dhp.report.advice import notes
from dhp.runs.reader import RATINGS, RESULTS, Run, read_results, read_run

_SCHEMA_NAME = SCHEMA.partition("/")[0]
"""What the schema of results begins with in every version."""
_BILLIONS = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.I)
_MILLIONS = re.compile(r"(?<![a-z0-9.])(\d+)m(?![a-z0-9])", re.I)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One result, with its ratings where they are at hand."""

    place: str
    """The file or folder it is from, for messages."""
    result: Result
    ratings: RatingsArray | None = None

    @property
    def kind(self) -> tuple[str, ...]:
        """What results of one table share: all parts of the signature that must agree, but the protocol."""
        return tuple(self.shared.values())

    @property
    def shared(self) -> dict[str, str]:
        """`kind` by the names of the parts."""
        return self.result.signed.comparable(but=["protocol"])

    @property
    def key(self) -> tuple[str, ...]:
        """What no two results of a board share: judge, way of settings, data and analysis."""
        return (self.result.model, self.result.protocol, *self.kind)

    @property
    def judge(self) -> tuple[str, str]:
        """Model and protocol."""
        return self.result.model, self.result.protocol

    @property
    def provider(self) -> str:
        """The model's name before its first `/`; `unknown` without one."""
        before, slash, _ = self.result.model.partition("/")
        return before if slash and before else "unknown"

    @property
    def size(self) -> float | None:
        """Billions of parameters by the model's name: 7B, 0.5b, 135M, 8x7B (which is 56); None without."""
        name = self.result.model.partition("?")[0]
        match = _BILLIONS.search(name)
        if match:
            return int(match[1] or 1) * float(match[2])
        match = _MILLIONS.search(name)
        return int(match[1]) / 1000 if match else None

    @property
    def family(self) -> str | None:
        """What is before the size in the model's own name, such as qwen1.5 for `hf/Qwen/Qwen1.5-4B-Chat`;
        None if the name says no size, or nothing before it."""
        name = self.result.model.partition("?")[0].rstrip("/").rpartition("/")[2]
        match = _BILLIONS.search(name) or _MILLIONS.search(name)
        return (name[: match.start()].strip("-_. ").lower() or None) if match else None

    @property
    def cost(self) -> float | None:
        """Money per 1,000 judgements asked for, in the currency of the run's prices; None without prices."""
        asked = self.result.ratings.get("asked", 0)
        return None if self.result.cost is None or asked < 1 else self.result.cost / asked * 1000

    @property
    def created(self) -> dt.datetime:
        """When it was computed."""
        return moment(self.result.created)

    @property
    def task(self) -> str:
        """The task of the suite or dataset, or the one with these metrics; `unknown` if there is none."""
        suite = self.result.signed.names["suite"]
        dataset = self.result.dataset.removeprefix("mini/")
        if suite in DATASETS:
            return read_suite(suite).task
        if dataset in DATASETS:
            return read_card(dataset).task
        metrics = {metric for v in self.result.variants for metric in v.metrics}
        return next((t for t in names_of("task") if set(read_task(t).metric_names) == metrics), "unknown")


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, of those with the same key the one that was created last; the others are warned of.

    Of the same result twice the one with ratings is taken, without a word.
    """
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        first = kept.setdefault(entry.key, entry)
        if first.result == entry.result:
            kept[entry.key] = first if first.ratings is not None else entry
            continue
        older, newer = (entry, first) if entry.created <= first.created else (first, entry)
        kept[entry.key] = newer
        logging.getLogger("dhp").warning(
            f"two runs of model '{entry.result.model}' (protocol '{entry.result.protocol}') on "
            f"'{entry.result.dataset}': the newest counts, {newer.place} ({newer.result.created}), not "
            f"{older.place} ({older.result.created})"
        )
    return list(kept.values())


def score(result: Result, quantity: str) -> tuple[float | None, Interval]:
    """`detection` or `lowest_detection` with its interval."""
    name = "avg" if quantity == "detection" else "min"
    return getattr(result.detection, name), result.detection.ci[name]


def judge_names(entries: Iterable[Entry]) -> dict[tuple[str, str], str]:
    """(Model, protocol) -> name of the judge: its model, with its protocol if named or if others are there.

    With the protocol's hash only where names do not tell them apart.
    """
    protocols: dict[str, set[str]] = {}
    for entry in entries:
        protocols.setdefault(entry.result.model, set()).add(entry.result.protocol)
    return {
        (model, each): _judge_name(model, each, of - {each}) for model, of in protocols.items() for each in of
    }


def _judge_name(model: str, protocol: str, others: Collection[str]) -> str:
    way = protocol_name(protocol)
    if any(other.partition("@")[0] == way for other in others):
        return f"{model} ({protocol})"
    return f"{model} ({way})" if others or way not in ("none", "unknown") else model


def moment(written: str) -> dt.datetime:
    """A time in ISO 8601, UTC if it names no zone; raises `ValueError` for anything else."""
    when = dt.datetime.fromisoformat(written)
    return when if when.tzinfo else when.replace(tzinfo=dt.UTC)


def safe_name(*names: str, key: Sequence[str] = ()) -> str:
    """A file name without its ending that tells `names`, and differs where they or `key` do.

    Letters, digits and `-` only, so it can neither leave its folder nor mean anything to a page.
    """
    readable = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] for name in names]
    return "-".join([*filter(None, readable), text_hash(json.dumps([*names, *key]))])


_FIGURES = (
    *("d_avg", "d_min", "d_avg_ew", "d_min_ew", "d_min_variant"),
    *(
        "n",
        "ratings",
        "unscored",
        "levels",
        "variants",
        "controls",
        "attacks",
        "curves",
        "left_out",
        "repeats",
    ),
    *("styles", "halo", "warnings", "detection", "clusters"),
    *("read", "read_originals", "read_damaged"),
)
"""Fields of a result that follow from its ratings, in the order in which they are compared."""
_BY_COLUMN = {"failures": "raw", "unread": "raw", "rules": "rule", "missing_mass": "missing_mass"}
"""Fields that follow from a column of the ratings that need not be there."""
_UNKNOWN = "unknown"
_LARGEST = 1e6
"""A D far beyond what any number of examples gives."""


def fault(result: Result) -> str | None:
    """What makes a result unfit for any table, although its shape is right; None if nothing does."""
    names = result.signed.names
    for part, stated in _stated(result).items():
        signed = names[part]
        if signed != stated:
            return f"signature: {part} is '{signed}', not '{stated}' as in the result"
    scores = (result.d_avg, result.d_min, result.d_avg_ew, result.d_min_ew, *(v.d for v in result.variants))
    wrong = [d for d in scores if d is not None and not 0 <= d <= _LARGEST]
    if wrong:
        return f"D is {wrong[0]:g}; allowed: 0 to {_LARGEST:g}"
    counts = {
        f"{name}.{key}": count
        for name in ("usage", "ratings", "failures", "rules")
        for key, count in getattr(result, name).items()
    }
    for name, value in {"cost": result.cost or 0, **counts}.items():
        if value < 0:
            return f"{name} is {value:g}; allowed: 0 or more"
    try:
        when = moment(result.created)
    except ValueError:
        return f"created '{result.created}' is not a time; allowed: e.g. 2026-05-31T12:00:00+00:00"
    if when > dt.datetime.now(dt.UTC) + dt.timedelta(days=1):
        return f"created '{result.created}' lies in the future; allowed: no later than now"
    try:
        notes(result)
    except (LookupError, ArithmeticError, ValueError) as e:
        return f"its parts contradict each other or lack {reason(e)}; allowed: results as dhp writes them"
    return None


def _stated(result: Result) -> dict[str, str]:
    """What the rest of the result states of the parts of its signature."""
    return {
        "dataset": result.dataset,
        "n": str(result.n),
        "weights": result.weights,
        "statistics": f"{result.statistics}+{result.combination}",
        "protocol": result.protocol,
    }


def check_averages(entry: Entry) -> None:
    """Raise `InputError` with the first average of a result that does not follow from its own variants."""
    r = entry.result
    for name, follows in averages(r.variants).items() if not r.curves else ():
        if next(_differences(name, getattr(r, name), follows), None):
            raise InputError(
                f"{entry.place}: model '{r.model}' on '{r.dataset}': {name} is {getattr(r, name)}, but "
                f"{follows} follows from its variants"
            )


def check_figures(entry: Entry, *, weights: str | None = None, quick: bool = False) -> None:
    """Raise `InputError` with the first figure of a result that does not follow from its ratings.

    Figures are the same within 1e-6 of their size. What the ratings do not know cannot be checked: the data,
    the method, cost and usage, and levels where the ratings have none. Failures, rules and missing mass are
    compared where the ratings have a column for them. `weights` is for results with other expert weights than
    those that ship. `quick` is for runs of one's own: weights are taken as the result states them, its suite
    may be any, and its warnings may be worded otherwise, as by another version.
    """
    computed = _computed(entry, weights, quick=quick)
    here, computed_values = entry.result.to_dict(), computed.to_dict()
    columns = entry.ratings.columns if entry.ratings else frozenset[str]()
    fields = [*_FIGURES, *(field for field, column in _BY_COLUMN.items() if column in columns)]
    if quick:
        fields.remove("warnings")
    for field in fields:
        for where, stated, value in _differences(field, here[field], computed_values[field]):
            raise InputError(
                f"{entry.place}: model '{entry.result.model}' on '{entry.result.dataset}': {where} is "
                f"{stated}, but {value} follows from the ratings"
            )


def _computed(entry: Entry, weights: str | None, *, quick: bool) -> Result:
    """The result that follows from the ratings, analysed as the given result says it was."""
    r, ratings = entry.result, entry.ratings
    assert ratings is not None
    rated = (*r.variants, *r.probes)
    unnamed = sorted(set(ratings.variants) - {v.variant for v in rated})
    if unnamed:
        raise InputError(f"{entry.place}: lacks the variant '{unnamed[0]}', which was rated")
    n = r.signed.n
    if n != ratings.size:
        raise InputError(f"{entry.place}: n is {n}, but {ratings.size} follows from the ratings")
    source = _source_of_levels(r, with_column=bool(ratings.levels))
    levels = ratings.levels or {}
    variants = [
        Variant(
            v.variant,
            parse_variant(v.variant).perturber,
            "all" if source == "none" and v.level not in PROBES else levels.get(v.variant, v.level),
            v.method or "",
            v.degree,
            stand_in=v.stand_in or "",
        )
        for v in rated
    ]
    config = _config(entry, variants, weights, quick=quick)
    scales = {metric: Scale(min=low, max=high) for metric, (low, high) in r.scales.items()}
    computed = analyze_ratings(
        ratings,
        config,
        variants,
        left_out=_left_out(r, {*levels, *ratings.variants, *(v.name for v in variants)}, quick=quick),
        levels=source,
        signature=r.signed,
        scales=scales,
        characters=next((curve.characters for curve in r.curves), None),  # of texts that are not sent with it
    )
    return of_comparisons(computed) if r.statistics == "sign-flip" else computed


def _left_out(result: Result, present: Collection[str], *, quick: bool) -> list[str]:
    """What it names as left out and is not there, and what else is lacking of its suite, if that ships."""
    named = [name for name in result.left_out if name not in present]
    suite = result.signed.names["suite"]
    if quick or suite not in DATASETS or any(parse_variant(name).dose for name in present):
        return named
    whole = read_suite(suite)
    return named + [v.name for v in whole.variants if v.name not in {*present, *named}]


def _source_of_levels(result: Result, *, with_column: bool) -> str:
    """Where its levels come from: as it says, if its suite and the ratings' column allow that."""
    suite = result.signed.names["suite"]
    allowed = ["column", *(["suite"] if suite not in ("none", "given") else [] if with_column else ["none"])]
    return result.levels if result.levels in allowed else allowed[-1]


def _config(entry: Entry, variants: list[Variant], weights: str | None, *, quick: bool) -> ResolvedConfig:
    """The configuration of the result's analysis; raises `InputError` if its signature says otherwise."""
    r, place, signed = entry.result, entry.place, entry.result.signed
    if not quick and weights is None and r.weights not in names_of("weights"):
        raise InputError(f"{place}: weights '{r.weights}' do not ship with dhp; give their file by `weights`")
    assert entry.ratings is not None
    analysis = AnalysisConfig(
        statistics=r.statistics,
        combination=r.combination,
        floor=round(100 * r.floor, 6),
        weights="uniform" if quick else weights or r.weights,
    )
    task = None if entry.task == _UNKNOWN else entry.task
    perturbers = {v.perturber for v in variants if v.level not in PROBES}
    config = analysis.resolve(task, perturbers, entry.ratings.metrics)
    if not quick and signed.weights != config.signed_weights:
        raise InputError(
            f"{place}: weights are '{signed.weights}', not '{config.signed_weights}'; "
            "give those that were used by `weights` FILE"
        )
    if signed.statistics != config.signed_statistics:
        raise InputError(f"{place}: statistics are '{signed.statistics}', not '{config.signed_statistics}'")
    if r.pass_mark is not None:
        config = replace(config, pass_mark=r.pass_mark.mark, marks=r.pass_mark.marks)
    return replace(config, expert_weights=_stated_weights(entry), task=entry.task) if quick else config


def _stated_weights(entry: Entry) -> Weights:
    """The expert weights that a result states beside its figures."""
    rows: dict[str, dict[str, float]] = {}
    for v in entry.result.variants:
        row = {metric: cell.weight for metric, cell in v.metrics.items() if cell.weight is not None}
        if row:
            rows.setdefault(parse_variant(v.variant).perturber, row)
    try:
        return Weights(
            weights="stated",
            version=1,
            provenance="The result.",
            otherwise="uniform",
            tasks={entry.task: rows} if rows else {},
        )
    except ValueError as e:
        raise InputError(f"{entry.place}: its weights are invalid ({' '.join(str(e).split())})") from None


def _differences(where: str, stated: object, computed: object) -> Iterator[tuple[str, object, object]]:
    """Where two values differ, and the two."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        for key in [*stated, *(k for k in computed if k not in stated)]:
            yield from _differences(f"{where}.{key}", stated.get(key), computed.get(key))
    elif (
        isinstance(stated, list | tuple)
        and isinstance(computed, list | tuple)
        and len(stated) == len(computed)
    ):
        for place, (one, other) in enumerate(zip(stated, computed, strict=True)):
            name = one.get("variant", place) if isinstance(one, dict) else place
            yield from _differences(f"{where}.{name}", one, other)
    elif isinstance(stated, float | int) and isinstance(computed, float | int):
        if not math.isclose(stated, computed, rel_tol=1e-6, abs_tol=1e-12):
            yield where, stated, computed
    elif stated != computed:
        yield where, stated, computed


def read_entries(paths: Sequence[str | Path], progress: Progress | None = None) -> list[Entry]:
    """The results in run folders, folders of runs, results files and boards (folders of results files).

    Of two results of one judge on the same data the newer is taken. Runs that are not finished and folders of
    other commands, such as battles, are passed over. A warning says so. Pages are passed over, too: `runs/*`
    names `runs/index.html`.
    `progress` is called as `progress(what, done, total, cost)`. Raises `InputError` for no path but those of
    unfinished runs, a folder that holds no run and no results file, a file of another version or with figures
    that are no numbers, and a run's figure that does not follow from the ratings beside it; intervals are not
    computed anew here.
    """
    runs = [each for path in paths for each in _runs_of(Path(path))]
    left_out = _without_results(runs)
    read = [path for path in runs if path not in left_out and path.suffix != ".html"]
    shown = counted(progress, "reading and checking results", read)
    entries = [entry for path in shown for entry in _read(path, progress)]
    if left_out:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        if not entries:
            raise InputError(reasons)
        logging.getLogger("dhp").warning("left out: %s", reasons)
    if not entries:
        raise InputError("no run is given; allowed: run folders, results files or folders of them")
    return newest(entries)


def _runs_of(path: Path) -> list[Path]:
    """The runs in a folder, finished or not, and the folder itself if it has results files; or the path."""
    if (path / RESULTS).is_file() or held_in(path) == RUN:
        return [path]
    inner = {file.parent for name in (RESULTS, MANIFEST) for file in path.glob(f"*/{name}")}
    runs = sorted(each for each in inner if (each / RESULTS).is_file() or held_in(each) == RUN)
    has_results_files = held_in(path) is None and any(path.glob("*.json"))
    return [*([path] if has_results_files else []), *runs] or [path]


def _without_results(paths: Sequence[Path]) -> dict[Path, str]:
    """The folders of unfinished runs and of commands that make no run, and why they are left out."""
    held = {path: held_in(path) for path in paths if not (path / RESULTS).is_file()}
    names = ", ".join(str(path) for path, what in held.items() if what == RUN)
    unfinished = f"unfinished runs {names}; repeat the command of a run to finish it"
    reasons = {}
    for path, what in held.items():
        if what is not None:
            reasons[path] = unfinished if what == RUN else f"{path}: holds no run ({what})"
    return reasons


def _read(path: Path, progress: Progress | None) -> list[Entry]:
    if path.is_file():
        return _checked(read_results(path), str(path))
    if (path / RESULTS).is_file():
        return _of_run(read_run(path))
    if not path.is_dir():
        raise InputError(f"{path}: does not exist; allowed: a run folder, a results file or a folder of them")
    files = sorted(path.glob("*.json"))
    foreign = [file for file in files if not _holds_results(file)]
    if len(foreign) == len(files):
        raise InputError(
            f"{path}: holds no run ({RESULTS}) and no results files (*.json); allowed: a run folder, a "
            "results file or a folder of them"
        )
    if foreign:
        names = ", ".join(file.name for file in foreign)
        logging.getLogger("dhp").warning("%s: passed over, as they hold no results of dhp: %s", path, names)
    shown = counted(progress, f"checking the results in {path}", [f for f in files if f not in foreign])
    return [entry for file in shown for entry in _checked(read_results(file), str(file))]


def _holds_results(path: Path) -> bool:
    """Whether a JSON file holds results, of whatever version; raises `InputError` for one that is no JSON."""
    content = read_json(path)
    objects = content if isinstance(content, list) else [content]
    schemas = [str(each.get("schema")) for each in objects if isinstance(each, dict)]
    return any(schema.startswith(_SCHEMA_NAME) for schema in schemas)


def _of_run(run: Run) -> list[Entry]:
    entries = _checked(run.results, str(run.folder))
    if not (run.folder / RATINGS).exists():
        return entries
    made = [Entry(e.place, e.result, r.ratings) for e, r in zip(entries, run.rated, strict=True)]
    for entry in made:
        check_figures(entry, quick=True)
    return made


def _checked(results: Results, place: str) -> list[Entry]:
    """The results as entries; raises `InputError` for one that no table can take."""
    for result in results:
        wrong = fault(result)
        if wrong:
            raise InputError(f"{place}: model '{result.model}' on '{result.dataset}': {wrong}")
    return [Entry(place, result) for result in results]


def add_results(
    file: str | Path,
    board: str | Path,
    *,
    ratings: str | Path | None = None,
    weights: str | None = None,
) -> list[Path]:
    """Add the results in a file to a board, each as a file of its own; returns the files written.

    A result takes the place of an older one of the same judge on the same data; where the one on the board is
    the newer, it stays, with a warning. The ratings of a run folder are taken as given; with `ratings` every
    figure that follows from them is computed anew and compared. `weights` is for results with other expert
    weights than those that ship. Raises `InputError` as `read_entries`, and for the first figure that does
    not follow from the ratings, or without these the first average that does not follow from the variants.
    """
    folder = Path(board)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`board` {folder}: is a file; allowed: a folder of results files")
    entries = read_entries([file])
    if ratings is not None:
        table = ratings_of_file(Path(ratings))
        entries = [replace(e, ratings=_ratings_of(e.result, table, str(ratings))) for e in entries]
    for entry in entries:
        if entry.ratings is None:
            check_averages(entry)
        else:
            check_figures(entry, weights=weights)
    written = []
    for entry in entries:
        r = entry.result
        path = folder / f"{safe_name(r.model, r.protocol, r.dataset, key=entry.kind)}.json"
        if path.exists() and entry not in newest([*read_entries([path]), entry]):
            continue  # which it says
        write_lines(path, [indented_json(r.to_dict())])
        written.append(path)
    return written


def _ratings_of(result: Result, table: Sequence[RatingsArray], place: str) -> RatingsArray:
    """The ratings of a result; a table without one of the columns model, protocol, dataset fits any."""
    names = (result.model, result.protocol, result.dataset)
    for part in table:
        part_names = (part.model, part.protocol, part.dataset)
        if all(name in (asked, _UNKNOWN) for asked, name in zip(names, part_names, strict=True)):
            return replace(part, model=result.model, protocol=result.protocol, dataset=result.dataset)
    raise InputError(
        f"{place}: no ratings of model '{result.model}', protocol '{result.protocol}', dataset "
        f"'{result.dataset}'"
    )
