"""Charts of the report: what they draw."""

import re
from dataclasses import replace
from html import unescape

import dhp
from dhp.analysis.result_parts import DoseResponse, DoseThreshold
from dhp.report.charts import detection_chart, judges_chart


def curve(t75: float | None, detection: tuple[float, ...]) -> DoseResponse:
    found = DoseThreshold(t75, 2.0, None)
    return DoseResponse("random_typos", (1, 4, 16), detection, 0.5, 1.5, 0.02, found, 80, found)


def test_curves_of_judges_stand_in_one_chart_with_their_thresholds() -> None:
    (first,) = dhp.run("mock/ideal", "mini/story_cloze", n=8)
    seeing = replace(first, model="a", curves=(curve(3.0, (0.55, 0.8, 0.98)),))
    blind = replace(first, model="b", curves=(curve(None, (0.5, 0.52, 0.5)),))
    assert judges_chart([seeing]) is None
    chart = unescape(judges_chart([seeing, blind]) or "")
    assert "a T75 3 [2 or more], b T75 not reached [2 or more]" in chart
    assert all(f">{name}</text>" in chart for name in ("a", "b", "typos"))
    assert "dose 1 55%, dose 4 80%, dose 16 98%, T75 3 [2 or more]" in unescape(
        detection_chart(seeing.curves)
    )


def test_no_point_of_a_later_panel_lies_below_the_chart() -> None:
    low = replace(curve(None, (0.12, 0.5, 0.6)), perturber="random_deletions")
    chart = detection_chart((curve(3.0, (0.55, 0.8, 0.98)), low))
    assert min(int(found) for found in re.findall(r">(\d+)%</text>", chart)) <= 20
