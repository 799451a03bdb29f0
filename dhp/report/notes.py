"""Notes on the details of a result."""

from dhp.analysis.results import FEWEST_PAIRS, Result
from dhp.content.catalog import variant_name
from dhp.core.plugins import load_target, offered
from dhp.report.findings import findings
from dhp.report.labels import without_score

_HALO = 0.9  # mean correlation between metrics from which it is said
_STYLES = {
    "lenient": "degraded texts have a mean in the upper third of the scale",
    "harsh": "originals have a mean in the lower half of the scale",
    "compressed": "nine in ten scores lie within half of the scale",
}
_DOMINANT = 0.8  # share of one score from which it is said


def notes(result: Result) -> list[str]:
    """Remarks on how the figures of a result came about."""
    return [
        *_about_interim_analyses(result),
        *_passing(result),
        *_about_pairs(result),
        *_about_judge(result),
        *_about_reading(result),
        *(line for target in offered("notes").values() for line in load_target(target)(result)),
    ]


def _about_interim_analyses(result: Result) -> list[str]:
    """That D is adjusted for several analyses."""
    return ["D is adjusted for the interim analyses"] if "stopped" in result.ratings else []


def _passing(result: Result) -> list[str]:
    """Number of texts that pass a threshold before and after the damage."""
    name, at, threshold = result.protocol.partition("@")
    if name != "pass" or not at:
        return []
    return [
        f"{metric.removesuffix('_pass')}: {style.degraded.mean:.0%} of the degraded texts still pass at "
        f"{threshold}, of the originals {style.originals.mean:.0%}"
        for metric, style in result.styles.items()
    ]


def _about_pairs(result: Result) -> list[str]:
    found = []
    if result.left_out:
        found.append(f"left out, not rated: {'; '.join(map(variant_name, result.left_out))}")
    for row in (*result.variants, *result.controls, *result.attacks):
        name = variant_name(row.variant)
        if row.not_applicable:
            of = row.stopped_at or result.n
            found.append(f"{name}: not applicable to {row.not_applicable} of {of} examples")
        if row.d is None and row.not_applicable < result.n:
            found.append(f"{name}: a metric has no pair left, so D is undefined; averages leave it out")
    few = [variant_name(row.variant) for row in result.variants if row.n < FEWEST_PAIRS]
    if few:
        found.append(f"fewer than {FEWEST_PAIRS} pairs, in no average: {'; '.join(few)}")
    if pairs := findings(result).pairs:
        found.append(f"the kinds of damage have {pairs[0]} to {pairs[1]} pairs")
    if result.clusters is not None and result.statistics == "paper":
        found.append(f"p and D take the examples of {result.clusters} clusters for independent, as published")
    elif result.clusters is not None:
        found.append(f"tests take clusters of examples as a whole: {result.clusters} of them")
    if result.levels == "none":
        found.append("levels unknown: all kinds count as one level")
    return found


def _about_judge(result: Result) -> list[str]:
    found = []
    for metric, figures in result.repeats.items():
        if (figures["dominance"] or 0.0) > _DOMINANT:
            found.append(f"{metric}: {figures['dominance']:.0%} of all its scores are the same one")
    for word in dict.fromkeys(word for style in result.styles.values() for word in style.words or ()):
        metrics = [m for m, style in result.styles.items() if word in (style.words or ())]
        found.append(f"response style: {word} ({_STYLES[word]}): {', '.join(metrics)}")
    if (mean := _mean_halo(result)) is not None and mean > _HALO:
        found.append(f"halo: on degraded texts the metrics move together (mean correlation {mean:.2f})")
    return found


def _about_reading(result: Result) -> list[str]:
    found = []
    if missing := result.ratings["asked"] - result.ratings["scored"]:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in without_score(result.ratings).items())
        found.append(f"{missing:,} of {result.ratings['asked']:,} ratings have no score ({reasons})")
    found += [f"failed {count} times: {reason}" for reason, count in list(result.failures.items())[:3]]
    if result.missing_mass is not None:
        found.append(f"scores by probability; {result.missing_mass:.1%} of it fell on no score, on average")
    if parsed := sum(count for rule, count in result.rules.items() if rule.startswith("parse:")):
        found.append(f"{parsed} scores were read from the text, as no probabilities came with them")
    return found


def _mean_halo(result: Result) -> float | None:
    """Mean correlation of two different metrics on degraded texts, where all of them are defined."""
    table = result.halo.get("degraded", {})
    found = [r for one, row in table.items() for other, r in row.items() if other != one]
    known = [r for r in found if r is not None]
    return sum(known) / len(known) if known and len(known) == len(found) else None
