"""Mutated files and answers of every kind are read or refused in one line (scripts/fuzz.py)."""

from pathlib import Path

import pytest

from tests.scripts import loaded

SCRIPT = loaded("fuzz")
KINDS = SCRIPT.kinds()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_mutated_is_sound(name: str) -> None:
    kind = KINDS[name]
    assert {file: SCRIPT.outcome(kind, file, data) for file, data in kind.files.items()} == dict.fromkeys(
        kind.files, "read"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_what_is_mutated_is_read_or_refused_in_one_line(name: str) -> None:
    counts, faults = SCRIPT.fuzz(KINDS[name], 150, seed=1)
    assert not faults
    assert counts["refused"] > 0 or name == "answers of judges"


def test_a_fault_is_told_from_a_refusal() -> None:
    def fails(path: Path) -> None:
        raise KeyError("x")

    kind = SCRIPT.Kind({"x": b""}, fails)
    assert SCRIPT.outcome(kind, "x", b"").startswith("KeyError at test_fuzz.py")
