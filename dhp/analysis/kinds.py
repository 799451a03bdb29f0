"""Kinds of damage, controls and attacks of a result: which were rated, their figures and verdicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import NOTHING, Cell, Ends, RunDetection, VariantResult
from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, suggest
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.specs import Suite
from dhp.stats.arrays import Floats
from dhp.stats.auroc import auroc_influences, standardised_drop_influences
from dhp.stats.design import Design
from dhp.stats.detection import (
    ALPHA,
    ControlState,
    Detection,
    Verdict,
    control_state,
    detection,
    examples_to_decide,
    verdict,
)
from dhp.stats.discernment import LOG_ALPHA, holm
from dhp.stats.influences import wilson_interval
from dhp.stats.judge_habits import confusion, failure_p
from dhp.stats.wilcoxon.signed_rank import Alternative

_ONE_LEVEL = "all"
_SMALLEST_LOG = -690.0  # below it p underflows


def rated_variants(ratings: RatingsArray, suite: Suite | None) -> tuple[list[Variant], list[str], str]:
    """The rated variants in order, the suite's variants that were not rated, and where levels come from."""
    probes = {v.name: v for v in _probes()}
    if suite is None:
        levels = {name: v.level for name, v in probes.items()} | (ratings.levels or {})
        rated = []
        for name in ratings.variants:
            perturber, degree, _ = parse_variant(name)
            rated.append(Variant(name, perturber, levels.get(name, _ONE_LEVEL), "", degree))
        return rated, [], "column" if ratings.levels else "none"
    # A table does not say whether a language model or people made the variants of method `llm`.
    own = (v if v.method == "rule" else replace(v, method="") for v in suite.variants)
    known = {v.name: v for v in (*own, *probes.values())}
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
    uses = [use for name in ("controls", "attacks") for use in read_probes(name).perturbers.items()]
    return [variant for name, use in uses for variant in use.variants(name)]


def _design(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    alternative: Alternative = "greater",
) -> Design:
    """How these variants, at least one, are tested by these ratings; probes have no weights."""
    none = [math.nan] * len(ratings.metrics)
    rows = [None if v.level in PROBES else config.weight_row(v.perturber, ratings.metrics) for v in variants]
    names = [v.name for v in variants]
    differences = ratings.difference_table(names, ratings.metrics, ties=config.method != "scipy")
    if config.method == "sign-flip" and not np.array_equal(
        np.rint(2 * differences), 2 * differences, equal_nan=True
    ):
        raise InputError(
            f"{ratings.place}: statistics 'sign-flip' is for verdicts on pairs, whose differences are "
            "multiples of 1/2; allowed: default, paper"
        )
    return Design.of(
        differences,
        [v.level for v in variants],
        np.array([none if row is None else row for row in rows]),
        method=config.method,
        combination=config.named_combination(),
        alternative=alternative,
        clusters=ratings.clusters,
    )


def judged_kinds(
    ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig, harmless: Sequence[str] = ()
) -> tuple[list[VariantResult], RunDetection]:
    """Kinds of damage that are judged together, and the detection of all of them.

    `harmless` are the rated controls that damage is compared with.
    """
    if not variants:
        return [], NOTHING
    names = [variant.name for variant in variants]
    controls = ratings.difference_table(harmless, ratings.metrics) if harmless else None
    alpha, together = ALPHA, None
    if ratings.course.analyses is not None:
        # The same at each analysis, so that a kind that was decided stays so.
        alpha, together = ALPHA / ratings.course.analyses, len(names)
    differences = ratings.difference_table(names, ratings.metrics)
    levels = [variant.level for variant in variants]
    found = detection(
        differences, levels, ratings.clusters, controls=controls, alpha=alpha, together=together
    )
    figures = _figures(ratings, variants, _design(ratings, variants, config), found)
    rows = []
    for v, variant in enumerate(variants):
        value, low, high = _kind(found, v)
        above = float(found.above_controls[v])
        said = verdict(value, low, high, figures.pairs(v), floor=config.floor_share, above_controls=above)
        more = None
        if said == "undecided":
            deviates = float(found.deviates[0][v]), found.deviates[1]
            more = examples_to_decide(
                len(ratings.examples), value, low, high, deviates, floor=config.floor_share
            )
        rows.append(_row(ratings, variant, figures, v, said, more))
    return rows, _of_run(found, names)


def judged_probes(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    kind: Literal["control", "attack"] = "control",
) -> list[VariantResult]:
    """Controls, or attacks, with detection and state.

    Of an attack the metric is named that it raised most, and detection is that metric's: the figures of the
    share of scores that rose, mirrored.
    """
    if not variants:
        return []
    attacks = kind == "attack"
    differences = ratings.difference_table([variant.name for variant in variants], ratings.metrics)
    levels = [variant.level for variant in variants]
    found = detection(-differences if attacks else differences, levels, ratings.clusters)
    design = _design(ratings, variants, config, "two-sided" if attacks else "greater")
    figures = _figures(ratings, variants, design, found)
    alarm: ControlState = "raised" if attacks else "false alarm"
    rows = []
    for v, variant in enumerate(variants):
        state = control_state(*_kind(found, v), figures.pairs(v), floor=config.floor_share, alarm=alarm)
        rows.append(_row(ratings, variant, figures, v, state, mirrored=attacks))
    return rows


@dataclass(frozen=True, slots=True)
class _Figures:
    """Figures of V variants and M metrics, those of cells of shape (V, M); NaN where undefined."""

    design: Design
    detection: Detection
    area: Floats
    low: Floats
    high: Floats
    drops: Floats
    """Standardised drops."""

    def pairs(self, v: int) -> int:
        """Pairs of the metric that has most."""
        return int(self.detection.pairs[v].max())


def _figures(
    ratings: RatingsArray, variants: Sequence[Variant], design: Design, detection: Detection
) -> _Figures:
    original, degraded = ratings.score_tables([variant.name for variant in variants])
    area = auroc_influences(original, degraded)
    drops = standardised_drop_influences(original, degraded).value
    return _Figures(design, detection, area.value, *wilson_interval(area, ratings.clusters), drops)


def _row(
    ratings: RatingsArray,
    variant: Variant,
    figures: _Figures,
    v: int,
    said: Verdict | ControlState,
    n_to_decide: int | None = None,
    *,
    mirrored: bool = False,
) -> VariantResult:
    """Variant number v; with `mirrored` the detection is that of scores that rose."""
    design, name = figures.design, variant.name
    assert design.weights is not None
    row = None if np.isnan(design.weights[v]).any() else design.weights[v].tolist()
    cells = {
        metric: _cell(figures, (v, m), ratings.missing(name, metric), row[m] if row else None, mirrored)
        for m, metric in enumerate(ratings.metrics)
    }
    d, d_ew = (_defined(values[0, v]) for values in (design.point.d, design.point.d_ew))
    lost = math.nan
    if d is not None and d_ew is not None:
        if row is not None:
            lost = confusion([cell.mean_drop or 0.0 for cell in cells.values()], row)
        if variant.level not in PROBES:
            d, d_ew = (ratings.course.adjusted(each, name) for each in (d, d_ew))
    value, low, high = _kind(figures.detection, v)
    best = None if math.isnan(value) else _best(figures.detection, v, ratings.metrics)
    share, ends = _mirrored(value, low, high) if mirrored else (_defined(value), _ends(low, high))
    return VariantResult(
        variant=name,
        level=variant.level,
        method=variant.method or None,
        degree=variant.degree,
        metrics=cells,
        p=None if d is None else _plain_p(d * LOG_ALPHA),
        p_ew=None if d_ew is None else _plain_p(d_ew * LOG_ALPHA),
        d=d,
        d_ew=d_ew,
        not_applicable=ratings.not_applicable(name),
        stopped_at=ratings.stopped_at(name),
        misplaced=_defined(lost),
        detection=share,
        detection_ci=ends,
        best_metric=best,
        n=figures.pairs(v),
        verdict=said,
        n_to_decide=n_to_decide,
    )


def _cell(figures: _Figures, at: tuple[int, int], missing: int, weight: float | None, mirrored: bool) -> Cell:
    """The figures of one variant and metric."""
    v, m = at
    found, test = figures.detection, figures.design.tests[v][m]
    metrics = found.metrics
    value, low, high = (float(each[at]) for each in (metrics.value, metrics.low, metrics.high))
    share, ends = _mirrored(value, low, high) if mirrored else (_defined(value), _ends(low, high))
    fell, rose = (found.rose, found.fell) if mirrored else (found.fell, found.rose)
    return Cell(
        p=None if test is None else _plain_p(test.log_p),
        log10_p=None if test is None else test.log_p / math.log(10) + 0.0,
        n=0 if test is None else test.n,
        missing=missing,
        mean_drop=None if test is None else float(np.nanmean(figures.design.differences[:, v, m])) + 0.0,
        weight=weight,
        fell=_defined(fell[at]),
        tied=_defined(found.tied[at]),
        rose=_defined(rose[at]),
        detection=share,
        detection_ci=ends,
        auroc=_defined(figures.area[at]),
        auroc_ci=_ends(figures.low[at], figures.high[at]),
        standardised_drop=_defined(figures.drops[at]),
    )


def _mirrored(value: float, low: float, high: float) -> tuple[float | None, Ends]:
    """Detection of scores that rose, and its limits, as of scores that fell."""
    ends = _ends(low, high)
    return (None if math.isnan(value) else 1 - value), None if ends is None else (1 - ends[1], 1 - ends[0])


def failure_warnings(ratings: RatingsArray, rows: Sequence[VariantResult]) -> list[str]:
    """Variants of which more, or fewer, ratings have no score than of the originals (Holm over variants)."""
    found = {}
    for row in rows:
        failed = ratings.failed(row.variant)
        if failed is not None and failed.any():
            found[row.variant] = (failed.mean(axis=1), math.log(float(failure_p(*failed))))
    adjusted = holm(np.array([log_p for _, log_p in found.values()]))
    return [
        f"{name}: {after:.0%} of the degraded texts lack a score, but {before:.0%} of the originals: "
        "failures depend on the damage, and detection leaves these examples out"
        for (name, ((before, after), _)), log_p in zip(found.items(), adjusted.tolist(), strict=True)
        if log_p <= math.log(0.05)
    ]


def _best(detection: Detection, v: int, metrics: Sequence[str]) -> str:
    """The best metric; of several the first by name, whatever their order."""
    values = detection.metrics.value[v]
    return min(
        metric for metric, value in zip(metrics, values, strict=True) if value >= np.nanmax(values) - 1e-12
    )


def _kind(detection: Detection, v: int) -> tuple[float, float, float]:
    return float(detection.kinds.value[v]), float(detection.kinds.low[v]), float(detection.kinds.high[v])


def _ends(low: float, high: float) -> Ends:
    return None if math.isnan(low) or math.isnan(high) else (float(low), float(high))


def _of_run(detection: Detection, names: Sequence[str]) -> RunDetection:
    average, lowest = detection.average, detection.lowest
    value, low, high = (math.nan,) * 3 if lowest < 0 else _kind(detection, lowest)
    return RunDetection(
        avg=_defined(float(average.value)),
        min=_defined(value),
        min_variant=None if lowest < 0 else names[lowest],
        ci={"avg": _ends(float(average.low), float(average.high)), "min": _ends(low, high)},
    )


def _defined(value: float) -> float | None:
    """The value, or None for NaN."""
    return None if math.isnan(value) else float(value)


def _plain_p(log_p: float) -> float | None:
    """The p-value; None where it would underflow."""
    return math.exp(log_p) if log_p > _SMALLEST_LOG else None
