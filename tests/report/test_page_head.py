"""What the report says first, and its chart of detection."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.content.damage import variant_name
from dhp.report.overview import verdict_sentences
from dhp.report.page import html_report
from dhp.runs.reader import Run, read_run
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One judge on one dataset."""
    folder: Path = tmp_path_factory.mktemp("run")
    dhp.run("baseline/surface", "mini/answer_equivalence", n=8, controls=True, out=folder)
    return read_run(folder)


@pytest.mark.parametrize("count", [1, 2])
def test_verdict_and_headline_figures_come_first_and_the_signature_last(run: Run, count: int) -> None:
    result = run.results[0]
    found = result.detection
    assert found is not None
    low, high = found.ci["avg"] or (0, 0)
    seen = sum(row.verdict == "noticed" for row in result.variants)
    results = dhp.Results([result] * count)
    page = html_report(replace(run, results=results))
    page = page[page.index("<h1>") :]
    order = [
        *verdict_sentences(results),
        f"{100 * (found.avg or 0):.0f}%",
        f"{100 * low:.0f}–{100 * high:.0f}",
        "How to read this page",
        "Detection by kind of damage",
        "D by kind of damage",
        "All tests:",
        result.signature,
    ]
    places = [page.index(said) for said in order]
    assert places == sorted(places)
    assert 0 < page.index(f"{seen} of {len(result.variants)}") < page.index("How to read this page")


def test_the_chart_of_detection_is_linear_from_50_to_100_percent(run: Run) -> None:
    first = run.results[0]
    figures = ((0.75, (0.6, 0.9), "noticed"), (0.4, (0.2, 0.55), "missed"), (None, None, "undecided"))
    rows = tuple(
        replace(row, detection=value, detection_ci=ends, verdict=verdict)
        for row, (value, ends, verdict) in zip(first.variants, figures, strict=False)
    )
    page = html_report(replace(run, results=dhp.Results([replace(first, variants=rows)])))
    (table,) = re.findall(r'<table class="levels">.*?</table>', page, flags=re.DOTALL)
    lines = re.findall(r'<tr><th scope="row">(.*?)</th><td class="track (\w+)".*?>(.*?)</td>', table)
    assert {name: verdict for name, verdict, _ in lines} == {
        variant_name(row.variant): row.verdict for row in rows
    }
    drawn = {
        verdict: [float(at) for at in re.findall(r"--\w+: ([\d.]+)", marks)] for _, verdict, marks in lines
    }
    assert drawn["noticed"] == pytest.approx([0.2, 0.8, 0.5])
    assert drawn["missed"] == pytest.approx([0, 0.1, 0])
    assert drawn["undecided"] == []
    assert table.count('"dot below"') == 1
