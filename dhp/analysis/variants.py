"""From ratings to the variants of a result: which were rated, how they are tested, what came out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.detection import defined
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.result_parts import Cell, VariantResult
from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, suggest
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.seeding import key_digest
from dhp.core.suite_spec import Suite
from dhp.stats.confusion import confusion, contributions
from dhp.stats.design import Design
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.effects import Effect
from dhp.stats.wilcoxon.resampled import subsets
from dhp.stats.wilcoxon.signed_rank import Alternative, SignedRank

STANDARD_N = 100
"""Examples of the benchmark's own datasets, for which averages are re-expressed."""
_DRAWS = 500  # subsets; their mean settles soon
_AVERAGES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")
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
    differences = ratings.difference_table(names, ratings.metrics, rounded=config.method != "scipy")
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


def at_standard_n(design: Design, digest: str) -> dict[str, float | None]:
    """The averages of a design as the mean over subsets without replacement, seeded by the ratings' digest.

    None where there are fewer examples, as nothing is extrapolated, and where these are clustered. A subset
    in which an average is undefined does not count.
    """
    if design.n < STANDARD_N or design.clusters is not None:
        return dict.fromkeys(_AVERAGES)
    if design.n == STANDARD_N:
        drawn = [design.point]
    else:
        rng = np.random.default_rng(int.from_bytes(key_digest(digest, "subsets")))
        drawn = [design.sampled(times)[1] for times in subsets(design.n, STANDARD_N, _DRAWS, rng)]
    found = {}
    for name in _AVERAGES:
        values = np.concatenate([getattr(part, name) for part in drawn])
        there = values[~np.isnan(values)]
        found[name] = float(there.mean()) if there.size else None
    return found


def _variant_result(ratings: RatingsArray, variant: Variant, design: Design, v: int) -> VariantResult:
    assert design.weights is not None
    point, weights = design.point, design.weights[v]
    row = None if np.isnan(weights).any() else weights.tolist()
    tests = zip(ratings.metrics, design.tests[v], design.effects[v], strict=True)
    cells = {metric: _cell(test, size, ratings.missing(variant.name, metric)) for metric, test, size in tests}
    d, d_ew = (defined(values[0, v]) for values in (point.d, point.d_ew))
    sizes = [math.nan if each is None else each.rank_biserial for each in design.effects[v]]
    effect, effect_ew = (defined(float(np.average(sizes, weights=w))) for w in (None, row))
    lost = math.nan
    if d is not None and d_ew is not None:
        logs = [test.log_p for test in design.tests[v] if test is not None]
        cells = _with_shares(cells, logs, row)
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
        effect=effect,
        effect_ew=effect_ew,
        not_applicable=ratings.not_applicable(variant.name),
        stopped_at=None if ratings.interim is None else ratings.interim.stopped_at(variant.name),
        misplaced=defined(lost),
    )


def _cell(test: SignedRank | None, size: Effect | None, missing: int) -> Cell:
    if test is None or size is None:
        return Cell(None, None, 0, missing, 0, None, None, None, None, None)
    return Cell(
        p=_plain_p(test.log_p),
        log10_p=test.log_p / math.log(10) + 0.0,
        n=test.n,
        missing=missing,
        n_nonzero=test.n_nonzero,
        effect=size.rank_biserial,
        mean_drop=size.mean_drop,
        fell=size.fell,
        tied=size.tied,
        rose=size.rose,
    )


def _with_shares(
    cells: Mapping[str, Cell], logs: Sequence[float], row: Sequence[float] | None
) -> dict[str, Cell]:
    """The cells with what each contributes to D and D_EW, and what experts expect of it."""
    shares, shares_ew = contributions(logs), contributions(logs, row)
    return {
        metric: replace(
            cell,
            weight=None if row is None else row[m],
            share=float(shares[m]),
            share_ew=float(shares_ew[m]),
        )
        for m, (metric, cell) in enumerate(cells.items())
    }


def _plain_p(log_p: float) -> float | None:
    """The p-value; None where it would underflow."""
    return math.exp(log_p) if log_p > _SMALLEST_LOG else None
