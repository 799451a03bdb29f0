"""A command that cannot be run: exit code 2, one line that says why, nothing written and no model asked."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import dhp as library
from dhp.perturb.builder import perturb_datasets
from dhp.perturb.sets import write_set
from tests.llm.stub import stats, stub_server

from .conftest import Run

TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("messages.yaml").read_text("utf-8"))
CASES = [
    (f"{beginning} {rest}", message)
    for beginning, messages in TABLE["messages"].items()
    for rest, message in messages.items()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the table, a finished run and a frozen set; no command may change them."""
    here: Path = tmp_path_factory.mktemp("here")
    for name, text in TABLE["files"].items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    library.run("mock/ideal", "mini/story_cloze", n=8, out=here / "run", progress=False)
    write_set(here / "set", perturb_datasets("mini/story_cloze", n=8))
    return here


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with stub_server() as url:
        yield url


def contents(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command.strip() for command, _ in CASES])
def test_one_line_exit_two_nothing_written_and_nothing_asked(
    dhp: Run, folder: Path, server: str, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = contents(folder)
    done = dhp(*shlex.split(command.replace("SERVER", server)))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert done.err.startswith("dhp: ")
    assert message in done.err
    assert contents(folder) == before
    assert stats(server)["calls"] == 0


def test_a_fault_of_the_file_system_is_one_line(dhp: Run) -> None:
    done = dhp("analyze", "x" * 300 + ".csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "File name too long" in done.err
