"""Analysis of a table of ratings: detection, discernment, doses, use of the scales.

`analyze_ratings` is the way of one judge on one dataset: kinds of damage are tested (`analysis.kinds`),
then controls and attacks beside them, then averages, curves of doses, the user's mark and the style of the
scores. `analyze` does the same for each part of a ratings table.
"""

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.certainty import asking_of, certainty_of
from dhp.analysis.config import AnalysisConfig, ResolvedConfig
from dhp.analysis.kinds import failure_warnings, judged_kinds, judged_probes, rated_variants
from dhp.analysis.mark_sweep import mark_sweep
from dhp.analysis.marks import PassMark, marks_in_words
from dhp.analysis.merged_ratings import ratings_of_file
from dhp.analysis.passing import AtMark, pass_shares
from dhp.analysis.ratings import RatingsArray, without_score
from dhp.analysis.reasons import reasons_of
from dhp.analysis.results import (
    DoseResponse,
    DoseThreshold,
    ResponseStyle,
    Result,
    Results,
    RunDetection,
    VariantResult,
)
from dhp.analysis.split_ratings import split_ratings
from dhp.content.catalog import read_suite, read_task
from dhp.core.errors import InputError, listed
from dhp.core.options import near_keywords
from dhp.core.own_table import RatingsForm
from dhp.core.rating_forms import FLIP, VERDICT, is_pairwise
from dhp.core.ratings_table import place_of
from dhp.core.records import IDENTITY, ORIGINAL, PROBES, Variant, methods, parse_variant
from dhp.core.seeding import key_digest, text_hash
from dhp.core.shown import alike_but_numbers
from dhp.core.signature import Signature
from dhp.core.specs import ANY_TASK, Scale, Suite
from dhp.stats.arrays import Floats
from dhp.stats.detection import FEWEST_PAIRS
from dhp.stats.discernment import level_average, minimum
from dhp.stats.few_doses import few_doses
from dhp.stats.metric_relations import correlations
from dhp.stats.psychometric import curve, psychometric
from dhp.stats.repeated_answers import sample_consistency
from dhp.stats.spread import spread, style_names

if TYPE_CHECKING:
    import pandas as pd


SIDES = ("originals", "degraded")


def response_styles(
    ratings: RatingsArray, variants: Sequence[str], scales: Mapping[str, Scale] | None
) -> dict[str, ResponseStyle]:
    """Metric -> distribution of the mean scores of originals and of degraded texts, and what it is called."""
    styles = {}
    originals, degraded = (_scores(ratings, each) for each in (None, variants))
    for m, metric in enumerate(ratings.metrics):
        good, bad = spread(originals[:, m]), spread(degraded[:, m])
        if good is None or bad is None:
            continue
        scale = (scales or {}).get(metric)
        words = None if scale is None else style_names(good, bad, scale.min, scale.max)
        styles[metric] = ResponseStyle(good, bad, words)
    return styles


def halo(ratings: RatingsArray, variants: Sequence[str]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Side -> metric -> metric -> Spearman's correlation of their scores over texts.

    Metrics that always move together say one thing several times. None if a metric is constant or fewer
    than three texts have both; empty for a single metric.
    """
    if len(ratings.metrics) < 2:
        return {}
    sides = zip(SIDES, (None, variants), strict=True)
    return {
        side: _named(correlations(_scores(ratings, each), "spearman"), ratings.metrics)
        for side, each in sides
    }


def _scores(ratings: RatingsArray, variants: Sequence[str] | None) -> Floats:
    """Mean scores of the originals, or of these variants, shape (texts, metrics)."""
    rated = [v for v in variants or () if v in ratings.variants]
    places = [0] if variants is None else [1 + ratings.variants.index(v) for v in rated]
    return np.moveaxis(ratings.means[places], 1, 2).reshape(-1, len(ratings.metrics))


def _named(table: Floats, names: Sequence[str]) -> dict[str, dict[str, float | None]]:
    named: dict[str, dict[str, float | None]] = {}
    for one, row in zip(names, table, strict=True):
        finite = [float(value) if np.isfinite(value) else None for value in row]
        named[one] = dict(zip(names, finite, strict=True))
    return named


_FEWEST_DOSES = 2
_SPARSE = 0.5
"""Share of the texts in all doses that were rated, below which a bootstrap over examples is too narrow."""


def dose_responses(
    ratings: RatingsArray,
    variants: Iterable[str],
    edits: Sequence[str],
    characters: int | None,
) -> tuple[DoseResponse, ...]:
    """One for each perturber of which two doses or more were rated, by a psychometric curve.

    Damaged copies are compared with the harmlessly edited ones, `edits`, if these were rated, else with
    the originals, so that the curve starts at 50 %. Intervals are by bootstrap, seeded by the ratings; if
    most examples have few of the doses, by a posterior over curves. `characters` is the median length
    of the originals.
    """
    doses: dict[str, list[int]] = {}
    for name in variants:
        perturber, _, dose = parse_variant(name)
        if dose is not None and name in ratings.variants:
            doses.setdefault(perturber, []).append(dose)
    return tuple(
        _dose_response(ratings, perturber, sorted(own_doses), edits, characters)
        for perturber, own_doses in doses.items()
        if len(own_doses) >= _FEWEST_DOSES
    )


def fitted_detection(response: DoseResponse, doses: Sequence[float]) -> list[float] | None:
    """Detection at these doses, above 0, by the fitted psychometric curve; None if no T75 was found."""
    if response.t75 is None or not response.t75.value or response.power is None or response.lapse is None:
        return None
    return [float(d) for d in curve(doses, response.t75.value, response.power, response.lapse)]


def _dose_response(
    ratings: RatingsArray,
    perturber: str,
    doses: list[int],
    edits: Sequence[str],
    characters: int | None,
) -> DoseResponse:
    names = [f"{perturber}.k{k}" for k in doses]
    differences = ratings.difference_table(names, ratings.metrics)
    for edit in edits:
        # A text that no harmless edit applies to is its own harmless copy.
        copies = ratings.difference_table(names, ratings.metrics, of=edit)
        differences = np.where(np.isnan(copies), differences, copies)
    if (~np.isnan(differences).all(axis=2)).mean() < _SPARSE:
        fitted = few_doses(doses, differences, ratings.clusters)
    else:
        rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, perturber)))
        fitted = psychometric(doses, differences, rng, clusters=ratings.clusters)
    return DoseResponse(
        perturber,
        tuple(doses),
        detection=tuple(map(_finite, fitted.detection)),
        power=_finite(fitted.power),
        lapse=_finite(fitted.lapse),
        t75=_t75(fitted.fitted),
        characters=characters,
    )


def _t75(t75: tuple[float, float, float]) -> DoseThreshold | None:
    return None if math.isnan(t75[0]) else DoseThreshold(*map(_finite, t75))


def _finite(value: float) -> float | None:
    """The value, or None for NaN (undefined) and infinity (never)."""
    return float(value) if math.isfinite(value) else None


_MANY_MISSING = 0.05
_REASONS_KEPT = 5


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
    task = read_task(read.task) if read and read.task != ANY_TASK else None
    scales = {m.name: m.scale for m in task.metrics} if task else None
    if isinstance(frame, str | Path):
        parts = ratings_of_file(Path(frame), scales, form)
    else:
        parts = list(split_ratings(form.applied(frame, place_of(frame)), scales))
    name = Path(frame).name if isinstance(frame, str | Path) else "ratings"
    parts = [part if "dataset" in part.columns else replace(part, dataset=name) for part in parts]
    return Results([_analyzed(ratings, read, analysis, scales) for ratings in parts], parts)


_EVEN = 0.5
_ACCEPTED_MARKS: tuple[PassMark, ...] = ("true", {"": "true"})
"""The mark of yes-or-no judgements, as Python and the command line take it; it needs not be asked for."""


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
    known = read_task(task).metrics if task else ()
    if VERDICT in ratings.columns and analysis.pass_mark in (None, *_ACCEPTED_MARKS):
        # A verdict is its own mark: its score is how sure it is that the text is good.
        config = replace(analysis, pass_mark=_EVEN).resolve(task, perturbers, ratings.metrics, known)
        config = replace(config, pass_mark=_ACCEPTED_MARKS[0])
    else:
        config = analysis.resolve(task, perturbers, ratings.metrics, known)
    compared = is_pairwise(ratings.columns)
    if compared:
        config = replace(config, statistics="sign-flip")
    signature = _signature(ratings, suite, config, methods(rated))
    result = analyze_ratings(
        ratings, config, rated, left_out=left_out, levels=levels, signature=signature, scales=scales
    )
    return of_comparisons(result) if compared else result


_MANY_FLIPS = 0.2


def of_comparisons(result: Result) -> Result:
    """The result without the style of its scores, which only say who won.

    With a warning if many verdicts follow the order.
    """
    flips, of = result.rules.get(FLIP, 0), sum(result.rules.values())
    warning = f"{flips / (of or 1):.0%} of the verdicts follow the order in which the texts are shown"
    warnings = (*result.warnings, warning) if flips > _MANY_FLIPS * of else result.warnings
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
    # The paper leaves pairs out of which a side was not read.
    counted = ratings.of_pairs_read() if config.statistics == "paper" else ratings
    rows, controls, attacks, curves, of_run = _all_tested(counted, variants, config, characters)
    rows, at_mark = _at_mark(ratings, rows, config, scales or {})
    dosed = {response.perturber for response in curves}
    averaged = [row for row in rows if parse_variant(row.variant).perturber not in dosed]
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
        **averages(averaged),
        variants=tuple(rows),
        controls=tuple(controls),
        attacks=tuple(attacks),
        curves=curves,
        left_out=tuple(left_out),
        ratings=ratings.counts,
        unscored=ratings.unscored,
        repeats={m: asdict(sample_consistency(x)) for m, x in ratings.samples.items() if x.size},
        scales={m: (s.min, s.max) for m, s in (scales or {}).items() if m in ratings.metrics},
        styles=response_styles(ratings, [row.variant for row in rows], scales),
        halo=halo(ratings, [row.variant for row in rows]),
        failures=dict(islice(alike_but_numbers(ratings.failures).items(), _REASONS_KEPT)),
        rules=ratings.rules,
        missing_mass=ratings.missing_mass,
        usage=dict(usage),
        cost=cost,
        warnings=(*failure_warnings(ratings, rows), *notes, *_warnings(ratings, counted, config, scales)),
        detection=of_run,
        floor=config.floor_share,
        **at_mark,
        clusters=None if ratings.clusters is None else int(ratings.clusters.max()) + 1,
        **_answers(ratings, counted, rows, config),
    )


def _answers(
    ratings: RatingsArray, counted: RatingsArray, rows: Sequence[VariantResult], config: ResolvedConfig
) -> dict[str, Any]:
    """The shares of answers that were read, and what their reasons name, by the fields of `Result`."""
    return {
        "reasons": reasons_of(counted, {row.variant: row.best_metric for row in rows}, config.marks),
        "read": ratings.read(ratings.answers),
        "read_originals": ratings.read([ORIGINAL]),
        "read_damaged": ratings.read([row.variant for row in rows]),
        "unread": ratings.causes,
    }


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
    if not config.marks:
        swept = None if config.method == "sign-flip" else mark_sweep(ratings, names, config.known, scales)
        return list(rows), {"sweep": swept}
    fails, passing = pass_shares(ratings, names, config.marks)
    words = marks_in_words(config.pass_mark, config.marks, config.known)
    marked = [replace(row, passes=passing[row.variant]) for row in rows]
    fields: dict[str, Any] = {"pass_mark": AtMark(words, dict(config.marks), fails)}
    if config.method != "sign-flip":
        fields["certainty"] = certainty_of(ratings, names, config.marks, scales)
        fields["asking"] = asking_of(ratings, names, config.marks, scales)
    return marked, fields


def _all_tested(
    ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig, characters: int | None
) -> tuple[
    list[VariantResult], list[VariantResult], list[VariantResult], tuple[DoseResponse, ...], RunDetection
]:
    """Kinds of damage, controls, attacks, curves of doses, and detection of all kinds without doses.

    Damage first: what a control costs is measured against it.
    """
    perturbed = [v for v in variants if v.level not in PROBES]
    controls = [v for v in variants if v.level == "control"]
    attacks = [v for v in variants if v.level == "attack"]
    edits = [v.name for v in controls if v.perturber != IDENTITY]
    names, order = [v.name for v in perturbed], [v.name for v in variants]
    responses = dose_responses(ratings, names, [e for e in edits if e in ratings.variants], characters)
    dosed = {response.perturber for response in responses}
    rows, of_run = judged_kinds(ratings, [v for v in perturbed if v.perturber not in dosed], config, edits)
    further, _ = judged_kinds(ratings, [v for v in perturbed if v.perturber in dosed], config, edits)
    ordered = sorted((*rows, *further), key=lambda row: order.index(row.variant))
    return (
        ordered,
        judged_probes(ratings, controls, config, ordered),
        judged_probes(ratings, attacks, config, ordered, attacks=True),
        responses,
        of_run,
    )


def averages(rows: Sequence[VariantResult]) -> dict[str, Any]:
    """D_avg and D_min, plain and weighted, over the kinds with five pairs or more; None without any."""
    figures: dict[str, Any] = {}
    enough = [row for row in rows if row.d is not None and row.n >= FEWEST_PAIRS]
    levels = [row.level for row in enough]
    for end in ("", "_ew"):
        d = [getattr(row, f"d{end}") for row in enough]
        figures[f"d_avg{end}"] = level_average(d, levels) if enough else None
        figures[f"d_min{end}"] = minimum(d)[0] if enough else None
    least = minimum([row.d for row in enough if row.d is not None])[1] if enough else 0
    return figures | {"d_min_variant": enough[least].variant if enough else None}


def _left_out(ratings: RatingsArray, counted: RatingsArray) -> list[str]:
    """How many pairs the statistics of the paper leave out, although the judge answered."""
    if counted is ratings:
        return []
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
    warnings = []
    asked, scored = ratings.counts["asked"], ratings.counts["scored"]
    share = 1 - scored / asked
    if share > _MANY_MISSING:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in without_score(ratings.counts).items())
        warnings.append(f"{share:.1%} of the ratings have no score ({reasons})")
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
    return (*warnings, *_left_out(ratings, counted))
