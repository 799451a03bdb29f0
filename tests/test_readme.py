"""What the README shows is true: its code runs, its suite is read, its table is what the program prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dhp
from dhp.content import read_suite
from dhp.perturb import check_suite, find_perturbers

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def test_the_judge_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [block for block in blocks("python") if "def rate" in block]
    exec(code, {})
    assert float(capsys.readouterr().out) > 0


def test_the_perturber_and_the_suite_of_ones_own(tmp_path: Path) -> None:
    (code,) = [block for block in blocks("python") if "@dhp.perturber" in block]
    names: dict[str, object] = {}
    exec(code, names)
    own = names["drop_articles"]
    assert isinstance(own, dhp.Perturber)
    file = tmp_path / "my.yaml"
    file.write_text(blocks("yaml")[0])
    check_suite(read_suite(str(file)), find_perturbers([own]))
    result = dhp.run("baseline/surface", "mini/summeval", suite=str(file), perturbers=[own])
    assert [v.variant for v in result.variants] == [
        "drop_articles.minor",
        "drop_articles.major",
        "reordering.major",
    ]


def test_the_table_is_what_the_program_prints() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "readme_output.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_option_named_exists() -> None:
    shown = ""
    for command in ("benchmark", "perturb", "analyze", "data prepare", "data show"):
        arguments = [sys.executable, "-m", "dhp", *command.split(), "--help"]
        shown += subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    named = set(re.findall(r"(?<![\w-])--[a-z]+", README))
    assert named
    assert named <= set(re.findall(r"--[a-z]+", shown))
