"""The figures of a result in sentences."""

from collections.abc import Sequence

from dhp.analysis.result_parts import VariantResult
from dhp.analysis.results import Result
from dhp.content.damage import kind_name, variant_name
from dhp.report.labels import figure, noticed, percent, probe_verdict, state, t75, threshold

_NAMED = 4  # variants in one sentence
_SAME = 0.05  # D and D_EW this close, in D or as a share of it, read the same


def sentences(result: Result) -> list[str]:
    """What the judge notices, where it is strongest and weakest, how large the drop is, what it confuses."""
    if result.curves:
        return [*_about_doses(result), *_about_probes(result)]
    stopped = _about_stopping(result)
    return [
        *_about_damage(result),
        *(stopped or _about_levels(result)),
        *_about_size(result),
        *_about_weights(result),
        *_about_probes(result),
    ]


def level_means(result: Result) -> dict[str, float]:
    """Level -> mean D of its variants, without those where it is undefined."""
    found: dict[str, list[float]] = {}
    for row in result.variants:
        if row.d is not None:
            found.setdefault(row.level, []).append(row.d)
    return {level: sum(ds) / len(ds) for level, ds in found.items()}


def _about_damage(result: Result) -> list[str]:
    if not result.variants:
        return []
    seen, missed, unknown = (
        sorted((r for r in result.variants if state(r) == word), key=lambda r: r.detection or 0.0)
        for word in ("noticed", "missed", "undecided")
    )
    said = f"Notices {len(seen)} of {len(result.variants)} variants"
    if missed:
        said += f"; misses {_listed(missed)}"
    if unknown:
        said += f"; undecided: {_listed(unknown)}"
    found = [f"{said}.", *_about_detection(result)]
    if result.d_avg is not None:
        d_avg = f"Over all levels D_avg is {figure(result.d_avg)}"
        if result.d_min_variant is None:
            return [*found, f"{d_avg}."]
        spot = "weakest" if noticed(result.d_min) == "noticed" else "blind"
        found.append(
            f"{d_avg}; the {spot} spot is {variant_name(result.d_min_variant)} "
            f"with D_min = {figure(result.d_min)}."
        )
    return found


def _about_detection(result: Result) -> list[str]:
    if (found := result.detection) is None or found.avg is None:
        return []
    lowest = (
        ""
        if found.min_variant is None
        else f", lowest {percent(found.min)} ({variant_name(found.min_variant)})"
    )
    failed = "; harmless changes were noticed too: it fails its controls" * (result.controls_passed is False)
    return [f"Detection is {percent(found.avg)}{lowest}, where 50 % is blind{failed}."]


def _about_stopping(result: Result) -> list[str]:
    early = [row for row in result.variants if row.stopped_at is not None]
    if not early:
        return []
    return [
        f"{len(early)} of {len(result.variants)} variants were resolved early and got fewer examples: "
        "their verdicts stand, but their D compares with no other, nor with another run."
    ]


def _about_levels(result: Result) -> list[str]:
    means = level_means(result)
    if len(means) < 2:
        return []
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    if figure(means[best]) == figure(means[worst]):
        return []
    return [
        f"Strongest at {best} level (mean D {figure(means[best])}), "
        f"weakest at {worst} level ({figure(means[worst])})."
    ]


def _about_size(result: Result) -> list[str]:
    if result.effect_avg is None:
        return []
    return [
        f"The drop in scores has a mean effect of {figure(result.effect_avg)}"
        ", where 1 means that every score fell, and 0 that none "
        "moved or rises and falls balance."
    ]


def _about_weights(result: Result) -> list[str]:
    seen = [row for row in result.variants if state(row) == "noticed"]
    if result.weights == "uniform" or result.d_avg is None or result.d_avg_ew is None or not seen:
        return []
    gain = result.d_avg_ew - result.d_avg
    weighed = f"by the {result.weights} weights it is {figure(result.d_avg_ew)}"
    worst = max(seen, key=lambda row: row.misplaced or 0.0)
    confused = (
        f" Most confused: {variant_name(worst.variant)}, {worst.misplaced:.0%} of the drop on metrics that "
        "the weights do not expect."
        if worst.misplaced
        else ""
    )
    close = _SAME * max(1.0, result.d_avg)
    if gain < -close:
        return [
            f"D_avg is {figure(result.d_avg)}, {weighed}: the metrics that fall most clearly are not those "
            f"that should. The judge sees damage and confuses what kind.{confused}"
        ]
    same = (
        "about the same"
        if gain <= close
        else "more: the metrics that should fall are those that fall most clearly"
    )
    return [f"D_avg is {figure(result.d_avg)}, {weighed}, {same}.{confused}"]


def _about_probes(result: Result) -> list[str]:
    found = []
    if result.controls:
        lowered = [row for row in result.controls if probe_verdict(row) == "lowered"]
        found.append(
            f"Lowers scores for {_count(lowered, result.controls, 'harmless change')}"
            f"{': ' + _listed(lowered) if lowered else ''}."
        )
    if result.attacks:
        raised = [row for row in result.attacks if probe_verdict(row) == "raised"]
        found.append(
            f"Raises scores for {_count(raised, result.attacks, 'attack')}"
            f"{': ' + _listed(raised) if raised else ''}."
        )
    return found


def _about_doses(result: Result) -> list[str]:
    found = []
    for curve in result.curves:
        line = curve.lines.get("combined") or next(iter(curve.lines.values()))
        said = f"{kind_name(curve.perturber)}: D passes 1 at dose {threshold(curve, line)}"
        if curve.t75 is not None:
            said += f"; three of four texts are detected at dose {t75(curve)} (T75)"
        found.append(f"{said}.")
    return found


def _count(some: Sequence[VariantResult], every: Sequence[VariantResult], name: str) -> str:
    return f"{len(some) or 'none'} of {len(every)} {name}{'s' if len(every) > 1 else ''}"


def _listed(rows: Sequence[VariantResult]) -> str:
    named = [f"{variant_name(r.variant)} ({percent(r.detection)})" for r in rows[:_NAMED]]
    more = [f"{len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
    return "; ".join([*named, *more])
