"""The pass mark, the score from which a user lets a text through: as given, and as scores are stored.

Users write a mark as they know it: a label, or a number of their own scale, on which low may be good. Scores
are stored as numbers, the better the higher, and `resolved_marks` puts the mark on that scale.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, one_of, suggest

if TYPE_CHECKING:
    from dhp.core.specs import Metric

PassMark = float | int | str | Mapping[str, float | int | str] | None
"""One for all metrics, or by metric; a number of the metric's scale or one of its labels."""
_MAJORITY = 0.5 + 1e-6
"""Where the mark lies above the number of the label before: a text passes by a label if more than half of its
samples gave this one or a better one. Just above a half, so that as many for as against are no majority."""


def resolved_marks(
    pass_mark: PassMark, metrics: Sequence[str], known: "Sequence[Metric]"
) -> dict[str, float]:
    """Metric -> its mark on the scale of stored scores, where higher is better; empty without a mark.

    Without a `pass_mark` metrics with two labels have that of the better one. `known` are the metrics of
    the task. Raises `InputError` for a mark that is not on a metric's scale, or not one of its labels.
    """
    by_name = {metric.name: metric for metric in known}
    marks: dict[str, float] = {}
    if pass_mark is None:
        for name in metrics:
            if name in by_name and len(by_name[name].labels) == 2:
                marks[name] = 1 + _MAJORITY  # the worse label is stored as 1, the better one as 2
        return marks
    wanted = pass_mark if isinstance(pass_mark, Mapping) else {"": pass_mark}
    for name, mark in wanted.items():
        if name:
            one_of("metric", name, metrics, "`pass_mark`")
            marks[name] = _stored(mark, name, by_name.get(name))
        else:  # of all metrics
            for metric in metrics:
                marks[metric] = _stored(mark, metric, by_name.get(metric))
    return marks


def marks_in_words(pass_mark: PassMark, marks: Mapping[str, float], known: "Sequence[Metric]") -> str:
    """The marks as users write them: `7`, `pass`, `coherence 4, fluency 3`; empty without any."""
    if pass_mark is None:
        # The better one of two labels, whose mark nobody had to ask for.
        labels = {metric.labels[-1] for metric in known if metric.name in marks}
        return " or ".join(sorted(labels))
    if isinstance(pass_mark, Mapping):
        return ", ".join(f"{name} {mark}".strip() for name, mark in pass_mark.items())
    return f"{pass_mark:g}" if isinstance(pass_mark, int | float) else pass_mark


def _stored(mark: float | int | str, name: str, metric: "Metric | None") -> float:
    """A mark as scores are stored: a label by its number, and turned round on a scale where low is good."""
    labels = [label.lower() for label in metric.labels] if metric else []
    if labels:
        word = str(mark).strip().lower()
        if word not in labels:
            raise InputError(f"`pass_mark` {mark}: no label of '{name}'; {suggest(word, labels)}")
        return labels.index(word) + _MAJORITY
    try:
        number = float(mark)
    except ValueError:
        number = math.nan
    scale = metric.scale if metric else None
    if not math.isfinite(number) or (scale and not scale.min <= number <= scale.max):
        allowed = f"a number from {scale.min:g} to {scale.max:g}" if scale else "a number"
        raise InputError(f"`pass_mark` {mark}: is not on the scale of '{name}'; allowed: {allowed}")
    if metric is not None and metric.lower_is_better and scale is not None:
        return scale.min + scale.max - number
    return number
