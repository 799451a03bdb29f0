"""From a table of ratings to discernment scores: the one bridge from ratings to `stats`."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.config import AnalysisConfig, ResolvedConfig, takes_old_keywords
from dhp.analysis.dose_response import dose_curves
from dhp.analysis.intervals import Ends, intervals
from dhp.analysis.ratings import RatingsArray, groups, read_ratings
from dhp.analysis.response_style import halo, styles
from dhp.analysis.results import Cell, Result, Results, VariantResult, plain_p
from dhp.analysis.sequential import adjusted, own_intervals
from dhp.content.catalog import read_probes, read_suite, read_task
from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, PROBES, Variant, methods, parse_variant
from dhp.core.seeding import text_hash
from dhp.core.signature import Signature
from dhp.core.specs import ANY_TASK, Scale, Suite
from dhp.stats.combine import combine
from dhp.stats.confusion import contributions, misplaced
from dhp.stats.discernment import LOG_ALPHA, discernment, level_average, minimum
from dhp.stats.effects import effect
from dhp.stats.multiplicity import benjamini_yekutieli, holm
from dhp.stats.sample_consistency import repeats
from dhp.stats.wilcoxon.signed_rank import signed_rank

if TYPE_CHECKING:
    import pandas as pd

_ONE_LEVEL = "all"
_MANY_MISSING = 0.05


@takes_old_keywords("weights", "statistics", "combination", "resamples")
def analyze(
    frame: "pd.DataFrame | str | Path",
    *,
    suite: str | Suite | None = None,
    analysis: AnalysisConfig = AnalysisConfig(),
) -> Results:
    """Discernment scores from a ratings table alone.

    Parameters
    ----------
    frame
        A table, or the file it is in (`.csv`, `.jsonl`, `.parquet`), with columns `example, variant, metric,
        score`, optionally `sample, level, status, look, model, protocol, dataset`. The undamaged text is the
        variant `original`. Several rows for one (example, variant, metric) are samples; their mean is
        compared. A failed rating is a row with an empty score and a `status` that says why.
    suite
        Name or YAML file of the suite whose variants were rated; gives their levels. Without it levels
        come from the column `level`, or else all variants are one level.
    analysis
        Tests, combination, expert weights and intervals.

    Returns
    -------
    Results
        One `Result` per (model, protocol, dataset).

    Raises
    ------
    InputError
        With the row or name at fault: a missing column, a score that is no number, an example without an
        original, weights without a row for a perturber; with a suite also a variant that it does not have,
        a metric that its task does not have and a score off that metric's scale.
    """
    if isinstance(frame, str | Path):
        frame = read_ratings(Path(frame))
    read = read_suite(suite) if isinstance(suite, str) else suite
    task = read_task(read.task) if read and read.task != ANY_TASK else None
    scales = {m.name: m.scale for m in task.metrics} if task else None
    return Results([_analyzed(group, read, analysis, scales) for group in groups(frame, scales)])


def _analyzed(
    group: RatingsArray,
    suite: Suite | None,
    analysis: AnalysisConfig,
    scales: Mapping[str, Scale] | None,
) -> Result:
    """The result of one group of a ratings table."""
    if not group.variants:
        raise InputError(f"{group.place}: no rows of any variant besides '{ORIGINAL}'")
    rated, left_out, levels = _rated_variants(group, suite)
    task = suite.task if suite and suite.task != ANY_TASK else None
    perturbers = {v.perturber for v in rated if v.level not in PROBES}
    analysis = replace(analysis, stop_when_resolved=group.looks is not None)
    config = analysis.resolve(task, perturbers, group.metrics)
    signature = _signature(group, suite, config, methods(rated))
    return analyze_group(
        group, config, rated, left_out=left_out, levels=levels, signature=signature, scales=scales
    )


def _signature(group: RatingsArray, suite: Suite | None, config: ResolvedConfig, made: str) -> Signature:
    return Signature(
        dataset=f"{group.dataset}@ratings.{group.digest}",
        n=group.size,
        suite=suite.suite if suite else "none",
        method=made,
        metrics=f"{len(group.metrics)}@{text_hash(repr(sorted(group.metrics)))}",
        weights=config.signed_weights,
        statistics=config.signed_statistics,
        protocol=group.protocol,
    )


def _rated_variants(group: RatingsArray, suite: Suite | None) -> tuple[list[Variant], list[str], str]:
    """The rated variants in order, the suite's variants that were not rated, and where levels come from."""
    probes = {v.name: v for v in _probes()}
    if suite is None:
        levels = {name: v.level for name, v in probes.items()} | (group.levels or {})
        rated = []
        for name in group.variants:
            perturber, degree, _ = parse_variant(name)
            rated.append(Variant(name, perturber, levels.get(name, _ONE_LEVEL), "", degree))
        return rated, [], "column" if group.levels else "none"
    # A table does not say whether a language model or people made the variants of method `llm`.
    own = (v if v.method == "rule" else replace(v, method="") for v in suite.variants)
    known = {v.name: v for v in (*own, *probes.values())}
    for name in group.variants:
        perturber, degree, dose = parse_variant(name)
        if dose and perturber in suite.perturbers:
            use = suite.perturbers[perturber]
            known[name] = Variant(name, perturber, use.level, use.method, degree)
        if name not in known:
            raise InputError(
                f"{group.place}: variant '{name}' is not in the suite '{suite.suite}'; {suggest(name, known)}"
            )
    rated = [v for name, v in known.items() if name in group.variants]
    doses = any(parse_variant(v.name).dose for v in rated)
    missing = [v.name for v in suite.variants if v.name not in group.variants]
    return rated, [] if doses else missing, "suite"


def _probes() -> list[Variant]:
    """The controls and attacks that can be added to any suite."""
    uses = [use for name in ("controls", "attacks") for use in read_probes(name).perturbers.items()]
    return [variant for name, use in uses for variant in use.variants(name)]


def analyze_group(
    group: RatingsArray,
    config: ResolvedConfig,
    variants: Sequence[Variant],
    *,
    left_out: Sequence[str] = (),
    levels: str,
    signature: Signature,
    scales: Mapping[str, Scale] | None = None,
) -> Result:
    """Discernment scores of one (model, protocol, dataset) for `variants`, rated or not.

    `left_out` names the suite's other variants, `levels` says where the levels come from, `scales` maps the
    metrics to their scales.
    """
    rows = [_variant_result(group, variant, config) for variant in variants]
    controls, attacks = ([row for row in rows if row.level == probe] for probe in PROBES)
    rows = [row for row in rows if row.level not in PROBES]
    curves = dose_curves(group, [row.variant for row in rows], config.combination)
    dosed = {curve.perturber for curve in curves}
    averaged = [row for row in rows if parse_variant(row.variant).perturber not in dosed]
    ci, own, at_100 = _intervals(group, averaged, config)
    rows = [replace(row, ci=own.get(row.variant, {})) for row in _adjusted(rows, averaged)]
    rated = [row.variant for row in rows]
    return Result(
        signature=str(signature),
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        model=group.model,
        protocol=group.protocol,
        dataset=group.dataset,
        n=len(group.examples),
        statistics=config.statistics,
        combination=config.combination,
        weights=config.weights.weights,
        levels=levels,
        **averages(averaged),
        ci=ci,
        at_100=at_100,
        variants=tuple(rows),
        controls=tuple(controls),
        attacks=tuple(attacks),
        curves=curves,
        left_out=tuple(left_out),
        ratings=group.counts,
        repeats={m: asdict(repeats(scores)) for m, scores in group.samples.items() if scores.size},
        scales={m: (s.min, s.max) for m, s in (scales or {}).items() if m in group.metrics},
        styles=styles(group, rated, scales),
        halo=halo(group, rated),
        failures=group.failures,
        rules=group.rules,
        missing_mass=group.missing_mass,
        usage={},
        cost=None,
        warnings=(*_warnings(group), *_probe_warnings(controls, attacks)),
    )


def averages(rows: Sequence[VariantResult]) -> dict[str, Any]:
    """The figures of a result that sum up its variants; None where no variant is defined."""
    found: dict[str, Any] = {}
    levels = {row.variant: row.level for row in rows}
    for end in ("", "_ew"):
        there = [row for row in rows if row.d is not None]
        d = {row.variant: getattr(row, f"d{end}") for row in there}
        effects = {row.variant: getattr(row, f"effect{end}") for row in there}
        found[f"d_avg{end}"] = level_average(d, levels) if d else None
        found[f"d_min{end}"], found[f"d_min_variant{end}"] = minimum(d) if d else (None, None)
        found[f"effect_avg{end}"] = level_average(effects, levels) if d else None
    return found


def _intervals(
    group: RatingsArray, rows: Sequence[VariantResult], config: ResolvedConfig
) -> tuple[dict[str, Ends], dict[str, dict[str, Ends]], dict[str, float | None]]:
    """As `intervals`; empty where none are asked for or nothing is defined.

    Averages have none in a run with looks, as they are over variants with different numbers of examples.
    """
    levels = {row.variant: row.level for row in rows}
    if config.resamples is None or all(row.d is None for row in rows):
        return {}, {}, {}
    if config.interim:
        return {}, own_intervals(group, [row.variant for row in rows if row.d is not None], config), {}
    weights = [config.weight_row(parse_variant(name).perturber, group.metrics) for name in levels]
    return intervals(group, levels, weights, config.method, config.combination, config.resamples)


def _adjusted(rows: Sequence[VariantResult], tested: Sequence[VariantResult]) -> list[VariantResult]:
    """The rows with p-values adjusted for testing several variants, those of `tested` that are defined."""
    d = {row.variant: row.d for row in tested if row.d is not None}
    if not d:
        return list(rows)
    logs = np.array(list(d.values())) * LOG_ALPHA
    by_holm, by = (dict(zip(d, np.exp(f(logs)).tolist(), strict=True)) for f in (holm, benjamini_yekutieli))
    return [replace(row, p_holm=by_holm.get(row.variant), p_by=by.get(row.variant)) for row in rows]


def _warnings(group: RatingsArray) -> tuple[str, ...]:
    """What makes the figures doubtful."""
    asked, scored = group.counts["asked"], group.counts["scored"]
    share = 1 - scored / asked
    if share <= _MANY_MISSING:
        return ()
    return (f"{share:.1%} of the ratings have no score (more than {_MANY_MISSING:.0%})",)


def _probe_warnings(controls: Sequence[VariantResult], attacks: Sequence[VariantResult]) -> list[str]:
    """Probes that the judge should have passed over."""
    found = [
        f"control '{row.variant}' lowered the score (D = {row.d:.2f}): what makes no text worse is punished, "
        "and D of the perturbations is too high"
        for row in controls
        if row.d is not None and row.d >= 1
    ]
    return found + [
        f"attack '{row.variant}' raised the score, most clearly of {row.risen} (D = {row.d:.2f}, two-sided)"
        for row in attacks
        if row.d is not None and row.d >= 1 and row.risen
    ]


def _variant_result(group: RatingsArray, variant: Variant, config: ResolvedConfig) -> VariantResult:
    cells: dict[str, Cell] = {}
    logs: list[float] = []
    for metric in group.metrics:
        differences, missing = group.differences(variant.name, metric)
        if differences.size == 0:
            cells[metric] = Cell(None, None, 0, missing, 0, None, None, None, None, None)
            continue
        test = signed_rank(
            differences,
            config.method,
            "two-sided" if variant.level == "attack" else "greater",
        )
        size = effect(differences)
        logs.append(test.log_p)
        cells[metric] = Cell(
            p=plain_p(test.log_p),
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
    probe = variant.level in PROBES
    row = None if probe else config.weight_row(variant.perturber, group.metrics)
    log_p = log_p_ew = lost = mean = mean_ew = None
    if len(logs) == len(group.metrics):
        log_p = combine(np.array(logs), None, config.combination)
        log_p_ew = log_p if row is None else combine(np.array(logs), row, config.combination)
        if not probe:
            log_p, log_p_ew = (adjusted(p, group, variant.name) for p in (log_p, log_p_ew))
        cells = _with_shares(cells, logs, row)
        effects = [c.effect or 0.0 for c in cells.values()]
        mean = math.fsum(effects) / len(effects)
        mean_ew = mean if row is None else math.fsum(e * w for e, w in zip(effects, row, strict=True))
        lost = None if row is None else misplaced([c.mean_drop or 0.0 for c in cells.values()], row)
    return VariantResult(
        variant=variant.name,
        level=variant.level,
        method=variant.method or None,
        degree=variant.degree,
        metrics=cells,
        p=plain_p(log_p),
        p_ew=plain_p(log_p_ew),
        d=None if log_p is None else discernment(log_p),
        d_ew=None if log_p_ew is None else discernment(log_p_ew),
        effect=mean,
        effect_ew=mean_ew,
        not_applicable=group.not_applicable(variant.name),
        stopped_at=None if group.looks is None else group.looks.stopped_at(variant.name),
        misplaced=None if lost is None or math.isnan(lost) else lost,
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
