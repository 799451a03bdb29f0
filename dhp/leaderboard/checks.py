"""Whether a result can stand on a leaderboard, and whether its figures follow from its ratings.

Results are checked as if they came from a stranger. `fault` looks at a result alone. `check_averages`
computes its averages anew from its variants. `check_figures` analyses its ratings anew, with the settings
that the result states, and compares every figure that follows from them.
"""

import datetime as dt
import math
from collections.abc import Collection, Iterator
from dataclasses import replace

from dhp.analysis.analyze import analyze_ratings, averages, of_comparisons
from dhp.analysis.config import AnalysisConfig, ResolvedConfig
from dhp.analysis.kinds import ONE_LEVEL
from dhp.analysis.results import Result
from dhp.content.catalog import DATASETS, names_of, read_suite
from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.specs import Scale, Weights
from dhp.leaderboard.entries import UNKNOWN, Entry, moment
from dhp.report.advice import notes

_FIGURES = (
    "d_avg d_min d_avg_ew d_min_ew d_min_variant "
    "n ratings unscored levels variants controls attacks curves left_out repeats "
    "styles halo warnings detection clusters "
    "read read_originals read_damaged"
).split()
"""Fields of a result that follow from its ratings, in the order in which they are compared."""
_BY_COLUMN = {"failures": "raw", "unread": "raw", "rules": "rule", "missing_mass": "missing_mass"}
"""Fields that follow from a column of the ratings that need not be there."""
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
    counts: dict[str, float] = {"cost": result.cost or 0}
    for name in ("usage", "ratings", "failures", "rules"):
        counts |= {f"{name}.{key}": count for key, count in getattr(result, name).items()}
    negative = [f"{name} is {value:g}" for name, value in counts.items() if value < 0]
    if negative:
        return f"{negative[0]}; allowed: 0 or more"
    try:
        when = moment(result.created)
    except ValueError:
        return f"created '{result.created}' is not a time; allowed: e.g. 2026-05-31T12:00:00+00:00"
    if when > dt.datetime.now(dt.UTC) + dt.timedelta(days=1):  # another clock may run ahead
        return f"created '{result.created}' lies in the future; allowed: no later than now"
    try:  # notes look up one part of a result by another; pages would stop where that is missing
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
    # First: of other examples every figure differs, and the message would name one of these.
    n = r.signed.n
    if n != ratings.size:
        raise InputError(f"{entry.place}: n is {n}, but {ratings.size} follows from the ratings")
    source = _source_of_levels(r, with_column=bool(ratings.levels))
    levels = ratings.levels or {}
    variants = []
    for v in rated:
        one_level = source == "none" and v.level not in PROBES
        level = ONE_LEVEL if one_level else levels.get(v.variant, v.level)
        perturber, method, stand_in = parse_variant(v.variant).perturber, v.method or "", v.stand_in or ""
        variants.append(Variant(v.variant, perturber, level, method, v.degree, stand_in=stand_in))
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
    allowed = ["column"]
    if suite not in ("none", "given"):
        allowed.append("suite")
    elif not with_column:
        allowed.append("none")
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
    task = None if entry.task == UNKNOWN else entry.task
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
        if row:  # the degrees of a perturber have the same weights
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
