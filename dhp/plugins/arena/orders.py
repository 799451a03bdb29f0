"""Recorded comparisons in both orders: how often each order is right, and how far the order decides.

Every row of the file is a pair of an original and a degraded text, with a verdict in each order, or in one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.rating_forms import ONE_ORDER, ORDERS, is_pairwise, preferred
from dhp.core.ratings_table import read_judgements
from dhp.core.records import ORIGINAL
from dhp.plugins.arena.statistics import PositionBias, points, position_bias
from dhp.report.document import Column, Table
from dhp.report.labels import percent, percents

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class OrderFigures:
    """The comparisons of one judge about one kind of damage; shares are in [0, 1]."""

    model: str
    protocol: str
    kind: str
    n: int
    """Comparisons, on which all shares rest; one without a verdict prefers neither text."""
    unread: int
    """Comparisons without a verdict in some order that was asked."""
    right_first: float | None
    """Share in which the original is preferred when it is shown first; None if nobody asked so."""
    right_second: float | None
    right_both: float | None
    """None of comparisons in one order only."""
    right_together: float | None
    """Share in which the two verdicts together favour the original: one may be a tie."""
    bias: PositionBias | None
    """Of the comparisons with both verdicts."""

    @property
    def judge(self) -> str:
        """The model, with the way it was asked if the file says it."""
        return self.model if self.protocol == "none" else f"{self.model} ({self.protocol})"


def order_figures(path: Path) -> list[OrderFigures]:
    """The figures of a file of comparisons, one for each model, protocol and kind.

    Raises `InputError` for a file that holds no comparisons.
    """
    frame = read_judgements(path)
    if not is_pairwise(frame.columns):
        raise InputError(
            f"{path}: holds no comparisons; must have the columns '{ORDERS[0]}' and '{ORDERS[1]}'; other "
            f"judgements: dhp benchmark --model recorded/{path}"
        )
    # An original is in each pair, and has no row of its own that would count.
    frame = frame[frame["variant"] != ORIGINAL]
    # A file without these columns holds the comparisons of one judge.
    for key, default in (("model", path.name), ("protocol", "none")):
        named = frame[key].astype(str) if key in frame else default
        frame = frame.assign(**{key: named})
    figures = []
    for (model, protocol, kind), part in frame.groupby(["model", "protocol", "variant"], sort=False):
        figures.append(_figures(str(model), str(protocol), str(kind), part))
    return figures


def _figures(model: str, protocol: str, kind: str, part: "pd.DataFrame") -> OrderFigures:
    # 1 if the original is preferred, -1 if the degraded text is, 0 for a tie, None without a verdict.
    first = [preferred(verdict) for verdict in part[ORDERS[0]]]
    second = [preferred(verdict) for verdict in part[ORDERS[1]]]
    one_order = bool((part["rule"] == ONE_ORDER).any())
    asked_orders = 1 if one_order else 2

    unread = 0
    both, together = [], []
    for one, other in zip(first, second, strict=True):
        verdicts = 2 - (one, other).count(None)
        if verdicts < asked_orders:
            unread += 1
        both.append(one == 1 and other == 1)
        # A verdict that is missing says as little as a tie; two that contradict each other are a tie.
        together.append((one or 0) + (other or 0) > 0)

    asked_first, asked_second = first, second
    if one_order:  # what is missing in the other order was not asked, and counts for nothing
        asked_first = [verdict for verdict in first if verdict is not None]
        asked_second = [verdict for verdict in second if verdict is not None]
    return OrderFigures(
        model=model,
        protocol=protocol,
        kind=kind,
        n=len(part),
        unread=unread,
        right_first=_share([verdict == 1 for verdict in asked_first]),
        right_second=_share([verdict == 1 for verdict in asked_second]),
        right_both=None if one_order else _share(both),
        right_together=_share(together),
        bias=position_bias(points(first), points(second)),
    )


def _share(right: Sequence[bool]) -> float | None:
    """The share of comparisons that are right; None without any."""
    if not right:
        return None
    return right.count(True) / len(right)


LEGEND = (
    "Share of pairs in which the original is preferred: shown first, shown second, in both orders; together: "
    "the two verdicts favour it, one may be a tie. flips: the verdict follows the order."
)


_COLUMNS: tuple[Column[OrderFigures], ...] = (
    Column("judge", lambda each: each.judge, names=True, right=False),
    Column("kind", lambda each: each.kind, right=False),
    Column("pairs", lambda each: each.n),
    Column("unread", lambda each: each.unread),
    Column("original first", lambda each: each.right_first, percent),
    Column("original second", lambda each: each.right_second, percent),
    Column("both", lambda each: each.right_both, percent),
    Column("together", lambda each: each.right_together, percent),
    Column("flips", lambda each: each.bias and each.bias.share, percent),
    Column(
        "95 %",
        lambda each: each.bias and each.bias.ci and each.bias.ci[0],
        words=lambda each: percents(each.bias.ci if each.bias else None),
    ),
)


def order_table(figures: Sequence[OrderFigures]) -> Table[OrderFigures]:
    """A row for each judge and kind."""
    return Table("verdicts by order", _COLUMNS, figures)
