"""Mutated files of every kind are read or refused in one line (scripts/fuzz_files.py)."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "fuzz_files.py"))
KINDS = SCRIPT["kinds"]()


@pytest.mark.parametrize("name", KINDS)
def test_the_files_that_are_mutated_are_sound(name: str) -> None:
    kind = KINDS[name]
    assert {file: SCRIPT["outcome"](kind, file, data) for file, data in kind.files.items()} == dict.fromkeys(
        kind.files, "read"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_mutated_file_is_read_or_refused_in_one_line(name: str) -> None:
    counts, faults = SCRIPT["fuzz"](KINDS[name], 150, seed=1)
    assert not faults
    assert counts["refused"] > 0


def test_a_fault_is_told_from_a_refusal() -> None:
    def fails(path: Path) -> None:
        raise KeyError("x")

    kind = SCRIPT["Kind"]({"x": b""}, fails)
    assert SCRIPT["outcome"](kind, "x", b"").startswith("KeyError at test_fuzz_files.py")
