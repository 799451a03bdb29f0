"""What is rated: options of metrics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.core.specs import Metric
    from dhp.judge.adapters.settings import JudgeSettings


OWN = "python:"


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

    def chosen(self, models: Sequence[str], *, prompted: bool = False) -> "list[str | Metric]":
        """The metrics to judge by; those of the user's own have a scale or labels.

        `prompted` says whether the prompt is the user's own.
        """
        from dhp.content.own_task import LABELS_OF_FUNCTIONS, chosen_metrics

        if self.labels is not None and models and all(model.startswith(OWN) for model in models):
            raise InputError(LABELS_OF_FUNCTIONS)
        scale = None if _own_functions(models) else self.scale  # it goes to `of_functions`
        labels = self.labels.split(",") if self.labels is not None else ()
        return chosen_metrics(self.metrics, scale, labels, prompted=prompted)

    def of_functions(self, models: Sequence[str], settings: "JudgeSettings") -> "JudgeSettings":
        """The settings of functions and scorers, with their scale."""
        if self.scale is None or not _own_functions(models):
            return settings
        return replace(settings, scale=self.scale)


def _own_functions(models: Sequence[str]) -> bool:
    """Whether the scale is that of the scores of functions, and not that of a metric."""
    return any(model.startswith(OWN) for model in models)
