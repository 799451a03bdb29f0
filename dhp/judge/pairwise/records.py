"""Pairs of texts, verdicts on them, and the interface of pairwise judges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from dhp.core.records import Candidate
from dhp.core.specs import Task

if TYPE_CHECKING:
    from dhp.llm.cached_model import CachedModel
    from dhp.llm.records import Request

OVERALL = "overall"
"""Metric of texts that are compared as a whole."""

Order = Literal["given", "swapped"]
ORDERS: tuple[Order, ...] = get_args(Order)
"""`given` shows the first text of the pair first, `swapped` the second."""

VerdictStatus = Literal["scored", "unparsed", "refused", "contradictory", "out_of_scale", "failed"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts on the same source; `example` is the same in both."""

    first: Candidate
    second: Candidate
    category: str = ""
    """Category of the example; empty where examples have none."""

    @property
    def swapped(self) -> "Pair":
        """The same texts the other way round."""
        return Pair(self.second, self.first, self.category)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """One answer about a pair in one order."""

    pair: Pair
    metric: str
    """A metric of the task, or `OVERALL`."""
    order: Order
    sample: int
    choice: int | None
    """1 where the first text of the pair is better, wherever it was shown; -1 the second; 0 a tie; None where
    there is no verdict."""
    status: VerdictStatus = "scored"
    """`scored` where there is a verdict, else why there is none."""
    scores: tuple[float, float] | None = None
    """Scores of the first and the second text with `two-scores`, probabilities of their letters with
    `prob`."""
    raw: str | None = None
    """The judge's own words."""
    rule: str | None = None
    """Rule that read the verdict."""
    final: bool = False
    """Whether it is a final word on contradicting verdicts."""


class PairwiseJudge(Protocol):
    """A model, or any other judge, that compares two texts. Subclasses override `compare`."""

    model: str
    """Name of the model, `provider/name`."""
    protocol: str
    """Name and hash of the protocol, `<name>@<hash>`, or `none`."""
    samples: int = 1
    settings: Mapping[str, object] = MappingProxyType({})
    """Other settings that its verdicts depend on, for the record; JSON."""
    cached_model: "CachedModel | None" = None
    """The language model that it asks, with what that has cost; None where it asks none."""

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric: `samples` in each order, in any sequence.

        Final words, where the protocol has them, come on top.
        """
        ...

    def requests(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterable["Request"]:
        """What it would ask the language model, without final words."""
        return ()


def majorities(verdicts: Sequence[PairVerdict], *, final: bool = False) -> tuple[int | None, int | None]:
    """What the answers in each order, given and swapped, say together; final words only if `final`."""
    given, swapped = (
        majority(v.choice for v in verdicts if v.order == order and v.final == final) for order in ORDERS
    )
    return given, swapped


def two_order_score(verdicts: Sequence[PairVerdict]) -> float | None:
    """1 where both orders prefer the first text, 0.5 where one does and the other ties, down to -1.

    Where the orders contradict each other that of the final words, 0 without; None without a verdict.
    """
    given, swapped = majorities(verdicts)
    if given is None or swapped is None:
        return None
    if given * swapped < 0:
        given, swapped = majorities(verdicts, final=True)
    return 0.0 if given is None or swapped is None else (given + swapped) / 2


def majority(choices: Iterable[int | None]) -> int | None:
    """The sign of the sum of several answers; None where none can be read."""
    read = [choice for choice in choices if choice is not None]
    total = sum(read)
    return None if not read else (total > 0) - (total < 0)
