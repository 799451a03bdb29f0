"""The GitHub Action: its steps, run by the shell as the runner would."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.fixture
def step(tmp_path: Path) -> Any:
    """Runs a step by its name with these inputs; `dhp` is the one of this checkout."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "dhp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dhp "$@"\n')
    command.chmod(0o755)

    def run(name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        (found,) = [each for each in ACTION["runs"]["steps"] if each["name"] == name]
        given = {
            key.upper().replace("-", "_"): inputs.get(key.replace("-", "_"), "") for key in ACTION["inputs"]
        }
        assert set(found["env"]) <= {*given, "HERE"}
        environment = {
            **os.environ,
            **given,
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]]
        return subprocess.run(
            shell, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.slow
def test_a_run_is_made_and_held_against_limits(tmp_path: Path, step: Any) -> None:
    benchmark = "--model mock/ideal --dataset mini/story_cloze --n 6"
    made = step("Run", run="r", benchmark=benchmark)
    assert (made.returncode, (tmp_path / "r" / "results.json").is_file()) == (0, True), made.stderr
    held = step("Gate", run="r", min_d_min="1", min_detection="90")
    assert (held.returncode, held.stdout.startswith("met: D_min is 1 or more")) == (0, True), held.stderr
    fallen = step("Gate", run="r", min_d_min="9")
    assert (fallen.returncode, fallen.stdout.startswith("not met: mini/story_cloze")) == (1, True)
    summary = (tmp_path / "summary").read_text()
    assert "| typos" in summary
    assert summary.count("**dhp gate**: ") == 2
    assert (tmp_path / "output").read_text().startswith("line=met: ")
    assert step("Gate", run="r").returncode == 2, "without a condition"


def test_inputs_are_never_part_of_the_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
