"""How far a run is, on a terminal and elsewhere."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dhp.cli import progress
from tests.llm.stub import stub_server


def test_plain_lines_say_rate_time_left_and_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_shown("ratings") as show:
        for done in (0, 10, 1000, 2000, 4000):
            show("model", done, 4000, f"{done} calls")
            now[0] += 10 if done else 0.1
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "model: 1,000 of 4,000 ratings, 99/s, 0:30 left, 1000 calls",
        "model: 2,000 of 4,000 ratings, 100/s, 0:20 left, 2000 calls",
        "model: 4,000 of 4,000 ratings, 4000 calls",
    ]


@pytest.mark.slow
def test_a_terminal_shows_a_bar_that_moves(tmp_path: Path) -> None:
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
    counts = {int(n) for n in re.findall(rb"(\d+)/1,200 done", shown)}
    assert len(counts) > 3
    assert b"tokens" in shown
