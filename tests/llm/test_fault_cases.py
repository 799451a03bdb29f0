"""A few cases of `scripts/faults.py`, whole runs against what goes wrong; the script runs all of them."""

from pathlib import Path

import pytest

from tests.scripts import loaded

pytest.importorskip("resource", reason="not on Windows")  # the script limits memory by it
CASES = loaded("faults").cases()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("server: half an answer", 3),
        ("server: 429, Retry-After: inf", 3),
        ("server: usage NaN", 0),
        ("server: the key in the answer", 0),
        ("server: a script in the answer", 0),
        ("server: redirects", 2),
        ("today: refuses n by completion choice", 0),
        ("today: refuses temperature", 2),
        ("today: streams only", 0),
        ("today: gives reasoning alone", 3),
        ("today: answers when asked again", 0),
        ("killed: SIGKILL", 0),
        ("killed: Ctrl-C twice", 0),
        ("store: pages overwritten", 2),
        ("store: three flipped bits", 0),
        ("two runs on one store", 0),
        ("two runs on one store, one killed", 0),
        ("two runs in one folder", 2),
    ],
)
def test_a_run_ends_as_it_must(name: str, code: int, tmp_path: Path) -> None:
    found = CASES[name](tmp_path)
    assert not found.faults
    assert found.code == code, found.said


@pytest.mark.slow
def test_a_full_disk_stops_a_run_that_goes_on_from_there(tmp_path: Path) -> None:
    found = CASES["disk: 20 kB a file"](tmp_path)
    assert not found.faults
    assert found.code in (2, 3), found.said
