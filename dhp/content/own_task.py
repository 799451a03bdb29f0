"""Metrics and tasks of the user, made from a name and a scale."""

from collections.abc import Sequence

from pydantic import ValidationError

from dhp.content.yaml import describe
from dhp.core.errors import InputError, suggest
from dhp.core.keywords import as_list, near_keywords
from dhp.core.scales import scale_ends
from dhp.core.specs import Metric, Task

OWN_TASK = "own"


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
        For a name that is none, ends that are equal, fewer than two labels, or both scale and labels.
    """
    if labels and scale is not None:
        raise InputError("`labels`: contradict `scale`; give one of them")
    first, last = (1.0, float(len(labels))) if labels else _ends(scale)
    words = [label.strip() for label in labels]
    if labels and (len({word.lower() for word in words}) < max(2, len(words)) or not all(words)):
        raise InputError(f"`labels` {','.join(labels)}: allowed: two or more words that differ, worst first")
    if first == last:
        raise InputError(f"`scale` {scale}: its ends are equal; allowed: two numbers that differ, e.g. 1..10")
    given = {
        "name": name,
        "scale": {"min": min(first, last), "max": max(first, last)},
        "lower_is_better": last < first,
        "labels": words,
        "definition": "",
        "steps": [f"Rate {name.replace('_', ' ')}."],
        "question": f"How good is the text in {name.replace('_', ' ')}?",
        "antonym": f"no {name.replace('_', ' ')}",
    }
    try:
        return Metric.model_validate(given)
    except ValidationError as e:
        raise InputError(f"`metrics` {name}: {describe(e, Metric)}") from None


def own_task(metrics: Sequence[Metric]) -> Task:
    """A task of any texts, with or without a source, judged by these metrics."""
    return Task(task=OWN_TASK, instruction="Write the text.", output_label="Text", metrics=list(metrics))


Metrics = str | Metric | Sequence[str | Metric]
"""One or several: names of the task's, or of the user's own."""


def metric_list(given: Metrics) -> list[str | Metric]:
    """The metrics as a list; raises `InputError` for what is none."""
    metrics = as_list(given)
    for metric in metrics:
        if not isinstance(metric, str | Metric):
            raise InputError(f"`metrics` {metric!r}: allowed: names of metrics, dhp.own_metric(...)")
    return metrics


def with_metrics(task: Task, given: Metrics) -> Task:
    """A task with no more than these metrics, all where none is named.

    A name is one of its metrics; a `Metric` replaces the one of that name, or is added.
    """
    metrics = metric_list(given)
    known = {m.name: m for m in task.metrics}
    own = {m.name: m for m in metrics if isinstance(m, Metric)}
    for name in metrics:
        if isinstance(name, str) and name not in known:
            raise InputError(
                f"task '{task.task}' has no metric '{name}'; {suggest(name, known)}; a metric of your own "
                "takes a scale: `scale` 1..5, or `labels` fail,pass"
            )
    names = [m if isinstance(m, str) else m.name for m in metrics]
    kept = [m for m in task.metrics if m.name in names and m.name not in own] if metrics else task.metrics
    if not own:
        return task.model_copy(update={"metrics": kept})
    chosen = {m.name: m for m in [*kept, *own.values()]}
    changes = {"metrics": [chosen[name] for name in dict.fromkeys(names)], "translations": {}}
    return task.model_copy(update=changes)


def _ends(scale: str | tuple[float, float] | None) -> tuple[float, float]:
    if scale is None:
        return 1.0, 5.0
    return scale_ends(scale, "`scale`")
