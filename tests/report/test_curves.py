"""Charts of the report: what they draw."""

import re
from dataclasses import replace
from html import unescape

import pytest

from dhp.report.charts import detection_drawing, judges_chart
from tests.report.made import dose_response, result


@pytest.mark.slow
def test_curves_of_judges_stand_in_one_chart_with_their_thresholds() -> None:
    seeing = result(model="a", curves=(dose_response(3.0),))
    blind = result(model="b", curves=(replace(dose_response(None), detection=(0.5, 0.52, 0.5)),))
    assert judges_chart([seeing]) is None
    chart = unescape(judges_chart([seeing, blind]) or "")
    assert "a T75 3 [2 to over 16], b T75 not reached [2 to over 16]" in chart
    assert all(f">{name}</text>" in chart for name in ("a", "b", "typos"))
    alone = detection_drawing(seeing.curves).description
    assert "dose 1 55%, dose 4 80%, dose 16 98%, T75 3 [2 to over 16]" in alone


@pytest.mark.slow
def test_no_point_of_a_later_panel_lies_below_the_chart() -> None:
    low = replace(dose_response(None), detection=(0.12, 0.5, 0.6), perturber="random_deletions")
    chart = detection_drawing((dose_response(3.0), low)).on_page()
    assert min(int(found) for found in re.findall(r">(\d+)%</text>", chart)) <= 20
