"""What the documentation prints can be typed: commands parse, options exist, links lead, examples run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click import Option

from tests.cli.test_help import COMMANDS, understood

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "results").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
GENERATED = {"reference/cli.md", "reference/python.md", "protocols.md", "perturbations.md"}
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.S | re.M)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(text: str) -> list[str]:
    """The lines of `dhp` in blocks without a language, joined where they go on."""
    lines = []
    for language, block in _FENCE.findall(text):
        if not language:
            lines += block.replace("\\\n", " ").splitlines()
    return [line for line in map(str.strip, lines) if re.match(r"(\S*python -m )?dhp[. ](?!·)", line)]


def test_command_lines_are_found() -> None:
    assert len([line for page in PAGES for line in commands(page.read_text(encoding="utf-8"))]) > 80


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_line_is_understood(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dhp.yaml").write_text("model: mock/noisy\n", encoding="utf-8")
    for line in commands(page.read_text(encoding="utf-8")):
        typed = shlex.join(shlex.split(line.split(" && ")[0], comments=True))
        assert understood(typed.removeprefix("python ").replace("-m dhp.benchmark", "dhp benchmark")), line


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "changelog"], ids=name)
def test_every_option_named_in_the_text_exists(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    ours = [code for code in re.findall(r"`([^`]+)`", prose) if code.startswith(("--", "dhp "))]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![\w-])", " ".join(ours)))
    options = [each for command in COMMANDS.values() for each in command.params if isinstance(each, Option)]
    known = {spelt for option in options for spelt in (*option.opts, *option.secondary_opts)}
    scripts = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py"))
    assert named <= known | {"--debug", "--help"} | set(re.findall(r'"(--[a-z-]+)"', scripts))


def anchors(page: Path) -> set[str]:
    """The ids of a page's headings, as mkdocs and GitHub make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"https?:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if name(target).removeprefix("docs/") in GENERATED:
            continue
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_site_lists_every_page_once() -> None:
    listed = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]} | GENERATED
    assert sorted(listed) == sorted(pages)


def test_the_blocks_of_yaml_are_yaml() -> None:
    for page in PAGES:
        for language, block in _FENCE.findall(page.read_text(encoding="utf-8")):
            assert language != "yaml" or yaml.safe_load(block)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "mini/" in done.stdout or "tickets.csv" in done.stdout
