"""What a reader of the figures must know besides them."""

from dhp.analysis.results import Result
from dhp.analysis.variants import STANDARD_N
from dhp.content.damage import variant_name
from dhp.report.labels import figure, state

_CONFUSED = 0.5  # share of a drop on other metrics than expected, from which it is said
_HALO = 0.9  # mean correlation between metrics, from which it is said
_STYLES = {
    "lenient": "degraded texts have a mean in the upper third of the scale",
    "harsh": "originals have a mean in the lower half of the scale",
    "compressed": "nine in ten scores lie within half of the scale",
}
_DOMINANT = 0.8  # share of one score, from which it is said
_NO_REASON = ("asked", "scored", "stopped")
_MOST_MISSING = 0.5  # probability that fell on no score, from which the first note warns
_FEW_MOVED = 6  # pairs that are not tied, and their share: from here on it is not said
_SHARE_MOVED = 0.2
_NAMED = 3  # variants in one note
_FEWEST = 5  # 2 ** -5 is the first possible p-value below 0.05


def notes(result: Result) -> list[str]:
    """What a reader of the table must know besides its figures."""
    return [
        *_about_probability(result),
        *_savings(result),
        *_passing(result),
        *_about_variants(result),
        *_about_pairs(result),
        *_about_ties(result),
        *_about_judge(result),
        *_about_reading(result),
    ]


def _about_probability(result: Result) -> list[str]:
    if (result.missing_mass or 0.0) <= _MOST_MISSING:
        return []
    return [
        f"WARNING: {result.missing_mass:.0%} of the probability fell on no score: answers are hardly in "
        "the form asked for"
    ]


def _passing(result: Result) -> list[str]:
    """Of verdicts by a threshold: how many texts pass before and after the damage."""
    name, at, threshold = result.protocol.partition("@")
    if name != "pass" or not at:
        return []
    return [
        f"{metric.removesuffix('_pass')}: {style.degraded.mean:.0%} of the degraded texts still pass at "
        f"{threshold}, of the originals {style.originals.mean:.0%}"
        for metric, style in result.styles.items()
    ]


def _about_variants(result: Result) -> list[str]:
    found = []
    if result.left_out:
        found.append(f"left out, not rated: {'; '.join(map(variant_name, result.left_out))}")
    if result.n > STANDARD_N and (at := result.at_100.get("d_avg")) is not None:
        found.append(f"on {STANDARD_N} examples D_avg would be about {figure(at)}: D grows with their number")
    if saturated := [variant_name(r.variant) for r in result.variants if r.saturated]:
        more = f" and {len(saturated) - _NAMED} more" if len(saturated) > _NAMED else ""
        found.append(f"* D is at half its ceiling or more: {'; '.join(saturated[:_NAMED])}{more}")
    found += _undecided(result)
    seen = [row for row in result.variants if state(row) == "noticed"]
    confused = max(seen, key=lambda row: row.misplaced or 0.0, default=None)
    if confused is not None and (confused.misplaced or 0.0) > _CONFUSED:
        found.append(
            f"{variant_name(confused.variant)}: {confused.misplaced:.0%} of the drop fell where the "
            f"{result.weights} weights do not expect it"
        )
    if result.controls:
        worst = max(result.controls, key=lambda row: row.d or 0.0)
        found.append(
            f"the largest D of a control is {figure(worst.d)} ({variant_name(worst.variant)}): "
            "read the others against it"
        )
    return found


def _undecided(result: Result) -> list[str]:
    """How many examples would decide what is undecided."""
    rows = [row for row in result.variants if row.verdict == "undecided"]
    more = [row for row in rows if row.n_to_decide is not None]
    if not more or result.curves:
        return []
    most = max(more, key=lambda row: row.n_to_decide or 0)
    return [
        f"{len(rows)} of {len(result.variants)} variants are undecided; about {most.n_to_decide:,} examples "
        f"would decide {'it' if len(rows) == 1 else f'the hardest ({variant_name(most.variant)})'}"
    ]


def _about_pairs(result: Result) -> list[str]:
    found = []
    for row in (*result.variants, *result.controls, *result.attacks):
        name = variant_name(row.variant)
        if row.not_applicable:
            of = row.stopped_at or result.n
            found.append(f"{name}: not applicable to {row.not_applicable} of {of} examples")
        if row.d is None and row.not_applicable < result.n:
            found.append(f"{name}: a metric has no pair left, so D is undefined; averages leave it out")
    kept = [max((cell.n for cell in row.metrics.values()), default=0) for row in result.variants]
    if kept and max(kept) < _FEWEST and result.combination != "printed":
        found.append(f"fewer than {_FEWEST} pairs can never reach D = 1, whatever the judge does")
    if result.clusters is not None and result.statistics == "paper":
        found.append(f"p and D take the examples of {result.clusters} clusters for independent, as published")
    elif result.clusters is not None:
        few = f"; fewer than {_FEWEST} can never reach D = 1" if result.clusters < _FEWEST else ""
        found.append(f"tests take clusters of examples as a whole: {result.clusters} of them{few}")
    found += [
        f"no D is defined at level '{level}': D_avg leaves the whole level out"
        for level in dict.fromkeys(row.level for row in result.variants)
        if all(row.d is None for row in result.variants if row.level == level)
    ]
    return found


def _about_ties(result: Result) -> list[str]:
    """Variants that were missed because hardly a score differs, by the metric where most do."""
    still = []
    for row in result.variants:
        if row.d is None or row.d >= 1:
            continue
        moved = max(row.metrics.values(), key=lambda cell: cell.n_nonzero / cell.n)
        few = moved.n_nonzero < _FEW_MOVED or moved.n_nonzero < _SHARE_MOVED * moved.n
        if few and moved.n >= _FEWEST:
            name = variant_name(row.variant)
            still.append(f"{name} (at most {moved.n_nonzero} of {moved.n} pairs are not tied)")
    if not still:
        return []
    more = f", and {len(still) - _NAMED} more variants" if len(still) > _NAMED else ""
    return [f"few scores move: {'; '.join(still[:_NAMED])}{more}"]


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
    missing = result.ratings["asked"] - result.ratings["scored"]
    if missing:
        reasons = [f"{k} {v}" for k, v in result.ratings.items() if k not in _NO_REASON and v]
        found.append(f"{missing} of {result.ratings['asked']} ratings have no score ({', '.join(reasons)})")
    found += [f"failed {count} times: {reason}" for reason, count in list(result.failures.items())[:3]]
    if result.missing_mass is not None:
        found.append(f"scores by probability; {result.missing_mass:.1%} of it fell on no score, on average")
    if parsed := sum(count for rule, count in result.rules.items() if rule.startswith("parse:")):
        found.append(f"{parsed} scores were read from the text, as no probabilities came with them")
    if result.weights == "uniform":
        found.append("weights uniform: D_EW equals D")
    if result.levels == "none":
        found.append("levels unknown: all variants count as one level")
    return found


def _mean_halo(result: Result) -> float | None:
    """Mean correlation of two different metrics on degraded texts, where all of them are defined."""
    table = result.halo.get("degraded", {})
    found = [r for one, row in table.items() for other, r in row.items() if other != one]
    known = [r for r in found if r is not None]
    return sum(known) / len(known) if known and len(known) == len(found) else None


def _savings(result: Result) -> list[str]:
    """In a run that stops what is resolved: what that saved, and how its figures must be read."""
    if "stopped" not in result.ratings:
        return []
    asked = result.ratings["asked"]
    early = [row for row in result.variants if row.stopped_at is not None]
    found = [
        f"{len(early)} of {len(result.variants)} variants resolved early, asked {asked:,} of "
        f"{asked + result.ratings['stopped']:,} ratings; D is adjusted for the interim analyses"
    ]
    if early:
        found.append(
            "averages are over variants with different numbers of pairs: compare them with no other run"
        )
    return found
