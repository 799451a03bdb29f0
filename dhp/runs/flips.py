"""How often the judges of a run change their verdict on a text that they judge again."""

from typing import TYPE_CHECKING

import numpy as np

from dhp.runs.reader import Run
from dhp.stats.judge_habits import FlipRate, flip_rate

if TYPE_CHECKING:
    import pandas as pd


def flip_rates(run: Run, passes: float) -> dict[str, dict[str, FlipRate]]:
    """How often a verdict changes from one sample of a run to another, over all its texts.

    Parameters
    ----------
    run
        A finished run.
    passes
        The lowest score that passes, on the scale of the metric.

    Returns
    -------
    dict
        Judge (its model, and `model (protocol)`) -> metric -> its flip rate; a metric without several samples
        of a text is left out.
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
