"""What is rated: options of metrics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.core.specs import Metric


@dataclass(frozen=True)
class Criteria:
    """What is rated."""

    metrics: tuple[str, ...] = option(
        "Metric to judge by, of the task or of your own; may be repeated; default: all of the task, and "
        "in comparisons the whole text.",
        default=(),
        name="--metric",
        metavar="NAME",
        repeatable=True,
    )
    scale: str | None = option(
        "Scale of your own metric or function, e.g. 1..10; 10..1: lower is better.",
        default=None,
        metavar="LOW..HIGH",
    )
    labels: str | None = option(
        "Words that answer for your own metric, the worst first, e.g. fail,pass.",
        default=None,
        metavar="WORST,..,BEST",
    )

    @property
    def words(self) -> list[str]:
        """The labels, one by one."""
        return [] if self.labels is None else self.labels.split(",")

    def chosen(self, *, prompted: bool) -> "list[str | Metric]":
        """The metrics by which a language model judges; those of the user's own have a scale or labels.

        `prompted` says whether the prompt is the user's own.
        """
        from dhp.content.own_task import chosen_metrics

        return chosen_metrics(self.metrics, self.scale, self.words, prompted=prompted)
