"""Every field of what users hold is explained where it stands, and a `repr` of it fits a screen."""

import ast
import dataclasses
import inspect
import math
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pydantic import BaseModel

import dhp
from dhp.core.options import option_of
from dhp.core.plugins import load_target, offered
from dhp.core.specs import Task
from dhp.leaderboard.site import write_leaderboard
from dhp.llm.limits import Budget
from dhp.perturb.doses import Doses
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.report.page import write_report
from dhp.run import judge_texts
from dhp.runs.compare import DatasetComparison
from dhp.runs.reader import RunSource

NAMES = {
    "pd": pd,
    "Path": Path,
    "Budget": Budget,
    "FillerSettings": load_target(offered("fillers")["batch"]),
    "Task": Task,
    "Perturber": dhp.Perturber,
    "Doses": Doses,
    "Results": dhp.Results,
    "RunSource": RunSource,
    "PerturbedDataset": PerturbedDataset,
}
"""What annotations name that modules import for type checkers alone."""


def is_record(given: object) -> typing.TypeGuard[type]:
    if not (inspect.isclass(given) and given.__module__.startswith("dhp.")):
        return False
    return dataclasses.is_dataclass(given) or issubclass(given, BaseModel) or typing.is_typeddict(given)


def named_in(annotation: object) -> Iterator[object]:
    yield annotation
    for part in typing.get_args(annotation):
        yield from named_in(part)


def annotations_of(given: object) -> Iterator[object]:
    """What a record holds, and what a function takes and returns."""
    if is_record(given) or inspect.isroutine(given):
        yield from typing.get_type_hints(given, localns=NAMES).values()


def reachable() -> set[type]:
    """The records among the public names, and those that they take, return or hold."""
    found, ahead = set(), [getattr(dhp, name) for name in dhp.__all__]
    ahead += [judge_texts, write_leaderboard, write_report]  # three names are packages that can be called
    ahead.append(DatasetComparison)  # what the sequence that `compare` returns holds
    while ahead:
        given = ahead.pop()
        if is_record(given):
            found.add(given)
        named = (part for annotation in annotations_of(given) for part in named_in(annotation))
        ahead += {part for part in named if is_record(part)} - found
    return found


def unexplained(record: type) -> list[str]:
    """Fields without a docstring below them, without help as an option, and without an entry in the docstring
    of the class."""
    tree = ast.parse(inspect.getsource(sys.modules[record.__module__]))
    (node,) = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == record.__name__)
    said = ast.get_docstring(node) or ""
    found = []
    for place, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name, below = statement.target.id, node.body[place + 1 : place + 2]
        field = getattr(record, "__dataclass_fields__", {}).get(name)
        known = None if field is None else option_of(field)
        if known and known.help:
            continue
        if name.startswith("_") or re.search(rf"^{name}\b.*\n +\S", said, re.M) or "fields as in `" in said:
            continue
        if not (below and isinstance(below[0], ast.Expr) and isinstance(below[0].value, ast.Constant)):
            found.append(name)
    return found


@pytest.mark.slow
def test_every_field_is_explained() -> None:
    records = reachable()
    assert {"Result", "VariantResult", "Cell", "JudgeSettings", "DatasetComparison", "Choice", "Metric"} <= {
        record.__name__ for record in records
    }
    found = {record.__name__: unexplained(record) for record in records}
    assert {name: fields for name, fields in found.items() if fields} == {}


def test_a_field_that_is_not_explained_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    source = inspect.getsource(sys.modules[dhp.JudgeSettings.__module__])
    bare = re.sub(r'(    scale: .*? = None\n)    """.*?"""\n', r"\1", source, flags=re.S)
    assert bare != source
    monkeypatch.setattr(inspect, "getsource", lambda module: bare)
    assert unexplained(dhp.JudgeSettings) == ["scale"]


@pytest.mark.slow
def test_what_functions_return_fits_a_screen(tmp_path: Path) -> None:
    folders = [str(tmp_path / name) for name in ("one", "two")]
    data = ["mini/answer_equivalence", "mini/summeval"]
    runs = [
        dhp.run(f"mock/{kind}", data, n=6, out=f) for kind, f in zip(("noisy", "blind"), folders, strict=True)
    ]
    rows = [
        {"id": f"s{i}", "system": "ab"[j], "source": "S", "output": "w " * (i + j + 1)}
        for i in range(4)
        for j in range(2)
    ]
    pd.DataFrame(rows).to_json(tmp_path / "texts.jsonl", orient="records", lines=True)
    ratings = dhp.judge("mock/noisy", str(tmp_path / "texts.jsonl"))
    human = ratings[["source", "system", "metric"]].assign(score=[i % 5 for i in range(len(ratings))])
    results = [
        *runs,
        *(found for run in runs for result in run for found in (result, *result.variants)),
        *dhp.compare(*folders, resamples=20),
        *dhp.power(folders[0]),
        dhp.gate(folders[0], min_detection=60),
        *dhp.perturb_datasets(data, n=6),
        *dhp.estimate("openai/some", data, n=6),
        dhp.correlate(ratings, human, resamples=0),
    ]
    for found in results:
        shown = repr(found)
        lines = sum(math.ceil(len(line) / 80) for line in shown.splitlines())
        assert lines <= 24, f"{type(found).__name__} takes {lines} lines"
        # Results show as in a terminal.
        assert isinstance(found, dhp.Results) or type(found).__name__ in shown
