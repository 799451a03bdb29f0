"""The walk of a new user: two prompts of their own, compared and gated, in eight lines of shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.stub import stub_server

ROOT = Path(__file__).resolve().parents[2]
WALK = r"""
python -c "print('ticket;summary'); [print(f'Printer X{i} stopped on Monday and beeps, says Ann.;Printer X{i} of Ann stopped on Monday. It beeps.') for i in range(12)]" > tickets.csv
printf 'Ticket: {ticket}\nSummary: {summary}\nUsefulness from 1 to 10:' > v1.txt
printf 'Summary: {{summary}}\nOf this ticket: {{ticket}}\nHow useful is it, from 1 to 10?' > v2.txt
OWN="--dataset tickets.csv --field source=ticket --field output=summary --metric usefulness --scale 1..10 --samples 1"
python -m dhp.benchmark --model openai/NAME --base-url $URL $OWN --prompt-file v1.txt --name v1
python -m dhp.benchmark --model openai/NAME --base-url $URL $OWN --prompt-file v2.txt --name v2
python -m dhp compare runs/v1 runs/v2 --allow protocol
python -m dhp gate runs/v2 --against runs/v1 --max-drop 100 --allow protocol
"""  # noqa: E501


@pytest.mark.slow
def test_two_prompts_are_run_compared_and_gated(tmp_path: Path) -> None:
    assert len(WALK.strip().splitlines()) == 8
    with stub_server("--say", "tests.cli.says:by_length") as url:
        paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {"URL": url, "PATH": paths, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "c")}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", WALK],
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    for name in ("v1", "v2"):
        assert done.stdout.count(f"openai/NAME ({name}): ") == 1, "a sentence for each prompt"
    assert "not met" not in done.stdout
    assert "v1" in done.stdout.rpartition("written to")[2]
