"""How far a run is, on a terminal and elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dhp
from dhp.core import progress
from dhp.core.progress import numbered, stage
from dhp.plugins.power.question import Question
from tests.llm.stub import stub_server


def test_plain_lines_come_at_growing_distances(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour has a few lines, and the first one comes soon."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_shown("ratings") as show:
        for done in range(3600):
            show("model", done, 4000)
            now[0] += 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("model: 5 of 4,000")
    assert 10 < len(said) < 25


def test_plain_lines_say_rate_time_left_and_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_shown("ratings") as show:
        for done in (0, 10, 1000, 2000, 4000):
            show("model", done, 4000, f"{done} calls")
            now[0] += 12 if done else 0.1
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "model: 1,000 of 4,000 ratings, 83/s, 0:36 left, 1000 calls",
        "model: 2,000 of 4,000 ratings, 83/s, 0:24 left, 2000 calls",
        "model: 4,000 of 4,000 ratings, 4000 calls",
    ]


def test_a_stage_shows_its_name_where_no_line_was_shown_for_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_shown("done") as show:
        for place, seconds in ((1, 1), (2, 10), (3, 1), (4, 1)):
            with stage(numbered(show, place, 4), "degrading"):
                now[0] += seconds
    assert capsys.readouterr().err.splitlines() == ["degrading (3 of 4)"]


@pytest.mark.slow
def test_a_run_tells_all_its_stages(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    dhp.run(
        "baseline/random",
        ("mini/story_cloze", "mini/answer_equivalence"),
        n=2,
        out=tmp_path / "r",
        progress=lambda what, done, total, cost: told.append((what, done, total)),
    )
    names = list(dict.fromkeys(what for what, _, _ in told))
    assert names == [
        "degrading mini/story_cloze (1 of 2)",
        "degrading mini/answer_equivalence (2 of 2)",
        "baseline/random on mini/story_cloze (1 of 2)",
        "analysing baseline/random on mini/story_cloze (1 of 2)",
        "baseline/random on mini/answer_equivalence (2 of 2)",
        "analysing baseline/random on mini/answer_equivalence (2 of 2)",
        "drawing the charts of the report (1 of 2)",
        "drawing the charts of the report (2 of 2)",
        "packing the texts of the report",
    ]
    assert all((name, told_of) in {(w, t) for w, d, t in told if d == t} for name, _, told_of in told)


@pytest.mark.slow
def test_finished_runs_tell_how_far_they_are_read_compared_and_simulated(tmp_path: Path) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    def tell(what: str, done: int, total: int, cost: str) -> None:
        told.setdefault(what, []).append((done, total))

    runs = [tmp_path / name for name in ("a", "b", "c")]
    for place, run in enumerate(runs):
        dhp.run(f"mock/noisy?noise={place + 1}", "mini/answer_equivalence", n=5, out=run)
    dhp.compare(*runs, resamples=10, progress=tell)
    pairs, figures = 3, 3
    assert told == {
        "reading runs": [(0, 3), (1, 3), (2, 3), (3, 3)],
        "comparing judges on mini/answer_equivalence": [(k, pairs * figures) for k in range(1, 10)],
    }
    told.clear()
    dhp.power(runs[0], question=Question(runs=50), progress=tell)
    ((what, counts),) = told.items()
    assert (what, counts[0], counts[-1]) == (
        "simulating mock/noisy?noise=1 on mini/answer_equivalence",
        (0, 9),
        (9, 9),
    )
    told.clear()
    dhp.leaderboard(runs, tmp_path / "site", progress=tell)
    names = ["reading and checking results", "ranking judges", "comparing judges on mini/answer_equivalence"]
    assert list(told) == [*names, "drawing datasets", "drawing judges"]
    assert all(counts[-1][0] == counts[-1][1] for counts in told.values())


def test_progress_is_off_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (True, False, None):
        with progress.progress_of(given) as show:
            assert show is None
    monkeypatch.setitem(sys.modules, "ipykernel", progress)
    with progress.progress_of(True) as show:
        assert show is not None
        monkeypatch.setattr(progress.time, "monotonic", lambda: 1e12)
        show("model", 4, 4, "")
    assert "model: 4 of 4 done" in capsys.readouterr().err


@pytest.mark.slow
def test_a_terminal_shows_a_bar_that_moves(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="not on Windows")
    with stub_server("--latency", 0.1) as url:
        command = [sys.executable, "-m", "dhp.benchmark", "--model", "openai/stub", "--base-url", url]
        command += ["--dataset", "mini/answer_equivalence", "--concurrency", "16", "--cache", str(tmp_path)]
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stderr=theirs,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": "120"},
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        assert process.wait() == 0
    counts = {int(n) for n in re.findall(rb"(\d+)/1,320 done", shown)}
    assert len(counts) > 3
    assert b"tokens" in shown


@pytest.mark.slow
def test_progress_counts_every_call_also_those_before_the_first_rating(tmp_path: Path) -> None:
    told: dict[str, str] = {}
    with stub_server() as url:
        results = dhp.run(
            "openai/stub",
            ("mini/story_cloze", "mini/answer_equivalence"),
            n=5,
            settings=dhp.ModelSettings(base_url=url, cache=tmp_path),
            progress=lambda what, done, total, cost: told.update({what: cost}),
        )
    shown = [
        int(found[1].replace(",", ""))
        for cost in told.values()
        if (found := re.match(r"([\d,]+) calls", cost))
    ]
    assert len(shown) == 2
    assert sum(shown) == sum(result.usage["calls"] for result in results) > 100
