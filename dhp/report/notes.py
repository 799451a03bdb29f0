"""Remarks on how the figures of a result came about: its pairs, the judge, what was read, plug-ins."""

from collections.abc import Mapping

from dhp.analysis.kinds import ONE_LEVEL
from dhp.analysis.ratings import without_score
from dhp.analysis.results import FEWEST_PAIRS, Result
from dhp.content.catalog import variant_name
from dhp.core.plugins import load_target, offered
from dhp.core.records import ASKED_AGAIN
from dhp.report.labels import percent

_ROUNDED = 0.05
"""Share of a decision model's pairs that are tied from which the reader is told. Chosen."""
_HALO = 0.9
"""Mean correlation between metrics from which the reader is told. Chosen."""
_DOMINANT = 0.8
"""Share of one score from which the reader is told. Chosen."""
_REASONS = 3
"""The most reasons of failed calls that are named."""
_STYLES = {
    "lenient": "degraded texts have a mean in the upper third of the scale",
    "harsh": "originals have a mean in the lower half of the scale",
    "compressed": "nine in ten scores lie within half of the scale",
}
"""What the words of `dhp.stats.spread` mean."""


def notes(result: Result) -> list[str]:
    """Remarks on how the figures of a result came about."""
    return [
        *_notes_on_pairs(result),
        *_notes_on_mark(result),
        *_notes_on_tests(result),
        *_notes_on_judge(result),
        *_notes_on_reading(result),
        *notes_of_plugins(result),
    ]


def notes_of_plugins(result: Result) -> list[str]:
    """What plug-ins have to say of a result."""
    lines: list[str] = []
    for target in offered("notes").values():
        lines += load_target(target)(result)
    return lines


def _notes_on_pairs(result: Result) -> list[str]:
    remarks = []
    # A table with averages already says below it what they leave out.
    if result.left_out and (result.curves or result.d_avg is None):
        remarks.append(f"left out, not rated: {'; '.join(map(variant_name, result.left_out))}")
    for row in (*result.variants, *result.probes):
        name = variant_name(row.variant)
        if row.not_applicable:
            remarks.append(f"{name}: not applicable to {row.not_applicable:,} of {result.n:,} examples")
        # Without a pair because it applies to no text, the line above has said so.
        if row.d is None and row.not_applicable < result.n:
            remarks.append(f"{name}: a metric has no pair left, so D is undefined; averages leave it out")
    few = [variant_name(row.variant) for row in result.variants if row.n < FEWEST_PAIRS]
    if few:
        remarks.append(f"fewer than {FEWEST_PAIRS} pairs, in no average: {'; '.join(few)}")
    return remarks


def _notes_on_mark(result: Result) -> list[str]:
    if result.pass_mark is None or result.pass_mark.fails is None:
        return []
    fails = result.pass_mark.fails
    return [
        f"at the mark of {result.pass_mark.mark}, of {fails.n:,} good texts {percent(fails.share)} fail, "
        f"{percent(fails.rest)} pass and {percent(fails.no_score)} get no score"
    ]


def _notes_on_tests(result: Result) -> list[str]:
    remarks = []
    if result.clusters is not None and result.statistics == "paper":
        remarks.append(
            f"p and D take the examples of {result.clusters} clusters for independent, as published"
        )
    elif result.clusters is not None:
        remarks.append(f"tests take clusters of examples as a whole: {result.clusters} of them")
    if result.levels == "none":
        remarks.append("levels unknown: all kinds count as one level")
    elif result.levels == "column":
        unknown = [variant_name(row.variant) for row in result.variants if row.level == ONE_LEVEL]
        if unknown:
            remarks.append(f"level unknown, together one level more: {', '.join(unknown)}")
    return remarks


def _notes_on_judge(result: Result) -> list[str]:
    remarks = []
    for metric, figures in result.repeats.items():
        dominance = figures["dominance"]
        if dominance is not None and dominance > _DOMINANT:
            remarks.append(f"{metric}: {dominance:.0%} of all its scores are the same one")
    metrics_of: dict[str, list[str]] = {}
    for metric, style in result.styles.items():
        for word in style.words or ():
            metrics_of.setdefault(word, []).append(metric)
    for word, metrics in metrics_of.items():
        remarks.append(f"response style: {word} ({_STYLES[word]}): {', '.join(metrics)}")
    mean = _mean_halo(result)
    if mean is not None and mean > _HALO:
        remarks.append(f"halo: on degraded texts the metrics move together (mean correlation {mean:.2f})")
    return remarks


def _mean_halo(result: Result) -> float | None:
    """Mean correlation of two different metrics on degraded texts; None unless all of them are defined."""
    correlations = []
    for metric, row in result.halo.get("degraded", {}).items():
        for other, correlation in row.items():
            # A metric beside itself says nothing; if another correlation is undefined, so is the mean.
            if correlation is None and other != metric:
                return None
            if correlation is not None and other != metric:
                correlations.append(correlation)
    return sum(correlations) / len(correlations) if correlations else None


def _notes_on_reading(result: Result) -> list[str]:
    remarks = []
    unscored = unscored_words(result.ratings)
    if unscored:
        remarks.append(unscored)
    for reason, count in list(result.failures.items())[:_REASONS]:
        remarks.append(f"failed {count} times: {reason}")
    again = result.ratings.get(ASKED_AGAIN)
    if again:
        asked = result.ratings["asked"]
        remarks.append(f"{again:,} of {asked:,} answers were asked for again, as unreadable")
    if result.missing_mass is not None:
        remarks.append(f"scores by probability; {result.missing_mass:.1%} of it fell on no score, on average")
    tied = _tied_by_rounding(result)
    if tied is not None and tied >= _ROUNDED:
        remarks.append(
            f"{percent(tied)} of the scores under damage stayed as they were: a decision model gives its "
            "probabilities rounded, mostly to two digits, and so does not show small drops"
        )
    # `parse:` begins a rule that read the words of an answer that came without probabilities.
    parsed = sum(count for rule, count in result.rules.items() if rule.startswith("parse:"))
    if parsed:
        remarks.append(f"{parsed} scores were read from the text, as no probabilities came with them")
    return remarks


def _tied_by_rounding(result: Result) -> float | None:
    """Share of the pairs with both scores that are tied; None if no decision model scored texts.

    Two expected levels are hardly ever equal unless the probabilities are rounded.
    """
    # Only a decision model gives all scores by probability and knows no mass beside them.
    decides = set(result.rules) == {"prob"} and result.missing_mass is None and not result.pairs
    if not decides:
        return None
    read = 0
    tied = 0.0
    for row in result.variants:
        for cell in row.metrics.values():
            if cell.tied is not None:
                # A pair with an unread side counts as tied, but not by rounding.
                read += cell.n - cell.unread
                tied += cell.n * cell.tied - cell.unread
    return tied / read if read else None


def unscored_words(ratings: Mapping[str, int]) -> str:
    """`200 of 900 ratings have no score (unparsed 150, failed 50)`; empty if all have one."""
    missing = ratings["asked"] - ratings["scored"]
    if not missing:
        return ""
    reasons = [f"{reason} {count:,}" for reason, count in without_score(ratings).items()]
    return f"{missing:,} of {ratings['asked']:,} ratings have no score ({', '.join(reasons)})"
