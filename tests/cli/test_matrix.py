"""A matrix in one configuration file: models, prompts and datasets, each asked once, in one folder."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.stub import stats, stub_server

from .conftest import Run

SUITE = """
model: [openai/one, openai/two]
base-url: {url}
dataset: [tickets.csv, calls.csv]
field: {{output: summary, source: ticket}}
metric: usefulness
scale: 1..10
prompt-file: [short.txt, long.txt]
samples: 1
out: suite
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with stub_server("--say", "tests.cli.says:by_length") as url:
        yield url


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("tickets", "calls"):
        said = "Printer X{} stopped on Monday. The user wants {} euros."
        rows = [f'"{name} {i}: the printer beeps.","{said.format(i, 20 + i)}"' for i in range(6)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["ticket,summary", *rows, ""]))
    for name in ("short", "long"):
        (tmp_path / f"{name}.txt").write_text(
            f"A {name} prompt. {{ticket}} {{summary}} Usefulness from 1 to 10:"
        )
        (tmp_path / name).mkdir()
        (tmp_path / name / "usefulness.txt").write_text(f"A {name} folder: {{summary}}. From 1 to 10:")
    (tmp_path / "suite.yaml").write_text(SUITE.format(url=server))


def cells(tmp_path: Path) -> list[tuple[str, str, str]]:
    results = json.loads((tmp_path / "suite" / "results.json").read_text())
    return sorted((r["model"], r["protocol"].partition("@")[0], r["dataset"]) for r in results)


def test_each_judge_prompt_and_dataset_once_in_one_folder(dhp: Run, tmp_path: Path, server: str) -> None:
    done = dhp("benchmark", "--config", "suite.yaml", "--quiet")
    assert done.code == 0, done.err
    axes = (["openai/one", "openai/two"], ["long", "short"], ["calls.csv", "tickets.csv"])
    assert cells(tmp_path) == sorted(itertools.product(*axes))
    page = (tmp_path / "suite" / "report.html").read_text()
    assert all(name in page for axis in axes for name in axis)
    before = stats(server)["calls"]
    again = dhp("benchmark", "--config", "suite.yaml", "--quiet")
    assert (again.code, stats(server)["calls"]) == (0, before), "each is asked once"


def test_folders_are_versions_named_by_the_folder(dhp: Run, tmp_path: Path) -> None:
    one = ("--model", "openai/one", "--dataset", "calls.csv")
    folders = ("--prompt-file", "short", "--prompt-file", "long")
    done = dhp("benchmark", "--config", "suite.yaml", *one, *folders, "--quiet")
    assert done.code == 0, done.err
    assert [prompt for _, prompt, _ in cells(tmp_path)] == ["long", "short"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--name", "v1"), "--name: is for one prompt; several are named by their files"),
        (
            ("--prompt-file", "short.txt", "--prompt-file", "short/../short.txt"),
            "--prompt-file: two prompts are named 'short'; give each a name of its own",
        ),
    ],
)
def test_versions_have_names_of_their_own(dhp: Run, more: tuple[str, ...], message: str) -> None:
    done = dhp("benchmark", "--config", "suite.yaml", *more)
    assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1), done.err
