"""What a notebook shows of results, comparisons, gates, charts and errors."""

from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Results
from dhp.cli.gate import gate as gate_command
from dhp.cli.pytest_plugin import _audit
from dhp.content.catalog import variant_name
from dhp.runs.compare import Comparisons
from dhp.runs.conditions import Gate
from tests.parsed import Parsed

SCALE = dhp.JudgeSettings(scale=(0, 1))


def sees_length(outputs: str) -> float:
    return min(1.0, len(outputs) / 600)


def sees_words(outputs: str) -> float:
    return min(1.0, len(set(outputs.lower().split())) / 60)


@pytest.fixture(scope="module")
def results() -> list[Results]:
    return [
        dhp.run(judge, "mini/summeval", n=8, judge_settings=SCALE, progress=False)
        for judge in (sees_length, sees_words)
    ]


@pytest.fixture(scope="module")
def compared(results: list[Results]) -> Comparisons:
    return dhp.compare(*results, resamples=40, progress=False)


@pytest.mark.slow
def test_a_comparison_shows_its_sentence_and_its_figures(
    results: list[Results], compared: Comparisons
) -> None:
    frame, page = compared.to_frame(), compared._repr_html_()
    assert "sees_words" in compared.sentence
    assert compared.sentence in repr(compared)
    for judge, result in zip(compared[0].judges, results, strict=True):
        mine = frame[frame["judge"] == judge].set_index("variant")["detection"]
        assert mine.to_dict() == pytest.approx({row.variant: row.detection for row in result.variants})
    second = frame[frame["judge"] == compared[0].judges[1]]
    first = frame[frame["judge"] == compared[0].judges[0]]
    apart = second["detection"].to_numpy() - first["detection"].to_numpy()
    assert second["difference"].to_numpy() == pytest.approx(apart)
    assert first["difference"].isna().all()
    kinds = [row[0] for row in Parsed(page).rows if len(row) == 4][1:]
    assert sorted(kinds) == sorted(variant_name(row.variant) for row in results[0].variants)


@pytest.mark.slow
def test_a_gate_shows_its_sentence_and_each_finding(results: list[Results]) -> None:
    outcome = dhp.gate(results[0], must_notice="all")
    frame, page = outcome.to_frame(), outcome._repr_html_()
    assert outcome.sentence.startswith("not met: ")
    lacking = sum(not row.state.is_good for row in results[0].variants)
    demanded = frame[frame["condition"] == "must-notice"]
    assert (demanded["state"] == "not met").sum() == lacking + 1, "how many, and each"
    assert demanded["finding"].iloc[1] in page


@pytest.mark.slow
def test_ratings_are_one_frame_from_which_the_figures_follow(results: list[Results]) -> None:
    frame = results[0].ratings_frame()
    again = dhp.analyze(frame)
    assert {row.variant: row.detection for row in again.variants} == {
        row.variant: row.detection for row in results[0].variants
    }
    assert len(frame) == results[0].ratings["asked"]
    assert len(frame[frame["variant"] == "original"]) == 8
    with pytest.raises(dhp.InputError, match="without ratings"):
        Results(list(results[0])).ratings_frame()


@pytest.mark.slow
def test_a_page_is_made_of_results_and_of_a_comparison(
    results: list[Results], compared: Comparisons, tmp_path: Path
) -> None:
    page = dhp.report(results[0], tmp_path / "one.html", progress=False).read_text()
    assert "sees_length" in page
    assert "The texts are not at hand" in page
    assert 'id="explorer"' not in page
    compared_page = dhp.report(compared, tmp_path / "two.html").read_text()
    assert "sees_words" in compared_page
    for wrong, said in ((results[0], "name its file"), (compared, "name its file"), (3, "of type int")):
        with pytest.raises(dhp.InputError, match=said):
            dhp.report(wrong)


@pytest.mark.slow
def test_results_that_were_written_have_a_page_with_texts(tmp_path: Path) -> None:
    out = tmp_path / "r"
    found = dhp.run(sees_length, "mini/summeval", n=5, judge_settings=SCALE, out=out, progress=False)
    assert 'id="explorer"' in dhp.report(found, tmp_path / "page.html", progress=False).read_text()
    (out / "report.html").unlink()
    assert dhp.report(found, progress=False) == out / "report.html"


@pytest.mark.slow
def test_a_chart_is_a_picture_without_a_magic(results: list[Results]) -> None:
    picture, size = results[0].plot()._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == pytest.approx(size["width"] * 1.44, abs=1)


def test_the_text_of_results_is_one_text_in_a_notebook_too(
    results: list[Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = repr(results[0])
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert repr(results[0]) == text
    assert results[0].sentence[:60] in text


def test_what_is_no_run_is_refused_in_one_line(results: list[Results]) -> None:
    with pytest.raises(dhp.InputError, match="results 1: is of type list; must be the folder of a run or"):
        dhp.compare(results)  # type: ignore[arg-type]
    with pytest.raises(dhp.InputError, match="no page of an object of type list"):
        dhp.report(results)  # type: ignore[arg-type]


def test_an_error_of_input_is_one_line_in_a_notebook(results: list[Results]) -> None:
    with pytest.raises(dhp.InputError) as refused:
        dhp.gate(results[0])
    assert refused.value._render_traceback_() == [f"InputError: {refused.value}"]
    with pytest.raises(TypeError) as misspelt:
        dhp.run("mock/ideal", datset="mini")
    (line,) = misspelt.value._render_traceback_()  # type: ignore[attr-defined]
    assert "did you mean 'dataset'" in line


def test_conditions_have_one_name_everywhere() -> None:
    names = {field.name for field in fields(Gate)}
    assert names <= {parameter.name.removeprefix("conditions_") for parameter in gate_command.params}
    assert names <= set(signature(dhp.gate).parameters)
    with pytest.raises(
        dhp.InputError, match="`max_drop`: requires `against`"
    ):  # reaches the conditions, by these names
        _audit("mock/ideal", max_drop=5)
    with pytest.raises(dhp.InputError, match="max_fail"):
        _audit("mock/ideal", max_fail=500)
    with pytest.raises(TypeError, match=r"no keyword 'min_detect'.*'min_detection'"):
        _audit("mock/ideal", min_detect=90)
