"""A matrix in one configuration file: models, prompts and datasets, each asked once, in one folder."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.stub import stats, stub_server

from .conftest import Run, results_in, write_tickets

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
def files(dhp: Run, server: str) -> None:
    for name in ("tickets", "calls"):
        write_tickets(f"{name}.csv", 6)
    for name in ("short", "long"):
        Path(f"{name}.txt").write_text(f"A {name} prompt. {{ticket}} {{summary}} Usefulness from 1 to 10:")
        Path(name).mkdir()
        Path(name, "usefulness.txt").write_text(f"A {name} folder: {{summary}}. From 1 to 10:")
    Path("suite.yaml").write_text(SUITE.format(url=server))


def cells() -> list[tuple[str, str, str]]:
    return sorted((r["model"], r["protocol"].partition("@")[0], r["dataset"]) for r in results_in("suite"))


@pytest.mark.slow
def test_each_judge_prompt_and_dataset_once_in_one_folder(dhp: Run, server: str) -> None:
    done = dhp("benchmark", "--config", "suite.yaml", "--quiet")
    assert done.code == 0, done.err
    axes = (["openai/one", "openai/two"], ["long", "short"], ["calls.csv", "tickets.csv"])
    assert cells() == sorted(itertools.product(*axes))
    page = Path("suite/report.html").read_text()
    assert all(name in page for axis in axes for name in axis)
    before = stats(server)["calls"]
    again = dhp("benchmark", "--config", "suite.yaml", "--quiet")
    assert (again.code, stats(server)["calls"]) == (0, before), "each is asked once"


@pytest.mark.slow
def test_folders_are_versions_named_by_the_folder(dhp: Run) -> None:
    one = ("--model", "openai/one", "--dataset", "calls.csv")
    folders = ("--prompt-file", "short", "--prompt-file", "long")
    done = dhp("benchmark", "--config", "suite.yaml", *one, *folders, "--quiet")
    assert done.code == 0, done.err
    assert [prompt for _, prompt, _ in cells()] == ["long", "short"]
