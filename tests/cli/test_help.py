"""Every command's help has an example, and the example is one that the command understands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from dhp.cli import main

from .conftest import Run

ROOT = main.app
GATE_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "ci-gate.md").read_text(encoding="utf-8")


def walk(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands below, with what leads to them; groups left out."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(click.Context(command)):
        yield from walk(command.get_command(click.Context(command), name), *path, name)


COMMANDS = dict(walk(ROOT))


def understood(line: str) -> bool:
    """Whether a command line parses; commands only read their options then, and do nothing."""
    program, *arguments = shlex.split(line)
    if arguments[:2] == ["-m", "dhp.benchmark"]:
        program, arguments = "dhp", ["benchmark", *arguments[2:]]
    assert program == "dhp", line
    command: Any = ROOT
    path = []
    while isinstance(command, click.Group):
        names = command.list_commands(click.Context(command))
        path.append("site" if path == ["leaderboard"] and arguments[0] not in names else arguments.pop(0))
        command = command.get_command(click.Context(command), path[-1])
    with CliRunner().isolation(input="\n" * 9):  # what an example leaves out may be asked for
        command.make_context(path[-1], arguments)
    return True


def test_the_commands_are_found() -> None:
    assert {("benchmark",), ("gate",), ("doctor",), ("data", "check"), ("list",), ("show",)} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_an_example_that_is_understood(dhp: Run, path: tuple[str, ...]) -> None:
    shown = dhp(*path, "--help")
    assert shown.code == 0
    assert "Example:" in shown.out
    examples = re.findall(r"Example: (.*)", COMMANDS[path].help)
    assert examples
    for example in examples:
        assert understood(example)
        assert f" {path[0]}" in example.replace("dhp.benchmark", " benchmark")


def test_a_wrong_example_is_noticed() -> None:
    with pytest.raises(Exception, match="--min-dmin"):
        understood("dhp gate runs/new --min-dmin 1")


def test_the_workflow_of_the_gate_page_is_understood() -> None:
    step, workflow = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", GATE_PAGE, re.S))
    assert understood(f"dhp benchmark {step[1]['with']['benchmark']}")
    (job,) = workflow["jobs"].values()
    lines = [line for step in job["steps"] for line in step.get("run", "").replace("\\\n", " ").splitlines()]
    commands = [line.partition(">>")[0] for line in lines if line.startswith("dhp ")]
    assert [line.split()[1] for line in commands] == ["doctor", "benchmark", "gate"]
    assert all(map(understood, commands))
    assert "pip install dhp" not in GATE_PAGE, "that name belongs to somebody else"
    assert all("git+https://" in line for line in lines if "pip install" in line)


def test_the_first_page_lists_ten_commands_and_names_the_rest(dhp: Run) -> None:
    short, whole = dhp("--help").out, dhp("--help-all").out
    listed = [re.findall(r"^  ([\w-]+)  ", page.partition("Commands:")[2], re.M) for page in (short, whole)]
    assert listed == [list(main.COMMANDS), [*main.COMMANDS, *main.more_commands()]]
    assert len(listed[0]) == 10
    more = " ".join(short[short.index("more: ") :].split())
    assert more == f"more: {', '.join(main.more_commands())}"


def test_the_list_says_what_each_command_says_of_itself() -> None:
    for name, (_, said) in (main.COMMANDS | main.more_commands()).items():
        command = ROOT.get_command(click.Context(ROOT), name)
        assert command is not None
        assert said == " ".join((command.help or "").split("\n\n")[0].split()), name


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_fifteen_options_and_help_all_shows_all(dhp: Run, path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    every = {each.opts[0] for each in command.params if isinstance(each, click.Option)} - {"--help-all"}
    short = re.findall(r"^  (--[a-z-]+)", dhp(*path, "--help").out, re.M)
    shown = [name for name in short if name not in ("--help", "--help-all")]
    assert len(shown) <= 15
    assert set(shown) <= every
    assert ("--help-all" in short) == (set(shown) != every), "offered where there is more to see"
    if "--help-all" in short:
        assert every <= set(re.findall(r"^  (--[a-z-]+)", dhp(*path, "--help-all").out, re.M))
