"""The page of all runs in a folder."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.analysis.percent import whole_percent
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.report.page import write_report
from tests.browser import Page, in_browser, needs_chromium
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]

EVIL = "a & <b>'c'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one begun and one of another version."""
    runs = tmp_path_factory.mktemp("all") / "runs"
    for judge, name in (("mock/ideal", "one"), ("baseline/constant", EVIL)):
        dhp.run(judge, "mini/story_cloze", out=runs / name, progress=False)
    for name, file, text in (
        ("begun", "manifest.json", "{}"),
        ("old", "results.json", '{"schema": "dhp.results/0"}'),
    ):
        (runs / name).mkdir()
        (runs / name / file).write_text(text)
    return runs


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    return write_report(folder)


def test_runs_stand_newest_first_with_their_verdict_and_link(folder: Path, page: Path) -> None:
    assert page == folder / "index.html"
    text = page.read_text("utf-8")
    assert text.index("a%20%26%20%3Cb%3E%27c%27/report.html") < text.index('href="one/report.html"')
    assert "blind: no score of any text moved" in text
    assert "not finished" in text
    assert "allowed: schema dhp.results/3" in text
    assert "<b>'c'" not in text
    embedded = re.findall(r'<script type="application/json" id="runs">(.*?)</script>', text)
    runs = [(run["name"], run["path"]) for run in json.loads(embedded[0])]
    assert runs == [(name, str(folder / name)) for name in (EVIL, "one")]


def test_a_run_tells_the_detection_of_the_comparable_runs_before_it(tmp_path: Path) -> None:
    """Of its own model, on the same texts; only the prompt may be another."""
    first, *_ = (
        dhp.run("mock/noisy", "mini/story_cloze", out=tmp_path / name, **settings)[0]
        for name, settings in {"a": {}, "again": {}, "other_n": {"n": 12}, "other_seed": {"seed": 1}}.items()
    )
    dhp.run("mock/ideal", "mini/story_cloze", out=tmp_path / "other_model")
    (tmp_path / "prompted").mkdir()
    detection = replace(first.detection, avg=0.5)
    signature = first.signature.replace("|protocol:none|", "|protocol:mine@0123|")
    later = {"created": "2100-01-01T00:00:00+00:00", "protocol": "mine@0123"}
    prompted = replace(first, detection=detection, signature=signature, **later)
    (tmp_path / "prompted" / "results.json").write_text(indented_json(prompted.to_dict()), "utf-8")
    text = write_report(tmp_path).read_text("utf-8")
    rows = re.findall(r'<th scope="row">(?:<a.*?>)?(\w+)<.*?data-label="trend">(.*?)</td>', text, re.S)
    share = whole_percent(first.detection.avg or 0.0)
    assert dict(rows) == {
        "a": "–",
        "again": f"{share} → {share}%",
        "other_n": "–",
        "other_seed": "–",
        "other_model": "–",
        "prompted": f"{share} → {share} → 50%",
    }


def test_a_folder_without_runs_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "begun").mkdir()
    with pytest.raises(InputError, match="holds no run"):
        write_report(tmp_path)


@pytest.mark.slow
@needs_chromium
def test_two_chosen_runs_stand_side_by_side(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        assert await found.run("document.getElementById('two').hidden")
        await found.run("document.querySelectorAll('.runs input').forEach((box) => box.click())")
        await found.until("!document.getElementById('two').hidden")
        command = await found.run("document.querySelector('#two code').textContent")
        assert command.startswith("dhp compare '")
        assert command.endswith("/one --html compared.html")
        heads = await found.run("[...document.querySelectorAll('#two thead th')].map((e) => e.textContent)")
        assert heads == [f"baseline/constant{EVIL}", "mock/idealone"]
        texts = "[...document.querySelectorAll('#two tbody tr')].map((row) => %s)"
        rows = await found.run(texts % "[...row.cells].map((cell) => cell.textContent)")
        assert rows[0] == ["mini/story_cloze"]
        kinds = {row[0]: [re.sub(r"\d+–\d+", "", cell).split() for cell in row[1:]] for row in rows[1:]}
        assert kinds["typos ≠"] == [["○", "50%"], ["●", "100%"]]
        assert kinds["harmless edits ≠"] == [["not", "tested", "50%"], ["still", "50%"]]
        verdicts = await found.run("document.querySelector('#two .verdicts').textContent")
        assert verdicts == f"{len(kinds)} of {len(kinds)} verdicts differ."
        assert await found.run("document.querySelectorAll('#two tbody tr').length") >= 6
        assert await found.run("document.querySelectorAll('#two b').length") == 0
        for width in (390, 1400):
            await found.resize(width)
            assert await found.run("document.documentElement.scrollWidth") <= width

    in_browser(page, tmp_path, act)
