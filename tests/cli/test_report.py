"""`dhp report` on finished runs, and on what is none."""

import json
from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.slow
def test_the_report_of_a_run_is_made_again(dhp: Run) -> None:
    small = ("--dataset", "mini/story_cloze", "--n", 6)
    done = dhp("benchmark", "--model", "mock/noisy", *small, "--out", "run")
    assert done.code == 0, done.err
    page = Path("run/report.html")
    first = page.read_text("utf-8")
    page.unlink()
    done = dhp("report", "run")
    assert (done.code, done.out) == (0, "written to run/report.html\n")
    assert page.read_text("utf-8") == first
    assert dhp("report", "run", "--out", "elsewhere.html").code == 0
    assert Path("elsewhere.html").read_text("utf-8") == first

    results = json.loads(Path("run/results.json").read_text("utf-8"))
    Path("run/results.json").write_text(json.dumps(results | {"schema": "dhp.results/0"}))
    failed = dhp("report", "run")
    assert failed.code == 2
    assert "allowed: schema dhp.results/3" in failed.err
    assert len(failed.err.strip().splitlines()) == 1
    assert page.read_text("utf-8") == first


def test_a_folder_without_a_run_is_one_line(dhp: Run) -> None:
    Path("empty").mkdir()
    for name in ("empty", "nowhere"):
        failed = dhp("report", name)
        assert failed.code == 2
        assert failed.err == f"dhp: {name}: holds no run, there is no results.json; " \
            "allowed: folders of finished runs\n"  # fmt: skip
