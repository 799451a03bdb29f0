"""Kinds of damage, controls and attacks of a result: which were rated, their figures and verdicts.

`rated_variants` says which kinds there are, and in which order. `judged_kinds` tests the damage;
`judged_probes` judges controls and attacks by the damage that was noticed, so it comes second.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.control_state import control_state
from dhp.analysis.outlook import examples_to_decide
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import NOTHING, Cell, Interval, RunDetection, VariantResult
from dhp.analysis.verdict_rule import ALPHA, verdicts
from dhp.content.catalog import read_probes, variant_name
from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, PROBES, Variant, parse_variant
from dhp.core.specs import Suite
from dhp.core.verdicts import Verdict
from dhp.stats.arrays import Floats
from dhp.stats.below_edits import below_edits
from dhp.stats.controls import movements
from dhp.stats.detection import Detection, detection
from dhp.stats.discernment import LOG_ALPHA, discern, holm
from dhp.stats.effective_size import effective_size
from dhp.stats.flips import flip_log_p
from dhp.stats.influences import auroc_influences, cluster_size, standardised_drop_influences
from dhp.stats.metric_relations import confusion
from dhp.stats.missing import failure_p
from dhp.stats.wilcoxon import Alternative

ONE_LEVEL = "all"
"""Level of variants of which none is known."""
_SMALLEST_LOG = -690.0  # below it p underflows
_ROUNDING = 1e-9
"""Differences of differences of scores that are no larger are none."""
_UNEVEN = 3  # kinds that a warning names


def rated_variants(ratings: RatingsArray, suite: Suite | None) -> tuple[list[Variant], list[str], str]:
    """The rated variants in order, the suite's variants that were not rated, and where levels come from."""
    probes = {v.name: v for v in _probes()}
    if suite is None:
        levels = {name: v.level for name, v in probes.items()} | (ratings.levels or {})
        rated = []
        for name in ratings.variants:
            perturber, degree, _ = parse_variant(name)
            rated.append(Variant(name, perturber, levels.get(name, ONE_LEVEL), "", degree))
        return rated, [], "column" if ratings.levels else "none"
    # A table does not say whether a language model or people made the variants of method `llm`.
    variants = (v if v.method == "rule" else replace(v, method="") for v in suite.variants)
    known = {v.name: v for v in (*variants, *probes.values())}
    for name in ratings.variants:
        perturber, degree, dose = parse_variant(name)
        if dose and perturber in suite.perturbers:
            use = suite.perturbers[perturber]
            known[name] = Variant(name, perturber, use.level, use.method, degree)
        if name not in known:
            raise InputError(
                f"{ratings.place}: variant '{name}' is not in the suite '{suite.suite}'; "
                f"{suggest(name, known)}"
            )
    rated = [v for name, v in known.items() if name in ratings.variants]
    doses = any(parse_variant(v.name).dose for v in rated)
    missing = [v.name for v in suite.variants if v.name not in ratings.variants]
    return rated, [] if doses else missing, "suite"


def _probes() -> list[Variant]:
    """The controls and attacks that can be added to any suite."""
    variants: list[Variant] = []
    for kind in ("controls", "attacks"):
        for name, use in read_probes(kind).perturbers.items():
            variants += use.variants(name)
    return variants


def judged_kinds(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    edits: Sequence[str] = (),
) -> tuple[list[VariantResult], RunDetection]:
    """Kinds of damage that are judged together, and the detection of all of them.

    `edits` are the variants of harmless edits that damage is compared with.
    """
    if not variants:
        return [], NOTHING
    names = [variant.name for variant in variants]
    differences = ratings.difference_table(names, ratings.metrics)
    detected = detection(differences, [variant.level for variant in variants], ratings.clusters)
    verdict_list = verdicts(
        detected,
        flip_log_p(differences, ratings.clusters),
        floor=config.floor_share,
        below_edits=_below_edits(ratings, names, edits),
    )
    rows = _rows(ratings, variants, config, differences, detected)
    # Both go by the figures that the verdicts were read off, so they can contradict none.
    more = needed(differences, detected, verdict_list, config.floor_share)
    least = map(_defined, detected.at_least(ALPHA).tolist())
    return [
        replace(row, verdict=word, n_to_decide=sizes, at_least=low)
        for row, word, sizes, low in zip(rows, verdict_list, more, least, strict=True)
    ], _of_run(detected, names)


def _below_edits(ratings: RatingsArray, names: Sequence[str], edits: Sequence[str]) -> Floats | None:
    """Natural logs of the p-values that damaged copies score no lower than harmlessly edited ones."""
    # Within each text: how far both copies lie below the original does not matter.
    tables = [ratings.difference_table(names, ratings.metrics, of=e) for e in edits if e in ratings.variants]
    return below_edits(tables, ratings.clusters).log_p if tables else None


def needed(
    differences: Floats, detected: Detection, decided: Sequence[Verdict], floor: float
) -> list[tuple[int, int] | None]:
    """Examples that would decide each kind of which it is open whether it is noticed or missed."""
    seen = detected.seen
    pairs = seen.defined.sum(axis=0)[:, 0]
    variance = pairs * (seen.influence[:, :, 0] ** 2).sum(axis=0)
    of_mean, groups = (each[:, 0] for each in seen.variance(detected.clusters))
    in_cluster = cluster_size(seen.defined, detected.clusters)[:, 0]
    size = effective_size(pairs, variance, of_mean, groups, cluster_size=in_cluster)
    return examples_to_decide(
        differences, decided, size / np.maximum(pairs, 1), floor=floor, clusters=detected.clusters
    )


def judged_probes(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    damage: Sequence[VariantResult] = (),
    *,
    attacks: bool = False,
) -> list[VariantResult]:
    """Controls, or attacks, with their states beside the damage that was judged.

    Detection is that of the metric by which the state was reached.
    """
    if not variants:
        return []
    # Scores that stay are what is wanted of these, and silence is no proof of it.
    ratings = ratings.of_pairs_read()
    names, judged = [variant.name for variant in variants], [row.variant for row in damage]
    differences = ratings.difference_table(names, ratings.metrics)
    beside = ratings.difference_table(judged, ratings.metrics) if judged else None
    moved = any(np.nan_to_num(x).any() for x in (differences, beside) if x is not None)
    noticed = [row.state.is_noticed for row in damage]
    detected = detection(differences, [variant.level for variant in variants], ratings.clusters)
    rows = _rows(ratings, variants, config, differences, detected, two_sided=attacks)
    moves = movements(differences, beside, noticed, ratings.clusters)
    judged_rows = []
    for v, (row, move) in enumerate(zip(rows, moves, strict=True)):
        state, m = control_state(move, attack=attacks, scores_move=moved)
        against = int(move.against[m])  # below 0 without damage that was noticed
        judged_rows.append(
            replace(
                row,
                verdict=state,
                best_metric=row.best_metric and ratings.metrics[m],
                detection=_defined(detected.metric_value[v, m]),
                detection_ci=_ends(detected.metric_low[v, m], detected.metric_high[v, m]),
                share=float(move.share[m]) if against >= 0 else None,
                beside=judged[against] if against >= 0 else None,
            )
        )
    return judged_rows


def _rows(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    differences: Floats,
    detected: Detection,
    *,
    two_sided: bool = False,
) -> list[VariantResult]:
    """The variants, at least one, without a verdict. Probes have no weights."""
    names, metrics = [v.name for v in variants], ratings.metrics
    weights = [None if v.level in PROBES else config.weight_row(v.perturber, metrics) for v in variants]
    if config.method == "scipy":  # as published: plain differences, where rounding may split ties
        differences = ratings.difference_table(names, metrics, ties=False)
    alternative: Alternative = "two-sided" if two_sided else "greater"
    log_p, *scores = _discerned(ratings, weights, config, differences, alternative)
    cells = _cells(ratings, names, weights, differences, log_p, detected)
    rows = []
    for v, (variant, row) in enumerate(zip(variants, weights, strict=True)):
        d, d_ew = (_defined(each[v]) for each in scores)
        lost = math.nan
        if row is not None and d is not None:
            lost = confusion([cell.mean_drop or 0.0 for cell in cells[v].values()], row)
        value, low, high = _kind(detected, v)
        rows.append(
            VariantResult(
                variant=variant.name,
                level=variant.level,
                method=variant.method or None,
                stand_in=variant.stand_in or None,
                degree=variant.degree,
                metrics=cells[v],
                p=None if d is None else _plain_p(d * LOG_ALPHA),
                d=d,
                d_ew=d_ew,
                not_applicable=ratings.not_applicable(variant.name),
                misplaced=_defined(lost),
                detection=_defined(value),
                detection_ci=_ends(low, high),
                best_metric=None if math.isnan(value) else _best(detected.metric_value[v], metrics),
                n=int(detected.pairs[v].max()),
                read=ratings.read([variant.name]),
            )
        )
    return rows


def _discerned(
    ratings: RatingsArray,
    weights: Sequence[Sequence[float] | None],
    config: ResolvedConfig,
    differences: Floats,
    alternative: Alternative,
) -> tuple[Floats, Floats, Floats]:
    """As `discern`."""
    halves = np.rint(2 * differences)
    if config.method == "sign-flip" and not np.array_equal(halves, 2 * differences, equal_nan=True):
        raise InputError(
            f"{ratings.place}: statistics 'sign-flip' is for verdicts on pairs, whose differences are "
            "multiples of 1/2; allowed: default, paper"
        )
    return discern(
        differences,
        np.array([[math.nan] * len(ratings.metrics) if row is None else row for row in weights]),
        method=config.method,
        combination=config.named_combination(),
        alternative=alternative,
        clusters=ratings.clusters,
    )


def _cells(
    ratings: RatingsArray,
    variants: Sequence[str],
    weights: Sequence[Sequence[float] | None],
    differences: Floats,
    log_p: Floats,
    detected: Detection,
) -> list[dict[str, Cell]]:
    """Metric -> its test, of each variant."""
    original, degraded = ratings.score_tables(variants)
    counted = ~np.isnan(differences)
    area = auroc_influences(original, degraded, counted)
    drops = standardised_drop_influences(original, degraded, counted).value
    cells: list[dict[str, Cell]] = [{} for _ in variants]
    for v, m in product(range(len(variants)), range(len(ratings.metrics))):
        metric, row, pairs = ratings.metrics[m], weights[v], int(detected.pairs[v, m])
        left_out = ratings.asked_about(variants[v], metric) & np.isnan(differences[:, v, m])
        cells[v][metric] = Cell(
            p=_plain_p(log_p[v, m]),
            log10_p=_defined(log_p[v, m] / math.log(10) + 0.0),
            n=pairs,
            missing=int(left_out.sum()),
            unread=int(ratings.ties_unread(variants[v], metric).sum()),
            mean_drop=float(np.nanmean(differences[:, v, m])) + 0.0 if pairs else None,
            weight=None if row is None else row[m],
            fell=_defined(detected.fell[v, m]),
            tied=_defined(detected.tied[v, m]),
            rose=_defined(detected.rose[v, m]),
            detection=_defined(detected.metric_value[v, m]),
            detection_ci=_ends(detected.metric_low[v, m], detected.metric_high[v, m]),
            auroc=_defined(area.value[v, m]),
            standardised_drop=_defined(drops[v, m]),
        )
    return cells


def failure_warnings(ratings: RatingsArray, rows: Sequence[VariantResult]) -> list[str]:
    """A line on kinds of which more, or fewer, ratings lack a score than of originals (Holm over kinds)."""
    if ORIGINAL not in ratings.answers:  # of comparisons, where nobody is asked about originals
        return []
    failures: list[tuple[str, float, float]] = []  # kind, share of originals, share of its texts
    log_p: list[float] = []
    for row in rows:
        failed = ratings.failed(row.variant)
        if failed is not None and failed.any():
            before, after = failed.mean(axis=1)
            failures.append((row.variant, before, after))
            log_p.append(math.log(float(failure_p(*failed))))
    uneven: list[tuple[float, str]] = []
    for (name, before, after), adjusted in zip(failures, holm(np.array(log_p)).tolist(), strict=True):
        if adjusted <= math.log(0.05):
            uneven.append((abs(after - before), f"{variant_name(name)} ({after:.0%} and {before:.0%})"))
    if not uneven:
        return []
    named = [text for _, text in sorted(uneven, key=lambda each: -each[0])[:_UNEVEN]]
    more = f" and {len(uneven) - _UNEVEN} more kinds" if len(uneven) > _UNEVEN else ""
    return [
        f"degraded texts and originals lack scores at different rates: {', '.join(named)}{more}; failures "
        "depend on the damage"
    ]


def _best(values: Floats, metrics: Sequence[str]) -> str:
    """The metric with the highest detection; of several the first by name, whatever their order."""
    return min(m for m, value in zip(metrics, values, strict=True) if value >= np.nanmax(values) - 1e-12)


def _kind(detected: Detection, v: int) -> tuple[float, float, float]:
    return float(detected.value[v]), float(detected.low[v]), float(detected.high[v])


def _ends(low: float, high: float) -> Interval:
    return None if math.isnan(low) or math.isnan(high) else (float(low), float(high))


def _of_run(detected: Detection, names: Sequence[str]) -> RunDetection:
    average, low, high = detected.average
    defined = detected.lowest >= 0
    least, *ends = _kind(detected, detected.lowest) if defined else (math.nan,) * 3
    return RunDetection(
        avg=_defined(average),
        min=_defined(least),
        min_variant=names[detected.lowest] if defined else None,
        ci={"avg": _ends(low, high), "min": _ends(*ends)},
    )


def _defined(value: float) -> float | None:
    """The value, or None for NaN."""
    return None if math.isnan(value) else float(value)


def _plain_p(log_p: float) -> float | None:
    """The p-value; None if it would underflow."""
    return math.exp(log_p) if log_p > _SMALLEST_LOG else None
