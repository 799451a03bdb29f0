"""A command whose own Ray node is killed ends with one line, and is repeated without paying twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.llm.stub import stats, stub_server
from tests.processes import descendants, helper_of

pytest.importorskip("ray", reason="the extra ray is not installed")

COMMAND = [sys.executable, "-m", "dhp.benchmark", "--model", "openai/stub", "--ray", "auto"]
COMMAND += ["--dataset", "mini/summeval", "--cache", "cache", "--out", "out", "--concurrency", "4"]


def started(url: str, folder: Path, *more: str) -> subprocess.Popen[str]:
    own = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    command = [*COMMAND, "--base-url", url, *more]
    env = {**own, "OPENAI_API_KEY": "none", "RAY_USAGE_STATS_ENABLED": "0"}
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def left_of(processes: Sequence[int]) -> list[int]:
    """Those that have not ended within three seconds."""
    time.sleep(3)
    return [pid for pid in processes if Path(f"/proc/{pid}/cmdline").exists()]


def asked(url: str, least: int) -> None:
    until = time.monotonic() + 120
    while stats(url)["calls"] < least:
        assert time.monotonic() < until, "nothing is asked"
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the parent process is made on Linux")
@pytest.mark.parametrize("program", ["raylet/raylet", "gcs/gcs_server"])
def test_a_lost_node_is_one_line_and_nothing_is_paid_twice(program: str, tmp_path: Path) -> None:
    with stub_server("--latency", "0.3") as url:
        run = started(url, tmp_path)
        asked(url, 20)
        children = [*descendants(run.pid)]
        os.kill(helper_of(run.pid, program), signal.SIGKILL)
        _, said = run.communicate(timeout=120)
        assert run.returncode == 3, said
        last = said.strip().splitlines()[-1]
        assert last.startswith("dhp: --ray: the Ray node of this machine has ended; "), said
        assert "Traceback" not in said
        assert not left_of(children), "processes are left"
        calls = stats(url)["calls"]
        run = started(url, tmp_path, "--concurrency", "256")
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0, said
        paid = stats(url)["paid"].values()
    assert 0 < calls < len(paid)
    assert sum(count > 1 for count in paid) <= 8, "no more than the calls in flight"


@pytest.mark.slow
def test_a_termination_is_one_line(tmp_path: Path) -> None:
    with stub_server("--latency", "0.3") as url:
        run = started(url, tmp_path)
        asked(url, 20)
        children = [*descendants(run.pid)]
        run.terminate()
        _, said = run.communicate(timeout=60)
        assert run.returncode == 3, said
        assert said.strip().splitlines()[-1].startswith("dhp: stopped")
    assert not left_of(children), "processes are left"
