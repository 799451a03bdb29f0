"""Runs the command line in this process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dhp.cli.main import main
from tests.quick import short_waits, undrawn_charts

__all__ = ["dhp", "short_waits", "undrawn_charts"]


@dataclass(frozen=True)
class Outcome:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def dhp(capsys: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call it with the arguments of a `dhp` command; the working directory is `tmp_path`."""
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 1, captured.out, captured.err)

    return run
