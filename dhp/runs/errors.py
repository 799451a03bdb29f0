"""Error rates of the judges of a run on good and degraded texts."""

import numpy as np

from dhp.core.errors import InputError
from dhp.runs.reader import Run, RunResult
from dhp.stats.arrays import Floats
from dhp.stats.judge_habits import ErrorRates, error_rates


def judge_errors(run: Run, passes: float) -> dict[str, dict[str, ErrorRates]]:
    """How often each judge of a run passes good texts and fails bad ones.

    Parameters
    ----------
    run
        A finished run, of `dhp audit` or of the benchmark.
    passes
        The lowest score that passes, on the scale of the metric.

    Returns
    -------
    dict
        Judge (its model, and `model (protocol)`) -> metric -> its errors over all datasets of the run. A
        metric without scores of good or bad texts is left out.

    Raises
    ------
    InputError
        For a run of pairwise judges, whose scores are no grades.
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
