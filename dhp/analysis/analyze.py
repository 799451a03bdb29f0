"""From a table of ratings to discernment scores: the one bridge from ratings to `stats`."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.config import AnalysisConfig, ResolvedConfig, takes_old_keywords
from dhp.analysis.detection import NOTHING, pairs, with_detection
from dhp.analysis.dose_response import dose_responses
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_parts import ratings_of_file
from dhp.analysis.ratings_split import split_ratings
from dhp.analysis.response_style import halo, response_styles
from dhp.analysis.result_parts import DoseResponse, RunDetection, VariantResult
from dhp.analysis.results import Result, Results
from dhp.analysis.variants import at_standard_n, design_of, rated_variants, variant_results
from dhp.analysis.verdicts import controls_passed, failure_warnings, false_alarms, strongest, with_verdicts
from dhp.content.catalog import read_suite, read_task
from dhp.content.damage import variant_name
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, PROBES, Variant, methods
from dhp.core.seeding import text_hash
from dhp.core.signature import Signature
from dhp.core.specs import Scale
from dhp.core.suite_spec import ANY_TASK, Suite
from dhp.stats.discernment import level_average, minimum
from dhp.stats.sample_consistency import sample_consistency
from dhp.stats.verdict import FEWEST_PAIRS
from dhp.stats.wilcoxon.signed_rank import Alternative

if TYPE_CHECKING:
    import pandas as pd

_MANY_MISSING = 0.05
_REASONS_KEPT = 5


@takes_old_keywords("weights", "statistics", "combination")
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
        score`, optionally `sample, level, status, cluster, look, model, protocol, dataset`. The undamaged
        text is the variant `original`. Several rows for one (example, variant, metric) are samples; their
        mean is compared. A failed rating is a row with an empty score and a `status` that says why. Examples
        of one `cluster` (a document, a source) are not taken for independent.
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
    read = read_suite(suite) if isinstance(suite, str) else suite
    task = read_task(read.task) if read and read.task != ANY_TASK else None
    scales = {m.name: m.scale for m in task.metrics} if task else None
    parts: Iterable[RatingsArray]
    if isinstance(frame, str | Path):
        parts = ratings_of_file(Path(frame), scales)
    else:
        parts = split_ratings(frame, scales)
    return Results([_analyzed(ratings, read, analysis, scales) for ratings in parts])


def _analyzed(
    ratings: RatingsArray,
    suite: Suite | None,
    analysis: AnalysisConfig,
    scales: Mapping[str, Scale] | None,
) -> Result:
    """The result of one part of a ratings table."""
    if not ratings.variants:
        raise InputError(f"{ratings.place}: no rows of any variant besides '{ORIGINAL}'")
    rated, left_out, levels = rated_variants(ratings, suite)
    task = suite.task if suite and suite.task != ANY_TASK else None
    perturbers = {v.perturber for v in rated if v.level not in PROBES}
    analysis = replace(analysis, stop_when_resolved=ratings.interim is not None)
    config = analysis.resolve(task, perturbers, ratings.metrics)
    signature = _signature(ratings, suite, config, methods(rated))
    return analyze_ratings(
        ratings, config, rated, left_out=left_out, levels=levels, signature=signature, scales=scales
    )


def _signature(ratings: RatingsArray, suite: Suite | None, config: ResolvedConfig, made: str) -> Signature:
    return Signature(
        dataset=f"{ratings.dataset}@ratings.{ratings.digest}",
        n=ratings.size,
        suite=suite.suite if suite else "none",
        method=made,
        metrics=f"{len(ratings.metrics)}@{text_hash(repr(sorted(ratings.metrics)))}",
        weights=config.signed_weights,
        statistics=config.signed_statistics,
        protocol=ratings.protocol,
    )


def analyze_ratings(
    ratings: RatingsArray,
    config: ResolvedConfig,
    variants: Sequence[Variant],
    *,
    left_out: Sequence[str] = (),
    levels: str,
    signature: Signature,
    scales: Mapping[str, Scale] | None = None,
) -> Result:
    """Discernment scores of one (model, protocol, dataset).

    Parameters
    ----------
    ratings, config, scales
        What was rated, how it is analysed, and the scale of each metric where it is known.
    variants, left_out, levels, signature
        Of the result: its variants, rated or not, and what it says of itself.
    """
    tested = _all_tested(ratings, variants, config)
    rated = [row.variant for row in tested.variants]
    return Result(
        signature=str(signature),
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        model=ratings.model,
        protocol=ratings.protocol,
        dataset=ratings.dataset,
        n=len(ratings.examples),
        statistics=config.statistics,
        combination=config.combination,
        weights=config.weights.weights,
        levels=levels,
        **averages(tested.averaged),
        at_100=tested.at_100,
        variants=tested.variants,
        controls=tested.controls,
        attacks=tested.attacks,
        curves=tested.curves,
        left_out=tuple(left_out),
        ratings=ratings.counts,
        repeats={m: asdict(sample_consistency(x)) for m, x in ratings.samples.items() if x.size},
        scales={m: (s.min, s.max) for m, s in (scales or {}).items() if m in ratings.metrics},
        styles=response_styles(ratings, rated, scales),
        halo=halo(ratings, rated),
        failures=dict(islice(ratings.failures.items(), _REASONS_KEPT)),
        rules=ratings.rules,
        missing_mass=ratings.missing_mass,
        usage={},
        cost=None,
        warnings=(
            *_warnings(ratings),
            *failure_warnings(ratings, tested.variants),
            *_probe_warnings(tested.controls, tested.attacks),
        ),
        detection=tested.detection,
        controls_passed=controls_passed(tested.controls),
        floor=config.floor,
        clusters=None if ratings.clusters is None else int(ratings.clusters.max()) + 1,
    )


@dataclass(frozen=True, slots=True)
class _Tested:
    """What was tested, in the parts of a result."""

    variants: tuple[VariantResult, ...]
    averaged: tuple[VariantResult, ...]
    """Those that count in the averages: not dosed ones."""
    controls: tuple[VariantResult, ...]
    attacks: tuple[VariantResult, ...]
    curves: tuple[DoseResponse, ...]
    detection: RunDetection
    at_100: dict[str, float | None]


def _all_tested(ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig) -> _Tested:
    """All variants, tested and judged; controls first, as verdicts depend on them."""
    n = len(ratings.examples)
    controls = _tested(ratings, [v for v in variants if v.level == "control"], config)
    controls = with_verdicts(controls, n, config.floor)
    attacks = _tested(ratings, [v for v in variants if v.level == "attack"], config, "two-sided")
    perturbed = [v for v in variants if v.level not in PROBES]
    names = [v.name for v in perturbed]
    responses = dose_responses(ratings, names, config, false_alarms(controls))
    dosed = {response.perturber for response in responses}
    rows, at_100, found = _averaged(ratings, [v for v in perturbed if v.perturber not in dosed], config)
    further = _tested(ratings, [v for v in perturbed if v.perturber in dosed], config)
    rows, further = (with_verdicts(each, n, config.floor, strongest(controls)) for each in (rows, further))
    ordered = sorted((*rows, *further), key=lambda row: names.index(row.variant))
    return _Tested(tuple(ordered), tuple(rows), tuple(controls), tuple(attacks), responses, found, at_100)


def _tested(
    ratings: RatingsArray,
    variants: Sequence[Variant],
    config: ResolvedConfig,
    alternative: Alternative = "greater",
) -> list[VariantResult]:
    """Variants that no average counts."""
    if not variants:
        return []
    design = design_of(ratings, variants, config, alternative)
    return with_detection(ratings, variant_results(ratings, variants, design), design)[0]


def _averaged(
    ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig
) -> tuple[list[VariantResult], dict[str, float | None], RunDetection]:
    """Variants, averages of D at 100 examples, detection over the variants.

    A run that stops early has no averages at 100, as its variants have different numbers of examples.
    """
    if not variants:
        return [], {}, NOTHING
    design = design_of(ratings, variants, config)
    rows, found = with_detection(ratings, variant_results(ratings, variants, design), design)
    if config.interim or all(row.d is None for row in rows):
        return rows, {}, found
    return rows, at_standard_n(design, ratings.digest), found


def averages(rows: Sequence[VariantResult]) -> dict[str, Any]:
    """The figures of a result that sum up its variants; None where no variant is defined.

    D_min is that of a variant with five pairs or more.
    """
    found: dict[str, Any] = {}
    there = [row for row in rows if row.d is not None]
    levels = [row.level for row in there]
    enough = [row for row in there if pairs(row) >= FEWEST_PAIRS]
    for end in ("", "_ew"):
        d, effects = ([getattr(row, name + end) for row in there] for name in ("d", "effect"))
        lowest, place = minimum([getattr(row, f"d{end}") for row in enough]) if enough else (None, 0)
        found[f"d_avg{end}"] = float(level_average(d, levels)) if there else None
        found[f"d_min{end}"] = None if lowest is None else float(lowest)
        found[f"d_min_variant{end}"] = enough[int(place)].variant if enough else None
        found[f"effect_avg{end}"] = float(level_average(effects, levels)) if there else None
    return found


def _warnings(ratings: RatingsArray) -> tuple[str, ...]:
    """What makes the figures doubtful."""
    asked, scored = ratings.counts["asked"], ratings.counts["scored"]
    share = 1 - scored / asked
    if share <= _MANY_MISSING:
        return ()
    return (f"{share:.1%} of the ratings have no score (more than {_MANY_MISSING:.0%})",)


def _probe_warnings(controls: Sequence[VariantResult], attacks: Sequence[VariantResult]) -> list[str]:
    """Probes that the judge should have passed over."""
    found = [
        f"control '{variant_name(row.variant)}' lowered the score (D = {row.d:.2f}): what makes no text "
        "worse is punished, and D of the perturbations is too high"
        for row in controls
        if row.d is not None and row.d >= 1
    ]
    return found + [
        f"attack '{variant_name(row.variant)}' raised the score, most clearly of {row.risen} "
        f"(D = {row.d:.2f}, two-sided)"
        for row in attacks
        if row.d is not None and row.d >= 1 and row.risen
    ]
