"""The page of all runs in a folder."""

import html
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.analysis.percent import whole_percent
from dhp.core.errors import InputError
from dhp.core.files import indented_json
from dhp.report.columns import D_AVG, DIFFERENCE, RUNS
from dhp.report.page import write_report
from tests.browser import Page, in_browser, needs_chromium
from tests.parsed import Parsed
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
        ("begun", "report.html", "the part that is there"),
        ("failed", "manifest.json", "{}"),
        ("old", "results.json", '{"schema": "dhp.results/0"}'),
    ):
        (runs / name).mkdir(exist_ok=True)
        (runs / name / file).write_text(text)
    return runs


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    return write_report(folder)


@pytest.mark.slow
def test_runs_stand_newest_first_with_their_verdict_and_link(folder: Path, page: Path) -> None:
    assert page == folder / "index.html"
    text = page.read_text("utf-8")
    assert text.index("a%20%26%20%3Cb%3E%27c%27/report.html") < text.index('href="one/report.html"')
    assert "blind: " in text
    assert 'begun: not finished; <a href="begun/report.html">what there is of it</a>.' in text
    assert "failed: not finished.<" in text
    assert "allowed: schema dhp.results/3" in text
    assert "<b>'c'" not in text
    runs = re.findall(r'<option value="\d" data-path="(.*?)"', text)[:2]
    assert [shlex.split(html.unescape(run)) for run in runs] == [
        [str(folder / name)] for name in (EVIL, "one")
    ]


@pytest.mark.slow
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
    assert "other_n, 12 examples" in text, "side by side with runs of 30"
    heads, *rows = (row for row in Parsed(text).rows if len(row) > 8)
    trend = heads.index("trend")
    share = whole_percent(first.detection.avg or 0.0)
    assert {row[0].replace("\n", ""): row[trend] for row in rows} == {
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
def test_figures_of_all_runs_are_there_without_a_script(page: Path) -> None:
    """D comes first; then the kinds, and the controls last."""
    rows = Parsed(page.read_text("utf-8")).rows
    start = next(place for place, row in enumerate(rows) if row[0] == D_AVG.heading and len(row) == 4)
    names = [row[0].removesuffix("≠").strip() for row in rows[start:]]
    assert names[:3] == [column.heading for column in RUNS if not column.optional][:3]
    assert names[-1] == "harmless edits"
    assert {"typos", "missing letters"} <= set(names)


@pytest.mark.slow
@needs_chromium
def test_two_chosen_runs_stand_side_by_side(page: Path, tmp_path: Path) -> None:
    async def act(found: Page) -> None:
        chosen = "[...document.querySelectorAll('#choice select')].map((s) => s.selectedOptions[0].text)"
        names = {
            name: f"{name}: {judge}" for name, judge in ((EVIL, "baseline/constant"), ("one", "mock/ideal"))
        }
        assert await found.run(chosen) == [names["one"], names[EVIL]], "the newest, beside the one before"
        await found.choose("one", "0")
        await found.choose("two", "1")
        command = await found.run("document.querySelector('#command code').textContent")
        assert command.startswith("dhp compare '")
        assert command.endswith("/one --html compared.html")
        head, *rows = await found.run("""[...document.querySelectorAll('section tr')].map((row) =>
            [...row.cells].filter((cell) => !cell.hidden).map((cell) => cell.innerText.trim()))""")
        assert head[1:] == [f"baseline/constant\n{EVIL}", "mock/ideal\none", DIFFERENCE.heading]
        kinds = {row[0]: [re.sub(r"\d+–\d+", "", cell).split() for cell in row[1:]] for row in rows}
        assert kinds["typos ≠"] == [["○", "50%", "missed"], ["●", "100%", "noticed"], ["+50"]]
        assert kinds["harmless edits ≠"] == [["not", "tested", "30", "pairs"], ["still", "50%"], ["0"]]
        assert kinds["D_avg"][0] == ["0.00"]
        count = sum(name.endswith("≠") for name in kinds)
        sentence = await found.run("document.querySelector('.difference').innerText")
        assert sentence == f"Difference of detection: +50 points; {count} of {count} verdicts differ."
        assert await found.run("document.querySelectorAll('section b b').length") == 0
        for width in (390, 1400):
            await found.resize(width)
            assert await found.run("document.documentElement.scrollWidth") <= width
        heights = "[...document.querySelectorAll('.runs tbody tr')].map((row) => row.offsetHeight)"
        assert max(await found.run(heights)) < 40, "a line for each run"

    in_browser(page, tmp_path, act)
