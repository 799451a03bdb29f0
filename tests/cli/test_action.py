"""The GitHub Action: its steps, run by the shell as the runner would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())


Step = Callable[..., "subprocess.CompletedProcess[str]"]
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "python": [sys.executable]}
"""How the runner starts the script of a step."""


def steps(folder: Path, command: str) -> Step:
    """Runs a step by its name with these inputs; `dhp` is this command."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "dhp"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)

    def run(name: str, **inputs: str) -> "subprocess.CompletedProcess[str]":
        (found,) = [each for each in ACTION["runs"]["steps"] if each["name"] == name]
        assert set(inputs) <= {key.replace("-", "_") for key in ACTION["inputs"]}
        given = {
            key.upper().replace("-", "_"): inputs.get(key.replace("-", "_"), "") for key in ACTION["inputs"]
        }
        assert set(found["env"]) <= {*given, "HERE"}
        environment = {
            **os.environ,
            **given,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }
        script = folder / "script"
        script.write_text(found["run"])
        shell = [*SHELLS[found["shell"]], str(script)]
        return subprocess.run(shell, env=environment, cwd=folder, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """Steps with the `dhp` of this checkout."""
    return steps(tmp_path, f'exec "{sys.executable}" -m dhp "$@"')


@pytest.fixture
def said(tmp_path: Path) -> Step:
    """Steps with a `dhp` that says in the file `said` what it was given, a line each."""
    return steps(tmp_path, """printf '%s\\n' "$@" >said; echo 'met: said'""")


BENCHMARK = """
--model python:judge.py:mine#1
--dataset "my tickets.csv" --field source=ticket \\
--field 'output=the "good" text'

--n 5
"""


def test_every_line_of_the_benchmark_counts_and_is_quoted_as_in_a_shell(tmp_path: Path, said: Step) -> None:
    done = said("Run", run="my runs/v1", benchmark=BENCHMARK)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "said").read_text().splitlines() == [
        *("benchmark", "--model", "python:judge.py:mine#1", "--dataset", "my tickets.csv"),
        *("--field", "source=ticket", "--field", 'output=the "good" text', "--n", "5"),
        *("--out", "my runs/v1", "--markdown"),
    ]
    assert (tmp_path / "summary").read_text() == "met: said\n"


def test_an_open_quotation_mark_is_said_in_one_line(tmp_path: Path, said: Step) -> None:
    done = said("Run", run="r", benchmark="--model 'mock/ideal")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("benchmark: No closing quotation; allowed: arguments quoted as in a shell")
    assert not (tmp_path / "said").exists()


@pytest.mark.parametrize("allow", ["protocol metrics", "protocol, metrics", "protocol\nmetrics\n"])
def test_conditions_and_parts_that_may_differ_reach_the_gate(tmp_path: Path, said: Step, allow: str) -> None:
    limits = {"min_detection": "80", "max_missing": "5", "max_drop": "5"}
    done = said("Gate", run="r", against="my old", allow=allow, **limits)
    assert (done.returncode, done.stdout) == (0, "met: said\n")
    assert (tmp_path / "said").read_text().splitlines() == [
        *("gate", "r", "--min-detection", "80", "--max-missing", "5"),
        *("--against", "my old", "--max-drop", "5", "--allow", "protocol", "--allow", "metrics"),
    ]


def test_the_exit_code_of_a_run_is_that_of_the_step(tmp_path: Path) -> None:
    stopped = steps(tmp_path, "exit 3")
    assert stopped("Run", run="r", benchmark="--n 5").returncode == 3


@pytest.mark.slow
def test_a_run_is_made_and_held_against_limits(tmp_path: Path, step: Step) -> None:
    benchmark = "--model mock/ideal\n--dataset mini/story_cloze\n--n 24"
    made = step("Run", run="r", benchmark=benchmark)
    assert (made.returncode, (tmp_path / "r" / "results.json").is_file()) == (0, True), made.stderr
    held = step("Gate", run="r", min_detection="60", must_notice="all", require_proof="true")
    assert (held.returncode, held.stdout.startswith("met: mini/story_cloze, mock/ideal: ")) == (0, True), (
        held.stdout
    )
    unproven = step("Gate", run="r", min_detection="99", require_proof="true")
    assert (unproven.returncode, unproven.stdout.startswith("undecided: mini/story_cloze")) == (1, True)
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith("**mock/ideal: notices missing letters, typos, ")
    assert " 6 of 6 |" in summary
    assert summary.count("**dhp gate**: ") == 2
    assert (tmp_path / "output").read_text().startswith("line=met: ")
    assert step("Gate", run="r").returncode == 2, "without a condition"


def test_inputs_are_never_part_of_the_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
