"""`dhp init` writes what `dhp benchmark --config` takes."""

import json
from pathlib import Path

import pytest

from tests.llm.stub import stub_server

from .conftest import Run

GIVEN = ("--data", "t.csv", "--output", "summary", "--source", "ticket", "--metric", "usefulness")
MORE = ("--scale", "1..10", "--prompt-file", "p.txt", "--model", "openai/x")


def table(folder: Path) -> None:
    rows = [f"Printer X{i} stopped on Monday.;X{i} of Ann stopped. It beeps." for i in range(6)]
    (folder / "t.csv").write_text("\n".join(["ticket;summary", *rows]))


@pytest.mark.slow
def test_what_it_writes_runs(dhp: Run, tmp_path: Path) -> None:
    table(tmp_path)
    done = dhp("init", *GIVEN, *MORE)
    assert done.code == 0, done.err
    assert "{ticket}" in (tmp_path / "p.txt").read_text()
    assert dhp("init", *GIVEN, *MORE).code == 2, "nothing is overwritten"
    command = ("benchmark", "--config", "dhp.yaml", "--cache", "c", "--json")
    with stub_server() as url:
        ran = dhp(*command, "--base-url", url)
        other = dhp(*command, "--base-url", url, "--model", "openai/other")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert (result["model"], result["scales"]) == ("openai/x", {"usefulness": [1, 10]})
    assert other.code == 0, other.err
    assert json.loads(other.out)["model"] == "openai/other", "the command line comes first"


def test_faults_name_the_file_and_the_option(dhp: Run, tmp_path: Path) -> None:
    table(tmp_path)
    for text, message in (
        ("modle: x", "--config c.yaml: unknown option 'modle'; did you mean 'model'?"),
        ("- a", "--config c.yaml: must be a mapping of options"),
        ("seed: [1, 2]", "--config c.yaml: seed: several values; allowed: one"),
    ):
        (tmp_path / "c.yaml").write_text(text)
        done = dhp("benchmark", "--config", "c.yaml")
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err
    done = dhp("init", *GIVEN[:2], "--output", "sumary", *GIVEN[4:], *MORE)
    assert (done.code, "did you mean 'summary'?" in done.err) == (2, True)
