"""A chart of the judges of a table: detection by size within a family."""

from operator import itemgetter
from typing import TYPE_CHECKING

from dhp.core.text import printable
from dhp.leaderboard.entries import score
from dhp.leaderboard.tables import Table
from dhp.report.charts import COLOURS, drawn
from dhp.report.labels import figure

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_MARKERS = "osD^vP*X"
_APART = 1.12  # from one labelled size to the next


def _said(size: float, share: float, _: tuple[float, float], d: float | None) -> str:
    """Detection and D_avg of one size: `7B 81% (D_avg 4.20)`."""
    return f"{size:g}B {share:.0%} (D_avg {figure(d)})"


def sizes(table: Table) -> "Markup | None":
    """Detection by size, a line for each family and protocol; None where no family has two sizes."""
    families: dict[str, list[tuple[float, float, tuple[float, float], float | None]]] = {}
    for entry in table.entries:
        share, ends = score(entry.result, "detection")
        if entry.family and entry.size and share is not None:
            protocols = {e.result.protocol for e in table.entries}
            name = entry.family + (f", {entry.result.protocol}" if len(protocols) > 1 else "")
            families.setdefault(printable(name), []).append(
                (entry.size, share, ends or (share, share), entry.result.d_avg)
            )
    if not any(len({size for size, *_ in points}) > 1 for points in families.values()):
        return None

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for number, (name, points) in enumerate(sorted(families.items())):
            x, y, ends, _ = zip(*sorted(points, key=itemgetter(0)), strict=True)
            (line,) = axes.plot(x, y, marker=_MARKERS[number % len(_MARKERS)], label=name)
            for place, (low, high) in zip(x, ends, strict=True):
                axes.plot([place, place], [low, high], color=line.get_color(), linewidth=1, alpha=0.6)
        axes.axhline(0.5, color=COLOURS["weak"], linewidth=1, linestyle=(0, (3, 3)))
        axes.set_xscale("log")
        shown: list[float] = []
        for size in sorted({size for points in families.values() for size, *_ in points}):
            shown += [size] if not shown or size > _APART * shown[-1] else []
        axes.set_xticks(shown, [f"{size:g}B" for size in shown])
        axes.minorticks_off()
        axes.set_xlabel("parameters")
        axes.set_ylabel("detection")
        figure.legend(loc="outside right upper", frameon=False)

    said = "; ".join(
        f"{name} {', '.join(_said(*point) for point in sorted(points, key=itemgetter(0)))}"
        for name, points in sorted(families.items())
    )
    return drawn(draw, 9.2, 3.8, f"Lines: detection by size on {table.dataset}: {said}.")
