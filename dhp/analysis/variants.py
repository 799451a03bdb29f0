"""Variants of a result: their properties, tests and figures."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.detection import defined
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import Cell, VariantResult
from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, suggest
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.specs import Suite
from dhp.stats.arrays import Floats
from dhp.stats.design import Design
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.judge_habits import confusion
from dhp.stats.wilcoxon.signed_rank import Alternative, SignedRank

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


def design_of(
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
        combination=config.combination,
        alternative=alternative,
        clusters=ratings.clusters,
    )


def variant_results(
    ratings: RatingsArray, variants: Sequence[Variant], design: Design
) -> list[VariantResult]:
    """What came out of `design_of` the same variants."""
    return [_variant_result(ratings, variant, design, v) for v, variant in enumerate(variants)]


def _variant_result(ratings: RatingsArray, variant: Variant, design: Design, v: int) -> VariantResult:
    assert design.weights is not None
    point, weights = design.point, design.weights[v]
    row = None if np.isnan(weights).any() else weights.tolist()
    drops = design.differences[:, v]
    cells = {
        metric: _cell(
            test, drops[:, m], ratings.missing(variant.name, metric), None if row is None else row[m]
        )
        for m, (metric, test) in enumerate(zip(ratings.metrics, design.tests[v], strict=True))
    }
    d, d_ew = (defined(values[0, v]) for values in (point.d, point.d_ew))
    lost = math.nan
    if d is not None and d_ew is not None:
        if row is not None:
            lost = confusion([cell.mean_drop or 0.0 for cell in cells.values()], row)
        if ratings.interim is not None and variant.level not in PROBES:
            d, d_ew = (ratings.interim.adjusted(each, variant.name) for each in (d, d_ew))
    return VariantResult(
        variant=variant.name,
        level=variant.level,
        method=variant.method or None,
        degree=variant.degree,
        metrics=cells,
        p=None if d is None else _plain_p(d * LOG_ALPHA),
        p_ew=None if d_ew is None else _plain_p(d_ew * LOG_ALPHA),
        d=d,
        d_ew=d_ew,
        not_applicable=ratings.not_applicable(variant.name),
        stopped_at=None if ratings.interim is None else ratings.interim.stopped_at(variant.name),
        misplaced=defined(lost),
    )


def _cell(test: SignedRank | None, drops: Floats, missing: int, weight: float | None) -> Cell:
    if test is None:
        return Cell(None, None, 0, missing, None, weight)
    return Cell(
        p=_plain_p(test.log_p),
        log10_p=test.log_p / math.log(10) + 0.0,
        n=test.n,
        missing=missing,
        mean_drop=float(np.nanmean(drops)) + 0.0,
        weight=weight,
    )


def _plain_p(log_p: float) -> float | None:
    """The p-value; None where it would underflow."""
    return math.exp(log_p) if log_p > _SMALLEST_LOG else None
