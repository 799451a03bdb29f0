"""Errors of a judge at a threshold, and verdicts that change when asked again."""

from typing import TYPE_CHECKING

import numpy as np

from dhp.core.errors import InputError
from dhp.runs.reader import Run, RunResult
from dhp.stats.arrays import Floats
from dhp.stats.judge_habits import ErrorRates, FlipRate, error_rates, flip_rate

if TYPE_CHECKING:
    import pandas as pd


def judge_errors(run: Run, passes: float) -> dict[str, dict[str, ErrorRates]]:
    """How often each judge of a run passes good texts and fails bad ones.

    Judge (its model, and `model (protocol)`) -> metric -> its errors over all datasets of the run; a metric
    without scores of good or bad texts is left out. `passes` is the lowest score that passes, on the scale of
    the metric. Raises `InputError` for a run of pairwise judges, whose scores are no grades.
    """
    groups: dict[tuple[str, str], dict[str, list[tuple[Floats, Floats]]]] = {}
    for each in run.rated:
        if each.result.statistics == "sign-flip":
            raise InputError(
                f"{run.folder}: its judges compare texts; allowed: a run of judges that rate them"
            )
        metrics = groups.setdefault((each.result.model, each.result.protocol), {})
        for metric, sides in _sides(each).items():
            metrics.setdefault(metric, []).append(sides)
    found: dict[str, dict[str, ErrorRates]] = {}
    for (model, protocol), metrics in groups.items():
        rates = {m: known for m, parts in metrics.items() if (known := _pooled(parts, passes))}
        found[f"{model} ({protocol})"] = rates
        found.setdefault(model, rates)
    return found


def _sides(each: RunResult) -> dict[str, tuple[Floats, Floats]]:
    """Metric -> scores of good and of bad texts, shape (texts, examples)."""
    names = each.ratings.variants
    controls = {v.variant for v in each.result.controls if v.level == "control"}
    damage = {v.variant for v in each.result.variants}
    good = [0, *(1 + i for i, name in enumerate(names) if name in controls)]
    bad = [1 + i for i, name in enumerate(names) if name in damage]
    means = each.ratings.means
    return {m: (means[good, k], means[bad, k]) for k, m in enumerate(each.ratings.metrics)}


def _pooled(parts: list[tuple[Floats, Floats]], passes: float) -> ErrorRates | None:
    """Over datasets, whose numbers of variants may differ."""
    sides = []
    for which in (0, 1):
        most = max(len(part[which]) for part in parts)
        gaps = [np.full((most - len(p[which]), p[which].shape[1]), np.nan) for p in parts]
        sides.append(np.hstack([np.vstack([p[which], gap]) for p, gap in zip(parts, gaps, strict=True)]))
    good, bad = sides
    return error_rates(good, bad, passes)


def flip_rates(run: Run, passes: float) -> dict[str, dict[str, FlipRate]]:
    """How often a verdict changes from one sample of a run to another, over all its texts.

    Judge (its model, and `model (protocol)`) -> metric -> its flip rate; a metric without several samples of
    a text is left out. `passes` is the lowest score that passes, on the scale of the metric.
    """
    found: dict[str, dict[str, FlipRate]] = {}
    for (model, protocol), rows in run.ratings.groupby(["model", "protocol"], sort=False):
        rates = {
            str(metric): rate
            for metric, part in rows.groupby("metric", sort=False)
            if (rate := _rate(part, passes)) is not None
        }
        found[f"{model} ({protocol})"] = rates
        found.setdefault(str(model), rates)
    return found


def _rate(rows: "pd.DataFrame", passes: float) -> FlipRate | None:
    """From the ratings of one judge by one metric."""
    scored = rows.dropna(subset=["score"])
    text = scored.groupby(["dataset", "example", "variant"], sort=False)
    number, sample = text.ngroup().to_numpy(), text.cumcount().to_numpy()
    if not len(scored):
        return None
    scores = np.full((number.max() + 1, sample.max() + 1), np.nan)
    scores[number, sample] = scored["score"]
    clusters = np.zeros(len(scores), dtype=np.intp)
    clusters[number] = scored.groupby(["dataset", "example"], sort=False).ngroup()
    return flip_rate(scores, passes, clusters)
