"""What judges really answered."""

import runpy
from pathlib import Path

import pytest

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]


def test_ratings_are_read(real: Path) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "extraction.py"))
    found = script["read"](real)
    assert sum(counts.total() for counts in found.values()) == 86_240
    for name, _, share in script["shares"](found):
        assert share >= 0.995, name
