"""`dhp report` on finished runs, and on what is none."""

import json
import re
from pathlib import Path

import pytest

from dhp.report.web import embedded

from .conftest import Run, results_in, write_rows


@pytest.mark.slow
def test_the_report_of_a_run_is_made_again(dhp: Run) -> None:
    done = dhp("benchmark --model mock/noisy --dataset mini/story_cloze --n 6 --out run")
    assert done.code == 0, done.err
    page = Path("run/report.html")
    first = page.read_text("utf-8")
    page.unlink()
    done = dhp("report", "run")
    assert (done.code, done.out) == (0, "written to run/report.html\n")
    assert page.read_text("utf-8") == first
    assert dhp("report", "run", "--out", "elsewhere.html").code == 0
    assert Path("elsewhere.html").read_text("utf-8") == first

    Path("run/results.json").write_text(json.dumps(results_in("run") | {"schema": "dhp.results/0"}))
    failed = dhp("report", "run")
    assert failed.code == 2
    assert "allowed: schema dhp.results/3" in failed.err
    assert len(failed.err.strip().splitlines()) == 1
    assert page.read_text("utf-8") == first


@pytest.mark.slow
@pytest.mark.parametrize("broken", ['{"x', "[1]"])
def test_a_broken_manifest_is_one_line(dhp: Run, broken: str) -> None:
    assert dhp("benchmark --model mock/noisy --dataset mini/story_cloze --n 5 --out r").code == 0
    Path("r/manifest.json").write_text(broken)
    for command in ("report r", "leaderboard r --out site"):
        failed = dhp(command)
        assert failed.code == 2
        assert re.fullmatch(r"dhp: r/manifest\.json: .+\n", failed.err), failed.err


@pytest.mark.slow
def test_a_page_shows_no_control_characters_and_no_other_order_of_words(dhp: Run) -> None:
    texts = {"source": "Ann has cats.", "output": "Ann \u202ehas cats."}
    name = "e\x1b[2Js\u202e.jsonl"
    write_rows(name, [{"id": f"a{i}\x1b[2J", **texts} for i in range(5)])
    done = dhp(f"benchmark --model mock/noisy --dataset '{name}' --task summarization --out r")
    assert done.code == 0, done.err
    assert dhp("leaderboard", "r", "--out", "site").code == 0
    pages = [Path("r/report.html"), *Path("site").rglob("*.html"), Path("site/leaderboard.csv")]
    for text in (done.out, done.err, *(page.read_text("utf-8") for page in pages)):
        assert not re.search("[\x1b\u202e]", text)
    assert embedded({"a": "\x1b\\u001b\n"}) == r'{"a":"�\\u001b\n"}'
    assert "e\ufffd[2Js\ufffd" in pages[0].read_text("utf-8")
