"""Tasks and metrics of the user's own."""

import functools
from collections.abc import Sequence

from dhp.content.yaml_files import refusals
from dhp.core.errors import InputError
from dhp.core.options import near_keywords, scale_ends
from dhp.core.specs import (
    Metric,
    Task,
)

OWN_TASK = "own"
"""The task of texts whose metrics are all that is known of it."""
SCORE = "score"
"""The name of the metric if none is named."""


@near_keywords
def own_metric(
    name: str, scale: str | tuple[float, float] | None = None, labels: Sequence[str] = ()
) -> Metric:
    """A metric that a prompt of the user's own explains.

    Parameters
    ----------
    name
        Of the metric; letters, digits and `_`.
    scale
        The ends of its scale: `1..10`, or (1, 10). `10..1` says that lower is better; such ratings are turned
        round when they are read. Default: 1 to 5.
    labels
        Words for an answer in place of numbers, the worst first, e.g. fail and pass.

    Raises
    ------
    InputError
        For an empty name, ends that are equal, fewer than two labels, or both scale and labels.
    """
    if labels and scale is not None:
        raise InputError("`labels`: cannot be used with `scale`; leave one of them out")
    if scale is None:
        # Labels are numbered from 1, the worst.
        scale = (1.0, len(labels)) if labels else "1..5"
    first, last = scale_ends(scale, "`scale`")
    words = [label.strip() for label in labels]
    if labels and not _differ(words):
        raise InputError(f"`labels` {','.join(labels)}: allowed: two or more words that differ, worst first")
    if first == last:
        raise InputError(f"`scale` {scale}: its ends are equal; must be two numbers that differ, e.g. 1..10")
    spoken = name.replace("_", " ")
    texts = {
        "name": name,
        "scale": {"min": min(first, last), "max": max(first, last)},
        "lower_is_better": last < first,
        "labels": words,
        "definition": "",
        "steps": [f"Rate {spoken}."],
        "question": f"How good is the text in {spoken}?",
        "antonym": f"no {spoken}",
    }
    with refusals(f"`metrics` {name}", Metric):
        return Metric.model_validate(texts)


def _differ(words: Sequence[str]) -> bool:
    """Whether these are two or more words that differ, in any case of their letters: so answers are read."""
    different = {word.lower() for word in words}
    return len(words) >= 2 and len(different) == len(words) and all(words)


LABELS_OF_FUNCTIONS = (
    "`labels`: are words that a prompt asks for; allowed from a function: numbers, yes or no, pass or fail"
)
"""What is said of labels for functions alone."""


def chosen_metrics(
    metrics: Sequence[str | Metric],
    scale: str | tuple[float, float] | None,
    labels: Sequence[str],
    *,
    prompted: bool,
) -> list[str | Metric]:
    """The metrics to judge by; with a scale or labels, the metrics that are named are the user's own.

    A prompt of one's own that rates one thing needs no name for it: it is `score`. Raises `InputError` for a
    scale or labels without a metric, or with a `Metric`, which has its own.
    """
    if scale is None and not labels:
        return list(metrics)
    if not metrics and not prompted:
        if labels:
            raise InputError("`labels`: requires `metrics`")
        raise InputError("`scale`: requires `metrics`, or a function as judge: python:FILE.py:FUNCTION")
    if not metrics:
        return [own_metric(SCORE, scale, labels)]
    chosen: list[str | Metric] = []
    for metric in metrics:
        if isinstance(metric, Metric):
            raise InputError(
                f"metric '{metric.name}': is an object with its own scale; leave out `scale` and `labels`"
            )
        chosen.append(own_metric(metric.lower().replace("-", "_"), scale, labels))
    return chosen


def own_task(metrics: Sequence[Metric]) -> Task:
    """A task of any texts, with or without a source, judged by these metrics."""
    return Task(task=OWN_TASK, instruction="Write the text.", output_label="Text", metrics=list(metrics))


@functools.cache
def function_task() -> Task:
    """The task of plain tables that only functions judge: what a function returns says its metrics."""
    return own_task([own_metric(SCORE)])
