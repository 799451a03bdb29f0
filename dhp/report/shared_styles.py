"""How far judges agree with each other before and after damage, for terminal and pages."""

import math
from itertools import combinations

import numpy as np

from dhp.content.catalog import variant_name
from dhp.core.text import printable
from dhp.report.labels import figure
from dhp.runs.compare import DatasetComparison

HEADINGS = ("judges", "originals", "damaged", "lowest", "highest", "mean score")
"""Two judges; rho over the originals; its mean over the kinds of damage; the kinds on which they agree least
and most; their mean scores of originals and of damaged texts."""
TITLE = "agreement of judges with each other, Pearson's rho over texts, before and after damage"


def style_rows(comparison: DatasetComparison) -> list[tuple[str, ...]]:
    """A row for each two judges, under `HEADINGS`."""
    styles, names = comparison.styles, list(map(printable, comparison.names))
    scores = [
        f"{_shown(before)} → {_shown(after)}"
        for before, after in zip(styles.mean[0], styles.mean_damaged, strict=True)
    ]
    return [
        (
            f"{names[i]}, {names[j]}",
            _shown(styles.rho[0, i, j]),
            _shown(styles.damaged[i, j]),
            *_ends(comparison, i, j),
            f"{scores[i]}, {scores[j]}",
        )
        for i, j in combinations(range(len(names)), 2)
    ]


def _ends(comparison: DatasetComparison, i: int, j: int) -> tuple[str, str]:
    """The kinds of damage on which two judges agree least and most."""
    rho = comparison.styles.rho[1:, i, j]
    if np.isnan(rho).all():
        return "–", "–"
    low, high = (
        f"{_shown(rho[k])} {variant_name(comparison.styles.variants[1 + k])}"
        for k in (int(np.nanargmin(rho)), int(np.nanargmax(rho)))
    )
    return low, high


def by_chance(n: int) -> str:
    """How far rho of unrelated judges strays from 0, by Fisher's transformation; empty for few texts."""
    if n < 4:
        return ""
    reach = math.tanh(1.959964 / math.sqrt(n - 3))
    return f"Of two judges that have nothing in common, 95 % of rho on {n} texts lie within ±{reach:.2f}."


def _shown(value: float) -> str:
    return figure(None if math.isnan(value) else float(value))
