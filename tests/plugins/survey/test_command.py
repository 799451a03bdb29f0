"""`dhp weights`, and the survey page from the opened page to the weights, in a browser without a screen."""

import json
from pathlib import Path

import pytest

from dhp.content.catalog import read_suite, read_task, read_weights
from dhp.core.records import Example
from dhp.plugins.survey.command import survey_page
from dhp.plugins.survey.survey import Issue, Survey, make_survey
from tests.browser import Page, in_browser, needs_chromium
from tests.cli.conftest import Run
from tests.plugins.survey.test_survey import sheet

ISSUES = list(read_suite("summeval").perturbers)


@pytest.mark.slow
@needs_chromium
def test_from_the_opened_page_to_the_weights(dhp: Run, tmp_path: Path) -> None:
    done = dhp("weights", "survey", "--task", "summarization", "--out", "survey.html")
    assert done.code == 0
    assert "6 questions on coherence, consistency, fluency, relevance" in done.out

    async def answer(page: Page) -> None:
        assert await page.run("document.querySelectorAll(':checked').length") == 0
        assert await page.run("document.getElementById('count').textContent") == "0 of 6 answered"
        for number, issue in enumerate(ISSUES, 1):
            await page.run(f"document.querySelector('input[name={issue}]').focus()")
            await page.press(" ", "Space", 32, " ")
            assert await page.run("document.getElementById('bar').value") == number
        await page.run("document.querySelector('input[name=random_typos]').focus()")
        await page.press("ArrowDown", "ArrowDown", 40)
        await page.press("ArrowDown", "ArrowDown", 40)
        await page.run("document.getElementById('expert').focus()")
        await page.call("Input.insertText", text="linguist <b>")
        await page.run("document.getElementById('save').focus()")
        await page.press("Enter", "Enter", 13, "\r")
        await page.saved()
        assert await page.run("document.getElementById('warning').hidden") is True

    in_browser(tmp_path / "survey.html", tmp_path / "browser", answer)
    (file,) = (tmp_path / "browser" / "downloads").iterdir()
    saved = json.loads(file.read_text("utf-8"))
    assert file.name == f"votes-summarization-{saved['id']}.json"
    assert (saved["schema"], saved["task"]) == ("dhp.votes/1", "summarization")
    assert saved["survey"] == make_survey("summarization").hash
    assert saved["metrics"] == list(read_task("summarization").metric_names)
    assert saved["answers"] == dict.fromkeys(ISSUES, "coherence") | {"random_typos": "fluency"}
    done = dhp("weights", "aggregate", file, "--out", "own.yaml", "--chart", "own.html")
    assert done.code == 0
    assert "experts: 1 (linguist <b>)" in done.out
    row = read_weights("own.yaml").row("summarization", "random_typos")
    assert row == {"coherence": 0, "consistency": 0, "fluency": 1, "relevance": 0}
    assert "linguist &lt;b&gt;" in (tmp_path / "own.html").read_text("utf-8")


@pytest.mark.slow
@needs_chromium
def test_the_page_warns_of_open_questions_and_shows_markup_as_text(tmp_path: Path) -> None:
    evil = "Good. </p></script><script>hacked = 1</script><img src=x onerror='hacked = 2'>"
    made = Issue("random_typos", f"<i>{evil}", "character", Example("1", evil, evil), {"": f"{evil} <i>"})
    more = Issue("word_deletions", evil, "sentence", Example("1", evil, evil), {"": evil[6:]})
    path = tmp_path / "survey.html"
    path.write_text(survey_page(Survey(read_task("translation"), (made, more))), encoding="utf-8")

    async def answer(page: Page) -> None:
        assert await page.run("typeof hacked") == "undefined"
        assert await page.run("document.querySelectorAll('main img, main script, main i').length") == 0
        assert evil in await page.run("document.body.textContent")
        await page.run("document.querySelector('input[value=fluency]').click()")
        await page.run("document.getElementById('save').click()")
        warning = await page.run("document.getElementById('warning').textContent")
        assert warning == "Not answered yet: 1 of 22. Word deletionsSave all the same"
        assert await page.run("document.activeElement.id") == "warning"
        assert not list(page.downloads.iterdir())
        await page.run("document.getElementById('anyway').click()")
        (file,) = await page.saved()
        answers = json.loads(file.read_text("utf-8"))["answers"]
        assert answers == {"random_typos": "fluency", "word_deletions": None}
        await page.resize(320)
        assert await page.run("document.documentElement.scrollWidth") <= 320

    in_browser(path, tmp_path / "browser", answer)


@pytest.mark.slow
@needs_chromium
def test_a_page_that_breaks_its_rules_is_noticed(tmp_path: Path) -> None:
    survey = Survey(
        read_task("translation"),
        (Issue("random_typos", "Typos.", "word", Example("1", "a", "b"), {"": "c"}),),
    )
    injected = survey_page(survey).replace("</main>", "<script>hacked = 1</script></main>")
    path = tmp_path / "survey.html"
    path.write_text(injected, encoding="utf-8")

    async def look(page: Page) -> None:
        assert await page.run("typeof hacked") == "undefined"
        assert "Content Security Policy" in json.dumps(page.faults)
        page.faults.clear()

    in_browser(path, tmp_path / "browser", look)


@pytest.mark.slow
def test_votes_are_counted_shown_and_used(dhp: Run, tmp_path: Path) -> None:
    said = dict.fromkeys(ISSUES, "fluency")
    for number, name in enumerate("abc", 1):
        more = {"random_typos": None} if name == "c" else {"reordering": "coherence"}
        (tmp_path / f"{name}.json").write_text(json.dumps(sheet(number, answers=said | more)))
    done = dhp("weights", "aggregate", "a.json", "b.json", "c.json", "--out", "own.yaml")
    assert done.code == 0
    assert "note: questions left open, which count for no metric: 1" in done.out
    shown = dhp("show", "own.yaml", "--chart", "own.html")
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["reordering", "0.67", "0.00", "0.33", "0.00"] in lines
    assert ["random_typos", "0.00", "0.00", "1.00", "0.00"] in lines
    assert "experts: 3" in shown.out
    assert "agreement, summarization: Fleiss' kappa 0." in shown.out
    assert "0.67" in (tmp_path / "own.html").read_text("utf-8")
    judged = dhp(
        *("benchmark", "--model", "baseline/surface", "--dataset", "mini/summeval", "--n", "5"),
        *("--weights", "own.yaml", "--out", "run"),
    )
    assert judged.code == 0
    result = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert "weights:own.v1@" in result["signature"]


def test_the_weights_that_ship(dhp: Run) -> None:
    listed = dhp("list", "weights").out
    assert [line.split()[0] for line in listed.splitlines()] == ["design", "uniform"]
    shown = dhp("show", "design").out
    assert ["reordering", "0.80", "0.10", "0.10", "0.00"] in [line.split() for line in shown.splitlines()]
    assert "perturbers without a row: uniform" in dhp("show", "uniform").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("weights survey --task sumarization --out s.html", "'sumarization'"),
        ("weights survey --task summarization --out .", "is a folder"),
        ("weights aggregate a.json --out w.json", "--out w.json: "),
        ("weights aggregate a.json --out My-votes.yaml", "'My-votes'"),
    ],
)
def test_bad_input_is_one_line(dhp: Run, tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(sheet(1)))
    done = dhp(*arguments.split())
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
