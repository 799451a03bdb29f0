"""Results are records: what is read from them cannot be changed, and they hold nothing but their fields."""

import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass

import dhp.analysis
import dhp.judge.extraction
import dhp.stats


def records() -> list[type]:
    """The dataclasses that compute figures or read answers."""
    names = [
        found.name
        for package in (dhp.stats, dhp.analysis, dhp.judge.extraction)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [
        each
        for name in names
        for _, each in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if is_dataclass(each) and each.__module__ == name
    ]


def test_records_are_frozen() -> None:
    assert len(records()) > 20
    assert [each for each in records() if not each.__dataclass_params__.frozen] == []  # type: ignore[attr-defined]


def test_records_have_slots() -> None:
    assert [each for each in records() if hasattr(object.__new__(each), "__dict__")] == []
