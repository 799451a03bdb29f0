"""Metrics of the user's own: a scale and labels belong to metrics that are named."""

import pytest

from dhp.content.own_task import chosen_metrics, own_metric
from dhp.core.errors import InputError
from dhp.core.specs import Metric, Scale


def test_a_scale_makes_a_metric_of_each_name() -> None:
    chosen = chosen_metrics(["Tone", "depth-of-answer"], "1..10", [], prompted=False)
    assert all(isinstance(each, Metric) for each in chosen)
    names = [each.name for each in chosen if isinstance(each, Metric)]
    scales = [each.scale for each in chosen if isinstance(each, Metric)]
    assert names == ["tone", "depth_of_answer"]
    assert scales == [Scale(min=1, max=10)] * 2


def test_a_metric_that_is_an_object_is_not_dropped_for_a_scale() -> None:
    tone = own_metric("tone")
    for metrics in ([tone], ["depth", tone]):
        with pytest.raises(InputError, match="metric 'tone': is an object with its own scale"):
            chosen_metrics(metrics, "1..10", [], prompted=True)
    assert chosen_metrics([tone], None, [], prompted=True) == [tone]
