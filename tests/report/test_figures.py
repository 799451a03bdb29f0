"""Charts of the report: what they draw."""

from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.analysis.result_parts import DoseResponse, DoseResponseLine, DoseThreshold, ResponseStyle
from dhp.report.curves import detection_chart, judges_chart
from dhp.report.figures import score_bars
from dhp.stats.response_style import spread

SCORES = st.lists(st.floats(1, 5), min_size=1, max_size=60)


def style(originals: list[float], degraded: list[float]) -> ResponseStyle:
    parts = spread(originals), spread(degraded)
    assert parts[0] is not None
    assert parts[1] is not None
    return ResponseStyle(*parts, words=None)


@given(SCORES, SCORES)
def test_all_texts_are_drawn_in_bars_wide_enough_to_see(
    originals: list[float], degraded: list[float]
) -> None:
    bars = score_bars(style(originals, degraded), (1, 5))
    assert sum(bars.originals) == pytest.approx(1)
    assert sum(bars.degraded) == pytest.approx(1)
    assert bars.width >= 4 / 50
    assert bars.ends[0] <= 1
    assert bars.ends[1] >= 5


def test_whole_scores_keep_a_bar_each_and_continuous_ones_share_twenty() -> None:
    whole = score_bars(style([1, 2, 2, 5], [1, 1, 4, 5]), (1, 5))
    assert list(whole.places) == [1, 2, 4, 5]
    assert whole.originals == [0.25, 0.5, 0, 0.25]
    rng = np.random.default_rng(0)
    many = [float(x) for x in rng.uniform(1, 5, 20_000)]
    binned = score_bars(style(many, many[:15]), (1, 5))
    assert len(binned.places) == 20
    assert binned.originals == pytest.approx([0.05] * 20, abs=0.01), "no bin is empty or counted twice"


def curve(t75: float | None, detection: tuple[float, ...]) -> DoseResponse:
    found = DoseThreshold(t75, 2.0, None)
    line = DoseResponseLine((0.5, 1.5, 3.0), None, None, None, None, None)
    lines = {"combined": line}
    return DoseResponse("random_typos", (1, 4, 16), lines, detection, 0.5, 1.5, 0.02, found, 80, found)


def test_curves_of_judges_stand_in_one_chart_with_their_thresholds() -> None:
    (first,) = dhp.run("mock/ideal", "mini/story_cloze", n=8)
    seeing = replace(first, model="a", curves=(curve(3.0, (0.55, 0.8, 0.98)),))
    blind = replace(first, model="b", curves=(curve(None, (0.5, 0.52, 0.5)),))
    assert judges_chart([seeing]) is None
    chart = unescape(judges_chart([seeing, blind]) or "")
    assert "a T75 3 [2, > 16], b T75 > 16" in chart
    assert all(f">{name}</text>" in chart for name in ("a", "b", "typos"))
    assert "dose 1 55%, dose 4 80%, dose 16 98%, T75 3 [2, > 16]" in unescape(detection_chart(seeing.curves))
