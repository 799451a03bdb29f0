"""No page runs what texts, names, questions and answers of others hold: each kind opened in a browser."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dhp.content.catalog import read_task, read_weights
from dhp.core.records import Example
from dhp.plugins.survey.command import survey_page
from dhp.plugins.survey.survey import Issue, Survey
from dhp.report.weights import weights_page
from tests.browser import Page, in_browser, needs_chromium
from tests.cli.conftest import Run
from tests.llm.stub import stub_server
from tests.plugins.arena.test_evaluate_command import BATTLE, CONFIG, PROMPTS, QUESTIONS, put
from tests.wicked import EVIL, wicked_run


@pytest.fixture(scope="module", autouse=True)
def undrawn_charts() -> None:
    """Here charts are drawn: they hold names too."""


def says(prompt: str) -> str:
    """Markup beside a verdict or a score."""
    return f"8 3\n{EVIL}" if "Two scores." in prompt else f"4\n{EVIL}"


def a_run() -> str:
    return str(wicked_run(Path()))


def report(dhp: Run) -> str:
    return f"{a_run()}/report.html"


def board(dhp: Run) -> str:
    done = dhp("leaderboard", a_run(), "--out", "site")
    assert done.code == 0, done.err
    return next(str(path) for path in sorted(Path("site").rglob("*.html")) if path.parent.name == "models")


def battle(dhp: Run) -> str:
    for name, text in (("old", "Short"), ("new", "A longer one")):
        rows = [{"id": f"{i}{EVIL}", "question": EVIL, "output": f"{text} {EVIL}"} for i in range(3)]
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with stub_server("--say", "tests.cli.test_no_script:says") as url:
        server = ("--model", "openai/stub", "--base-url", url, "--cache", "cache")
        prompts = ("--battle-prompts", put("battle.json", BATTLE))
        done = dhp("battle", "old.jsonl", "new.jsonl", *prompts, *server, "--out", "out")
    assert done.code == 0, done.err
    return "out/report.html"


def evaluation(dhp: Run) -> str:
    put("config.json", CONFIG)
    put("prompts.json", PROMPTS)
    put("battle.json", BATTLE)
    for name in ("alpha", "beta"):
        put(
            f"{name}.json",
            [{**q, "instruction": EVIL, "output": f"{name} {EVIL} {q['id']}"} for q in QUESTIONS],
        )
    given = ("--config", "config.json", "--prompts", "prompts.json", "--battle-prompts", "battle.json")
    with stub_server("--say", "tests.cli.test_no_script:says") as url:
        server = ("--model", "openai/stub", "--base-url", url, "--cache", "cache")
        texts = ("--answers", "alpha.json", "--answers", "beta.json")
        done = dhp("evaluate", *given, *texts, *server, "--out", "out")
    assert done.code == 0, done.err
    return "out/report.html"


def survey(dhp: Run) -> str:
    example = Example("1", EVIL, f"Good. {EVIL}", {"question": EVIL})
    issue = Issue("random_typos", EVIL, "word", example, {"": f"{EVIL} Good."})
    page = survey_page(Survey(read_task("question_answering"), (issue,)))
    Path("survey.html").write_text(page, encoding="utf-8")
    return "survey.html"


def weights(dhp: Run) -> str:
    changes = {"weights": EVIL, "provenance": EVIL}
    page = weights_page(read_weights("design").model_copy(update=changes))
    Path("weights.html").write_text(page, encoding="utf-8")
    return "weights.html"


KINDS = [report, board, battle, evaluation, survey, weights]


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("made", KINDS, ids=lambda made: made.__name__)
def test_no_page_runs_a_foreign_script(made: Callable[[Run], str], dhp: Run, tmp_path: Path) -> None:
    page = tmp_path / made(dhp)

    async def look(opened: Page) -> None:
        await opened.run("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
        await opened.until("document.readyState === 'complete'")
        assert await opened.run("typeof hacked") == "undefined"
        assert await opened.run("document.querySelectorAll('img, a[href^=\"javascript:\" i]').length") == 0
        assert "hacked=1" in await opened.run("document.body.textContent")
        assert "{{7*7}}" in await opened.run("document.body.textContent")

    in_browser(page, tmp_path / "browser", look)
