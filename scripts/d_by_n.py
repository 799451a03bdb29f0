"""Draw docs/d-by-n.svg: how D grows with the number of examples while the effect stays the same.

Run it from anywhere: python scripts/d_by_n.py [--out FILE]
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.special import ndtri

from dhp.stats.discernment import discernment
from dhp.stats.wilcoxon import signed_rank

PLOT = Path(__file__).resolve().parent.parent / "docs" / "d-by-n.svg"
EFFECTS = (0.1, 0.2, 0.4, 0.8)
SIZES = (10, 14, 20, 30, 50, 70, 100, 140, 200, 300, 500, 700, 1000)
COLOURS = ("#0072b2", "#d55e00", "#007a5a", "#7b3294")
RUNS = 400


def drawn(effect: float, n: int, runs: int) -> npt.NDArray[np.float64]:
    """D of so many runs on one metric, where scores fall by a rank-biserial correlation of `effect`.

    Differences are drawn from N(shift, 1). The correlation of so many that chance plays no part is
    2 P(X + Y > 0) - 1 for two of them, which gives the shift.
    """
    shift = float(ndtri((1 + effect) / 2)) / math.sqrt(2)
    rng = np.random.default_rng([int(100 * effect), n])
    return np.array([discernment(signed_rank(rng.normal(shift, 1, n))) for _ in range(runs)])


def figure(runs: int, sizes: Sequence[int]) -> Figure:
    """The median of D by effect, with the middle 80 % of the runs, on logarithmic axes."""
    plot = Figure(figsize=(7, 4.2), facecolor="white", layout="constrained")
    axes = plot.add_subplot(facecolor="white")
    for effect, colour in zip(EFFECTS, COLOURS, strict=True):
        found = [np.quantile(drawn(effect, n, runs), (0.1, 0.5, 0.9)) for n in sizes]
        low, median, high = np.round(found, 4).T
        axes.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.plot(sizes, median, color=colour, marker="o", markersize=3)
        axes.text(sizes[-1] * 1.06, median[-1], f"effect {effect:g}", va="center", color=colour)
    axes.axhline(1, color="black", linewidth=1, linestyle="--")
    axes.text(sizes[-1] * 1.06, 1, "D = 1", va="center", backgroundcolor="white")
    axes.set(xscale="log", yscale="log", xlabel="examples (N)", ylabel="D", ylim=(0.1, 200))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return plot


def draw(path: Path, runs: int = RUNS, sizes: Sequence[int] = SIZES) -> None:
    """Write the plot as SVG, the same bytes every time."""
    with matplotlib.rc_context({"svg.hashsalt": "dhp", "svg.fonttype": "path", "font.size": 10}):
        about = {"Title": "D by number of examples", "Date": None, "Creator": None}
        figure(runs, sizes).savefig(path, format="svg", metadata=about)


def main() -> None:
    """Write the plot where the docs show it, or where `--out` says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PLOT)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    draw(given.out, given.runs)


if __name__ == "__main__":
    main()
