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
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Result
from dhp.content.catalog import DATASETS, names_of, read_suite
from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.specs import Scale, Weights
from dhp.leaderboard.entries import UNKNOWN, Entry, moment
from dhp.report.notes import notes

_FIGURES = (
    "d_avg d_min d_avg_ew d_min_ew d_min_variant "
    "n ratings unscored levels variants controls attacks curves left_out repeats "
    "styles halo warnings detection clusters "
    "read read_originals read_damaged"
).split()
"""Fields of a result that follow from its ratings, in the order in which they are compared."""
_BY_COLUMN = {"failures": "raw", "unread": "raw", "rules": "rule", "missing_mass": "missing_mass"}
"""Field of a result -> the column of the ratings that it follows from; files of ratings may lack it."""
_LARGEST = 1e6
"""The largest D that is allowed. Chosen: far beyond what any number of examples gives."""


def fault(result: Result) -> str | None:
    """What makes a result unfit for any table, although its shape is right; None if nothing does."""
    return (
        _fault_of_signature(result)
        or _fault_of_figures(result)
        or _fault_of_time(result)
        or _fault_of_parts(result)
    )


def _fault_of_signature(result: Result) -> str | None:
    """The first part of the signature that the rest of the result contradicts."""
    stated_parts = {
        "dataset": result.dataset,
        "n": str(result.n),
        "weights": result.weights,
        "statistics": f"{result.statistics}+{result.combination}",
        "protocol": result.protocol,
    }
    for part, stated in stated_parts.items():
        signed = result.signed.names[part]
        if signed != stated:
            return f"signature: {part} is '{signed}', not '{stated}' as in the result"
    return None


def _fault_of_figures(result: Result) -> str | None:
    """The first D or count that is out of range."""
    of_variants = [variant.d for variant in result.variants]
    for d in (result.d_avg, result.d_min, result.d_avg_ew, result.d_min_ew, *of_variants):
        # NaN fails this comparison, too.
        if d is not None and not 0 <= d <= _LARGEST:
            return f"D is {d:g}; allowed: 0 to {_LARGEST:g}"
    counts: dict[str, float] = {"cost": result.cost or 0}
    for name in ("usage", "ratings", "failures", "rules"):
        for key, count in getattr(result, name).items():
            counts[f"{name}.{key}"] = count
    for name, count in counts.items():
        if count < 0:
            return f"{name} is {count:g}; allowed: 0 or more"
    return None


def _fault_of_time(result: Result) -> str | None:
    try:
        when = moment(result.created)
    except ValueError:
        return f"created '{result.created}' is not a time; allowed: e.g. 2026-05-31T12:00:00+00:00"
    latest = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)  # the clock that wrote it may run ahead of ours
    if when > latest:
        return f"created '{result.created}' lies in the future; allowed: no later than now"
    return None


def _fault_of_parts(result: Result) -> str | None:
    """Notes look up one part of a result by another: if that part is missing, no page could be made."""
    try:
        notes(result)
    except (LookupError, ArithmeticError, ValueError) as e:
        return f"its parts contradict each other or lack {reason(e)}; allowed: results as dhp writes them"
    return None


def check_averages(entry: Entry) -> None:
    """Raise `InputError` with the first average of a result that does not follow from its own variants."""
    r = entry.result
    if r.curves:  # a variant for each dose: such a result has no averages
        return
    for name, follows in averages(r.variants).items():
        stated = getattr(r, name)
        if list(_differences(name, stated, follows)):
            raise InputError(
                f"{entry.place}: model '{r.model}' on '{r.dataset}': {name} is {stated}, but "
                f"{follows} follows from its variants"
            )


def check_figures(entry: Entry, *, weights: str | None = None, quick: bool = False) -> None:
    """Raise `InputError` with the first figure of a result that does not follow from its ratings.

    Figures are the same within 1e-6 of their size. What the ratings do not know cannot be checked: the data,
    the method, cost and usage, and the levels if the ratings have none. Failures, rules and missing mass are
    compared if the ratings have a column for them. `weights` is for results with other expert weights than
    those that ship. `quick` is for runs of one's own: weights are taken as the result states them, its suite
    may be any, and its warnings are not compared, as another version may word them differently.
    """
    computed = _computed(entry, weights, quick=quick).to_dict()
    stated = entry.result.to_dict()
    columns = entry.ratings.columns if entry.ratings else frozenset[str]()
    of_columns = [field for field, column in _BY_COLUMN.items() if column in columns]
    fields = [*_FIGURES, *of_columns]
    if quick:
        # Their words may change from version to version.
        fields.remove("warnings")
    for field in fields:
        for where, figure, follows in _differences(field, stated[field], computed[field]):
            raise InputError(
                f"{entry.place}: model '{entry.result.model}' on '{entry.result.dataset}': {where} is "
                f"{figure}, but {follows} follows from the ratings"
            )


def _computed(entry: Entry, weights: str | None, *, quick: bool) -> Result:
    """The result that follows from the ratings, analysed as the given result says it was."""
    r, ratings = entry.result, entry.ratings
    assert ratings is not None
    _check_same_texts(entry, ratings)
    source = _source_of_levels(r, with_column=bool(ratings.levels))
    variants = _rated_variants(r, ratings, source)
    present = {*(ratings.levels or {}), *ratings.variants}
    present.update(variant.name for variant in variants)
    scales = {metric: Scale(min=low, max=high) for metric, (low, high) in r.scales.items()}
    computed = analyze_ratings(
        ratings,
        _config(entry, variants, weights, quick=quick),
        variants,
        left_out=_left_out(r, present, quick=quick),
        levels=source,
        signature=r.signed,
        scales=scales,
        # The length of the originals, the same in all curves: it cannot be counted, as no texts are sent.
        characters=r.curves[0].characters if r.curves else None,
    )
    return of_comparisons(computed) if r.statistics == "sign-flip" else computed


def _check_same_texts(entry: Entry, ratings: RatingsArray) -> None:
    """Raise `InputError` if the ratings have variants that the result lacks, or another number of examples.

    It comes before all else: of other texts every figure differs, and the message would name one of these.
    """
    result = entry.result
    named = {row.variant for row in (*result.variants, *result.probes)}
    unnamed = sorted(set(ratings.variants) - named)
    if unnamed:
        raise InputError(f"{entry.place}: lacks the variant '{unnamed[0]}', which was rated")
    n = result.signed.n
    if n != ratings.size:
        raise InputError(f"{entry.place}: n is {n}, but {ratings.size} follows from the ratings")


def _rated_variants(result: Result, ratings: RatingsArray, source: str) -> list[Variant]:
    """The variants of a result, with the levels that the ratings have for them."""
    levels = ratings.levels or {}
    variants = []
    for row in (*result.variants, *result.probes):
        # Without a source all damage is one level; controls and attacks stay what they are.
        if source == "none" and row.level not in PROBES:
            level = ONE_LEVEL
        else:
            level = levels.get(row.variant, row.level)
        perturber = parse_variant(row.variant).perturber
        method, stand_in = row.method or "", row.stand_in or ""
        variants.append(Variant(row.variant, perturber, level, method, row.degree, stand_in=stand_in))
    return variants


def _left_out(result: Result, present: Collection[str], *, quick: bool) -> list[str]:
    """The variants that the result says it left out, and those of its suite that are not there."""
    left_out = [name for name in result.left_out if name not in present]
    suite = result.signed.names["suite"]
    has_doses = any(parse_variant(name).dose for name in present)  # which no suite lists
    if quick or suite not in DATASETS or has_doses:
        return left_out
    for variant in read_suite(suite).variants:
        if variant.name not in present and variant.name not in left_out:
            left_out.append(variant.name)
    return left_out


def _source_of_levels(result: Result, *, with_column: bool) -> str:
    """Where its levels come from: what it says, if its suite and the ratings allow that."""
    suite = result.signed.names["suite"]
    allowed = ["column"]
    # These two stand for no suite, so that there are no levels of one.
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
        floor=round(100 * r.floor, 6),  # of a share: 0.07 times 100 is 7.000000000000001
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
        # As the run resolved it: words on the scale, as marks may be, are not at hand.
        config = replace(config, pass_mark=r.pass_mark.mark, marks=r.pass_mark.marks)
    if quick:
        # The weights of a run of one's own may be in a file that is not at hand.
        config = replace(config, expert_weights=_stated_weights(entry), task=entry.task)
    return config


def _stated_weights(entry: Entry) -> Weights:
    """The expert weights that a result states beside its figures."""
    rows: dict[str, dict[str, float]] = {}
    for variant in entry.result.variants:
        row = {metric: cell.weight for metric, cell in variant.metrics.items() if cell.weight is not None}
        if row:  # the degrees of a perturber have the same weights: the first of them says it
            rows.setdefault(parse_variant(variant.variant).perturber, row)
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
    """Where two values differ, and the two: `variants.random_typos.minor.d`, 2.5, 2.4."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        # The keys of both: a key that only one of them has is a difference.
        for key in stated | computed:
            yield from _differences(f"{where}.{key}", stated.get(key), computed.get(key))
    elif isinstance(stated, list | tuple) and isinstance(computed, list | tuple):
        if len(stated) != len(computed):
            yield where, stated, computed
            return
        for place, (one, other) in enumerate(zip(stated, computed, strict=True)):
            # Messages call an entry of a list by its variant if it is about one, else by its place.
            name = one.get("variant", place) if isinstance(one, dict) else place
            yield from _differences(f"{where}.{name}", one, other)
    elif isinstance(stated, float | int) and isinstance(computed, float | int):
        # The last digits of a figure depend on the machine and on versions of numpy.
        if not math.isclose(stated, computed, rel_tol=1e-6, abs_tol=1e-12):
            yield where, stated, computed
    elif stated != computed:
        yield where, stated, computed
