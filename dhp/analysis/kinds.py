"""Kinds of damage, controls and attacks of a result: which were rated, their figures and verdicts.

`rated_variants` says which kinds there are, and in which order. `judged_kinds` tests the damage;
`judged_probes` judges controls and attacks by the damage that was noticed, so it comes second.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.control_state import control_state
from dhp.analysis.outlook import examples_to_decide
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.record_values import finite
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
from dhp.stats.influences import cluster_size
from dhp.stats.metric_relations import confusion
from dhp.stats.missing import failure_p
from dhp.stats.unpaired import auroc_influences, standardised_drop_influences
from dhp.stats.wilcoxon import Alternative

ONE_LEVEL = "all"
"""Level of variants if none is known."""
_SMALLEST_LOG = -690.0
"""Natural log of a p-value of 1e-300, below which it is given as a logarithm only: 1e-308 is the smallest
float of full precision."""
_UNEVEN = 3
"""Kinds that a warning names; chosen."""


def rated_variants(ratings: RatingsArray, suite: Suite | None) -> tuple[list[Variant], list[str], str]:
    """The rated variants in order, the suite's variants that were not rated, and where levels come from."""
    if suite is None:
        return _by_name(ratings), [], "column" if ratings.levels else "none"
    known: dict[str, Variant] = {}
    for variant in suite.variants:
        # A table does not say whether a language model or people made the variants of method `llm`.
        known[variant.name] = variant if variant.method == "rule" else replace(variant, method="")
    for probe in _probes():
        known[probe.name] = probe
    doses = False
    for name in ratings.variants:
        perturber, degree, dose = parse_variant(name)
        doses = doses or bool(dose)
        if dose and perturber in suite.perturbers:
            use = suite.perturbers[perturber]
            # The file of the suite has no doses: one gets level and method of its perturber there.
            known[name] = Variant(name, perturber, use.level, use.method, degree)
        if name not in known:
            raise InputError(
                f"{ratings.place}: variant '{name}' is not in the suite '{suite.suite}'; "
                f"{suggest(name, known)}"
            )
    rated = [variant for name, variant in known.items() if name in ratings.variants]
    # Doses take the place of the degrees of a suite, which are then not missing.
    missing = [] if doses else [v.name for v in suite.variants if v.name not in ratings.variants]
    return rated, missing, "suite"


def _by_name(ratings: RatingsArray) -> list[Variant]:
    """The rated variants without a suite: their names, and levels if the table has them."""
    levels = {probe.name: probe.level for probe in _probes()} | (ratings.levels or {})
    variants = []
    for name in ratings.variants:
        perturber, degree, _ = parse_variant(name)
        variants.append(Variant(name, perturber, levels.get(name, ONE_LEVEL), "", degree))
    return variants


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

    `edits` are the variants of harmless edits, among those rated, that damage is compared with.
    """
    if not variants:
        return [], NOTHING
    names = [variant.name for variant in variants]
    differences = ratings.difference_table(names, ratings.metrics)
    detected = detection(differences, [variant.level for variant in variants], ratings.clusters)
    words = verdicts(
        detected,
        flip_log_p(differences, ratings.clusters),
        floor=config.floor_share,
        below_edits=_below_edits(ratings, names, edits),
    )
    # Both go by the figures that the verdicts were read off, so they can contradict none.
    sizes = needed(differences, detected, words, config.floor_share)
    at_least = detected.at_least(ALPHA)
    rows = []
    for v, row in enumerate(_rows(ratings, variants, config, differences, detected)):
        judged = replace(row, verdict=words[v], n_to_decide=sizes[v], at_least=finite(at_least[v]))
        rows.append(judged)
    return rows, _of_run(detected, names)


def _below_edits(ratings: RatingsArray, names: Sequence[str], edits: Sequence[str]) -> Floats | None:
    """Natural logs of the p-values that damaged copies score no lower than harmlessly edited ones."""
    if not edits:
        return None
    # Within each text: how far both copies lie below the original does not matter.
    tables = [ratings.difference_table(names, ratings.metrics, of=edit) for edit in edits]
    return below_edits(tables, ratings.clusters).log_p


def needed(
    differences: Floats, detected: Detection, decided: Sequence[Verdict], floor: float
) -> list[tuple[int, int] | None]:
    """Numbers of examples that would decide each kind that may still be noticed or missed."""
    seen = detected.seen
    pairs = seen.defined.sum(axis=0)[:, 0]
    variance_of_one = pairs * (seen.influence[:, :, 0] ** 2).sum(axis=0)
    variance_of_mean, groups = seen.variance(detected.clusters)
    size = effective_size(
        pairs,
        variance_of_one,
        variance_of_mean[:, 0],
        groups[:, 0],
        cluster_size=cluster_size(seen.defined, detected.clusters)[:, 0],
    )
    independent = size / np.maximum(pairs, 1)
    return examples_to_decide(differences, decided, independent, floor=floor, clusters=detected.clusters)


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
    names = [variant.name for variant in variants]
    differences = ratings.difference_table(names, ratings.metrics)
    scores_move = bool(np.nan_to_num(differences).any())
    damaged = [row.variant for row in damage]
    beside = None
    if damaged:
        beside = ratings.difference_table(damaged, ratings.metrics)
        scores_move = scores_move or bool(np.nan_to_num(beside).any())
    noticed = [row.state.is_noticed for row in damage]
    detected = detection(differences, [variant.level for variant in variants], ratings.clusters)
    rows = _rows(ratings, variants, config, differences, detected, two_sided=attacks)
    moves = movements(differences, beside, noticed, ratings.clusters)
    judged: list[VariantResult] = []
    for v, (row, move) in enumerate(zip(rows, moves, strict=True)):
        state, m = control_state(move, attack=attacks, scores_move=scores_move)
        row = replace(
            row,
            verdict=state,
            best_metric=None if row.best_metric is None else ratings.metrics[m],
            detection=finite(detected.metric_value[v, m]),
            detection_ci=_ends(detected.metric_low[v, m], detected.metric_high[v, m]),
        )
        against = int(move.against[m])
        if against >= 0:  # below 0 if there is no damage to hold it against
            row = replace(row, share=float(move.share[m]), beside=damaged[against])
        judged.append(row)
    return judged


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
    names, metrics = [variant.name for variant in variants], ratings.metrics
    weights: list[Sequence[float] | None] = []
    for variant in variants:
        is_probe = variant.level in PROBES
        # Experts weigh damage alone: weights have no row for a probe.
        weights.append(None if is_probe else config.weight_row(variant.perturber, metrics))
    if config.method == "scipy":  # as published: plain differences, in which rounding may split ties
        differences = ratings.difference_table(names, metrics, ties=False)
    alternative: Alternative = "two-sided" if two_sided else "greater"
    log_p, d, d_ew = _discerned(ratings, weights, config, differences, alternative)
    cells = _cells(ratings, names, weights, differences, log_p, detected)
    rows = []
    for v, variant in enumerate(variants):
        seen = not math.isnan(detected.value[v])
        rows.append(
            VariantResult(
                variant=variant.name,
                level=variant.level,
                method=variant.method or None,
                stand_in=variant.stand_in or None,
                degree=variant.degree,
                metrics=cells[v],
                p=_plain_p(d[v] * LOG_ALPHA),
                d=finite(d[v]),
                d_ew=finite(d_ew[v]),
                not_applicable=ratings.not_applicable(variant.name),
                misplaced=None if math.isnan(d[v]) else _misplaced(cells[v], weights[v]),
                detection=finite(detected.value[v]),
                detection_ci=_ends(detected.low[v], detected.high[v]),
                best_metric=_best(detected.metric_value[v], metrics) if seen else None,
                n=int(detected.pairs[v].max()),
                read=ratings.read([variant.name]),
            )
        )
    return rows


def _misplaced(cells: Mapping[str, Cell], weights: Sequence[float] | None) -> float | None:
    """The share of the mean drop that fell on other metrics than their weights say."""
    if weights is None:
        return None
    drops = [cell.mean_drop or 0.0 for cell in cells.values()]
    return finite(confusion(drops, weights))


def _discerned(
    ratings: RatingsArray,
    weights: Sequence[Sequence[float] | None],
    config: ResolvedConfig,
    differences: Floats,
    alternative: Alternative,
) -> tuple[Floats, Floats, Floats]:
    """Logs of p (variants, metrics), D and D with expert weights (variants,), by `discern`."""
    # Twice a multiple of 1/2 is a whole number, which rounding leaves as it is.
    halves = np.rint(2 * differences)
    if config.method == "sign-flip" and not np.array_equal(halves, 2 * differences, equal_nan=True):
        raise InputError(
            f"{ratings.place}: statistics 'sign-flip' is for verdicts on pairs, whose differences are "
            "multiples of 1/2; allowed: default, paper"
        )
    table = np.full((len(weights), len(ratings.metrics)), np.nan)  # a row of NaN means none
    for v, row in enumerate(weights):
        if row is not None:
            table[v] = row
    return discern(
        differences,
        table,
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
    # One dictionary for each; `[{}] * n` would be the same one n times.
    cells: list[dict[str, Cell]] = [{} for _ in variants]
    for v, m in product(range(len(variants)), range(len(ratings.metrics))):
        variant, metric = variants[v], ratings.metrics[m]
        row, pairs = weights[v], int(detected.pairs[v, m])
        left_out = ratings.asked_about(variant, metric) & np.isnan(differences[:, v, m])
        cells[v][metric] = Cell(
            p=_plain_p(log_p[v, m]),
            log10_p=finite(log_p[v, m] / math.log(10) + 0.0),  # + 0.0 turns -0.0 into 0.0
            n=pairs,
            missing=int(left_out.sum()),
            unread=int(ratings.ties_unread(variant, metric).sum()),
            mean_drop=float(np.nanmean(differences[:, v, m])) + 0.0 if pairs else None,
            weight=None if row is None else row[m],
            fell=finite(detected.fell[v, m]),
            tied=finite(detected.tied[v, m]),
            rose=finite(detected.rose[v, m]),
            detection=finite(detected.metric_value[v, m]),
            detection_ci=_ends(detected.metric_low[v, m], detected.metric_high[v, m]),
            auroc=finite(area.value[v, m]),
            standardised_drop=finite(drops[v, m]),
        )
    return cells


def failure_warnings(ratings: RatingsArray, rows: Sequence[VariantResult]) -> list[str]:
    """A warning about kinds that lack scores more often, or less often, than originals; empty without any.

    By McNemar's test, with Holm's correction for the number of kinds.
    """
    if ORIGINAL not in ratings.answers:  # in comparisons nobody is asked about originals
        return []
    failures: list[tuple[str, float, float]] = []  # kind, share of originals, share of its texts
    log_p: list[float] = []
    for row in rows:
        failed = ratings.failed(row.variant)
        # A kind without failures is no test: one test more makes the correction stricter for all.
        if failed is not None and failed.any():
            of_originals, of_copies = failed.mean(axis=1)
            failures.append((row.variant, of_originals, of_copies))
            log_p.append(math.log(float(failure_p(*failed))))
    # How far the shares lie apart, and the kind with both in words.
    uneven: list[tuple[float, str]] = []
    for failure, adjusted in zip(failures, holm(np.array(log_p)).tolist(), strict=True):
        name, of_originals, of_copies = failure
        if adjusted <= math.log(ALPHA):
            words = f"{variant_name(name)} ({of_copies:.0%} and {of_originals:.0%})"
            uneven.append((abs(of_copies - of_originals), words))
    if not uneven:
        return []
    uneven.sort(key=lambda each: -each[0])  # the largest difference first, else in the order of the rows
    named = ", ".join(words for _, words in uneven[:_UNEVEN])
    more = f" and {len(uneven) - _UNEVEN} more kinds" if len(uneven) > _UNEVEN else ""
    return [
        f"degraded texts and originals lack scores at different rates: {named}{more}; failures "
        "depend on the damage"
    ]


def _best(values: Floats, metrics: Sequence[str]) -> str:
    """The metric with the highest detection; of several the first by name, whatever their order."""
    # Less a little, so that rounding makes no difference between metrics that are equal.
    highest = np.nanmax(values) - 1e-12
    return min(metric for metric, value in zip(metrics, values, strict=True) if value >= highest)


def _ends(low: float, high: float) -> Interval:
    return None if math.isnan(low) or math.isnan(high) else (float(low), float(high))


def _of_run(detected: Detection, names: Sequence[str]) -> RunDetection:
    average, low, high = detected.average
    v = detected.lowest
    if v < 0:  # no kind has enough pairs
        return RunDetection(finite(average), None, None, {"avg": _ends(low, high), "min": None})
    return RunDetection(
        avg=finite(average),
        min=finite(detected.value[v]),
        min_variant=names[v],
        ci={"avg": _ends(low, high), "min": _ends(detected.low[v], detected.high[v])},
    )


def _plain_p(log_p: float) -> float | None:
    """The p-value; None if it is undefined or would underflow."""
    return math.exp(log_p) if log_p > _SMALLEST_LOG else None
