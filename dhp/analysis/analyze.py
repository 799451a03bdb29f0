"""Analysis of a table of ratings: detection, discernment, doses, use of the scales.

`analyze_ratings` is the way of one judge on one dataset: kinds of damage are tested (`analysis.kinds`),
then controls and attacks beside them, then averages, curves of doses (`analysis.doses`), the user's mark and
the style of the scores (`analysis.scale_use`). `analyze` does the same for each part of a ratings table.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.certainty import asking_of, certainty_of
from dhp.analysis.config import AnalysisConfig, ResolvedConfig
from dhp.analysis.doses import dose_responses
from dhp.analysis.kinds import failure_warnings, judged_kinds, judged_probes, rated_variants
from dhp.analysis.mark_sweep import mark_sweep
from dhp.analysis.marks import PassMark, marks_in_words
from dhp.analysis.merged_ratings import ratings_of_file
from dhp.analysis.passing import AtMark, pass_shares
from dhp.analysis.ratings import RatingsArray, without_score
from dhp.analysis.reasons import Named, reasons_of
from dhp.analysis.results import DoseResponse, Result, Results, RunDetection, VariantResult
from dhp.analysis.scale_use import halo, response_styles
from dhp.analysis.split_ratings import split_ratings
from dhp.content.catalog import read_suite, read_task
from dhp.core.errors import InputError, listed
from dhp.core.options import near_keywords
from dhp.core.own_table import RatingsForm
from dhp.core.rating_forms import FLIP, VERDICT, is_pairwise
from dhp.core.ratings_table import place_of
from dhp.core.records import IDENTITY, ORIGINAL, PROBES, Variant, methods, parse_variant
from dhp.core.seeding import text_hash
from dhp.core.shown import alike_but_numbers
from dhp.core.signature import Signature
from dhp.core.specs import ANY_TASK, Scale, Suite
from dhp.stats.detection import FEWEST_PAIRS
from dhp.stats.discernment import level_average, minimum
from dhp.stats.repeated_answers import sample_consistency

if TYPE_CHECKING:
    import pandas as pd


_MANY_MISSING = 0.05
"""Share of the ratings without a score above which a result warns of them; chosen."""
_REASONS_KEPT = 5
"""Reasons of failures that a result keeps, the most frequent ones; chosen."""
_MANY_FLIPS = 0.2
"""Share of the verdicts of comparisons that follow the order of the texts, above which a result warns;
chosen."""
_ACCEPTED_MARKS: tuple[PassMark, ...] = ("true", {"": "true"})
"""The mark of yes-or-no judgements, as Python and the command line take it; it needs not be asked for."""
_EVEN = 0.5
"""That mark among the scores, which say how sure the verdict is that the text is good."""


@near_keywords
def analyze(
    frame: "pd.DataFrame | str | Path",
    *,
    suite: str | Suite | None = None,
    analysis: AnalysisConfig = AnalysisConfig(),
    form: RatingsForm = RatingsForm(),
) -> Results:
    """Discernment scores from a ratings table alone.

    Parameters
    ----------
    frame
        A table, or the file it is in (`.csv`, `.jsonl`, `.parquet`), with columns `example, variant, metric,
        score`, optionally `sample, level, status, cluster, model, protocol, dataset`. The undamaged text is
        the variant `original`. Several rows for one (example, variant, metric) are samples; their mean is
        compared. A failed rating is a row with an empty score and a `status` that says why. Examples of one
        `cluster` (a document, a source) are not taken for independent. Without a column `metric` there is one
        metric, `overall`. A table without `variant` and `score`
        is wide: a row for each example, with its scores in a column `original` and one for each variant.
    suite
        Name or YAML file of the suite whose variants were rated; gives their levels. Without it levels
        come from the column `level`, or else all variants are one level; so are those with an empty cell.
    analysis
        Tests, combination, expert weights and intervals.
    form
        What the table calls its columns, and names of judge and data that it does not say.

    Returns
    -------
    Results
        One `Result` per (model, protocol, dataset).

    Raises
    ------
    InputError
        With the row or name at fault: a missing column, a score that is not a number, an example without an
        original, weights without a row for a perturber; with a suite also a variant that it does not have,
        a metric that its task does not have and a score off that metric's scale.
    """
    read = read_suite(suite) if isinstance(suite, str) else suite
    scales = None
    if read is not None and read.task != ANY_TASK:
        scales = {metric.name: metric.scale for metric in read_task(read.task).metrics}
    if isinstance(frame, str | Path):
        name = Path(frame).name
        parts = ratings_of_file(Path(frame), scales, form)
    else:
        name = "ratings"
        parts = list(split_ratings(form.applied(frame, place_of(frame)), scales))
    rated: list[RatingsArray] = []
    for part in parts:
        # Data that the table does not name are called after the file.
        rated.append(part if "dataset" in part.columns else replace(part, dataset=name))
    return Results([_analyzed(part, read, analysis, scales) for part in rated], rated)


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
    perturbers = {variant.perturber for variant in rated if variant.level not in PROBES}
    known = read_task(task).metrics if task else ()
    if VERDICT in ratings.columns and analysis.pass_mark in (None, *_ACCEPTED_MARKS):
        # A verdict is its own mark. It is counted among the scores, and shown as the word.
        config = replace(analysis, pass_mark=_EVEN).resolve(task, perturbers, ratings.metrics, known)
        config = replace(config, pass_mark=_ACCEPTED_MARKS[0])
    else:
        config = analysis.resolve(task, perturbers, ratings.metrics, known)
    compared = is_pairwise(ratings.columns)
    if compared:
        # Verdicts on pairs are multiples of 1/2 from -1 to 1, which that test is for.
        config = replace(config, statistics="sign-flip")
    signature = _signature(ratings, suite, config, methods(rated))
    result = analyze_ratings(
        ratings, config, rated, left_out=left_out, levels=levels, signature=signature, scales=scales
    )
    return of_comparisons(result) if compared else result


def of_comparisons(result: Result) -> Result:
    """The result without the style of its scores, which only say who won.

    With a warning if many verdicts follow the order.
    """
    warnings = result.warnings
    # Each scored comparison has one rule, so that their sum is the number of verdicts.
    flips, verdicts = result.rules.get(FLIP, 0), sum(result.rules.values())
    if flips > _MANY_FLIPS * verdicts:
        share = flips / verdicts
        warnings += (f"{share:.0%} of the verdicts follow the order in which the texts are shown",)
    return replace(result, styles={}, halo={}, warnings=warnings)


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
    notes: Sequence[str] = (),
    characters: int | None = None,
    usage: Mapping[str, int] = {},
    cost: float | None = None,
) -> Result:
    """Discernment scores of one (model, protocol, dataset).

    `variants` are all, rated or not; `scales` and `characters`, the median length of the originals, are given
    if they are known.
    """
    # The paper leaves a pair out if one of its texts was not read.
    counted = ratings.of_pairs_read() if config.statistics == "paper" else ratings
    tested = _all_tested(counted, variants, config, characters)
    rows, at_mark = _at_mark(ratings, tested.damage, config, scales or {})
    damaged = [row.variant for row in rows]
    return Result(
        signature=str(signature),
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        model=ratings.model,
        protocol=ratings.protocol,
        dataset=ratings.dataset,
        n=len(ratings.examples),
        statistics=config.statistics,
        combination=config.named_combination(),
        weights=config.expert_weights.weights,
        levels=levels,
        **averages(tested.without_doses),
        variants=tuple(rows),
        controls=tuple(tested.controls),
        attacks=tuple(tested.attacks),
        curves=tested.curves,
        left_out=tuple(left_out),
        ratings=ratings.counts,
        unscored=ratings.unscored,
        repeats=_repeats(ratings),
        scales=_ends_of_scales(ratings, scales or {}),
        styles=response_styles(ratings, damaged, scales),
        halo=halo(ratings, damaged),
        failures=dict(islice(alike_but_numbers(ratings.failures).items(), _REASONS_KEPT)),
        rules=ratings.rules,
        missing_mass=ratings.missing_mass,
        usage=dict(usage),
        cost=cost,
        warnings=(*failure_warnings(ratings, rows), *notes, *_warnings(ratings, counted, config, scales)),
        detection=tested.of_run,
        floor=config.floor_share,
        **at_mark,
        clusters=None if ratings.clusters is None else int(ratings.clusters.max()) + 1,
        reasons=_reasons(counted, rows, config),
        **_answers(ratings, damaged),
    )


def _answers(ratings: RatingsArray, damaged: Sequence[str]) -> dict[str, Any]:
    """The shares of answers that have a score, and why others have none, by the fields of `Result`."""
    return {
        "read": ratings.read(ratings.answers),
        "read_originals": ratings.read([ORIGINAL]),
        "read_damaged": ratings.read(damaged),
        "unread": ratings.causes,
    }


def _reasons(
    ratings: RatingsArray, rows: Sequence[VariantResult], config: ResolvedConfig
) -> dict[str, Named]:
    """`Result.reasons`: what reasons name, by the metric that sees each kind of damage best."""
    best_metrics = {row.variant: row.best_metric for row in rows}
    return reasons_of(ratings, best_metrics, config.marks)


def _repeats(ratings: RatingsArray) -> dict[str, dict[str, float | None]]:
    """`Result.repeats`: metric -> how its single scores agree."""
    repeats = {}
    for metric, scores in ratings.samples.items():
        if scores.size:
            repeats[metric] = asdict(sample_consistency(scores))
    return repeats


def _ends_of_scales(ratings: RatingsArray, scales: Mapping[str, Scale]) -> dict[str, tuple[float, float]]:
    """Metric -> the ends of its scale, of the metrics that were rated."""
    ends = {}
    for metric, scale in scales.items():
        if metric in ratings.metrics:
            ends[metric] = (scale.min, scale.max)
    return ends


def _at_mark(
    ratings: RatingsArray,
    rows: Sequence[VariantResult],
    config: ResolvedConfig,
    scales: Mapping[str, Scale],
) -> tuple[list[VariantResult], dict[str, Any]]:
    """Kinds of damage with what passes at the user's mark, and the fields of `Result` on the mark.

    These are what fails there, how sure and how right the judge is, and when to ask a person; without a mark
    what would pass at each.
    """
    names = [row.variant for row in rows]
    compared = config.method == "sign-flip"  # scores that only say who won have no marks to choose from
    if not config.marks:
        sweep = None if compared else mark_sweep(ratings, names, config.known, scales)
        return list(rows), {"sweep": sweep}
    fails, passing = pass_shares(ratings, names, config.marks)
    words = marks_in_words(config.pass_mark, config.marks, config.known)
    marked = [replace(row, passes=passing[row.variant]) for row in rows]
    fields: dict[str, Any] = {"pass_mark": AtMark(words, dict(config.marks), fails)}
    if not compared:
        fields["certainty"] = certainty_of(ratings, names, config.marks, scales)
        fields["asking"] = asking_of(ratings, names, config.marks, scales)
    return marked, fields


@dataclass(frozen=True, slots=True)
class _Tested:
    """All that was rated, tested and judged."""

    damage: list[VariantResult]
    """In the order of the variants."""
    controls: list[VariantResult]
    attacks: list[VariantResult]
    curves: tuple[DoseResponse, ...]
    of_run: RunDetection
    """Over the kinds of damage without doses."""

    @property
    def without_doses(self) -> list[VariantResult]:
        """The kinds of damage that averages are taken of."""
        dosed = {response.perturber for response in self.curves}
        return [row for row in self.damage if parse_variant(row.variant).perturber not in dosed]


def _all_tested(
    ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig, characters: int | None
) -> _Tested:
    damage = [variant for variant in variants if variant.level not in PROBES]
    controls = [variant for variant in variants if variant.level == "control"]
    attacks = [variant for variant in variants if variant.level == "attack"]
    # Controls that change something: the same text shown again is no edit to compare damage with.
    edits = [
        variant.name
        for variant in controls
        if variant.perturber != IDENTITY and variant.name in ratings.variants
    ]
    curves = dose_responses(ratings, [variant.name for variant in damage], edits, characters)
    dosed = {response.perturber for response in curves}
    # Doses are judged among themselves: as many more kinds they would make every other test stricter.
    plain = [variant for variant in damage if variant.perturber not in dosed]
    in_doses = [variant for variant in damage if variant.perturber in dosed]
    rows, of_run = judged_kinds(ratings, plain, config, edits)
    rows_in_doses, _ = judged_kinds(ratings, in_doses, config, edits)
    # Kinds with and without doses were judged apart; here they come back into one order.
    order = [variant.name for variant in variants]
    rows = sorted(rows + rows_in_doses, key=lambda row: order.index(row.variant))
    # What a control costs is measured against the damage, so this comes last.
    return _Tested(
        damage=rows,
        controls=judged_probes(ratings, controls, config, rows),
        attacks=judged_probes(ratings, attacks, config, rows, attacks=True),
        curves=curves,
        of_run=of_run,
    )


def averages(rows: Sequence[VariantResult]) -> dict[str, Any]:
    """D_avg and D_min, plain and weighted, over the kinds with five pairs or more; None without any."""
    # A kind with fewer pairs may be the lowest by chance alone.
    enough = [row for row in rows if row.d is not None and row.n >= FEWEST_PAIRS]
    if not enough:
        return dict.fromkeys(("d_avg", "d_min", "d_avg_ew", "d_min_ew", "d_min_variant"))
    levels = [row.level for row in enough]
    d = np.array([row.d for row in enough], dtype=np.float64)
    d_ew = np.array([row.d_ew for row in enough], dtype=np.float64)
    lowest, place = minimum(d)
    return {
        "d_avg": level_average(d, levels),
        "d_min": lowest,
        "d_avg_ew": level_average(d_ew, levels),
        "d_min_ew": minimum(d_ew)[0],
        "d_min_variant": enough[place].variant,
    }


def _left_out(ratings: RatingsArray) -> list[str]:
    """How many pairs the statistics of the paper leave out, although the judge answered; empty if none."""
    pairs = 0
    for variant, metric in product(ratings.variants, ratings.metrics):
        pairs += int(ratings.ties_unread(variant, metric).sum())
    return [f"{pairs:,} pairs are left out, as a text has no score: the paper does so"] if pairs else []


def _warnings(
    ratings: RatingsArray,
    counted: RatingsArray,
    config: ResolvedConfig,
    scales: Mapping[str, Scale] | None,
) -> tuple[str, ...]:
    """What makes the figures doubtful, which rest on the ratings that are `counted`."""
    warnings: list[str] = []
    missing = 1 - ratings.counts["scored"] / ratings.counts["asked"]
    if missing > _MANY_MISSING:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in without_score(ratings.counts).items())
        warnings.append(f"{missing:.1%} of the ratings have no score ({reasons})")
    texts, different = ratings.repeated
    if texts and "sample" not in ratings.columns:
        warnings.append(
            f"{texts} combinations of text and metric have several scores, but there is no column `sample` "
            f"({different} have different scores); the mean is used"
        )
    unused = [name for name in config.marks if name in ratings.shares and name not in (scales or {})]
    if unused:
        warnings.append(
            f"the probabilities of {listed(unused)} are left out, as no scale is known; name the suite"
        )
    # So it is under the statistics `paper` alone; see `analyze_ratings`.
    if counted is not ratings:
        warnings += _left_out(ratings)
    return tuple(warnings)
