"""The shape of the house: who may import whom, and how long things may get."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dhp"
VOCABULARY = {
    "edits",
    "errors",
    "files",
    "marks",
    "protocols",
    "records",
    "registry",
    "seeding",
    "specs",
    "tables",
    "text",
}
# Part of the package -> the parts it may import besides itself.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "edits": {"records"},
    "files": {"errors"},
    "marks": {"text"},
    "tables": {"errors", "files"},
    "records": set(),
    "specs": {"records"},
    "protocols": {"errors", "specs"},
    "registry": {"errors"},
    "seeding": set(),
    "text": set(),
    "results": {"errors", "stats"},
    "content": VOCABULARY,
    "loaders": VOCABULARY,
    "perturb": VOCABULARY | {"llm"},
    "llm": VOCABULARY,
    "judge": VOCABULARY | {"llm"},
    "stats": set(),
    "looks": VOCABULARY,
    "ratings": VOCABULARY | {"looks"},
    "report": VOCABULARY | {"content", "results", "runs"},
    "curves": VOCABULARY | {"ratings", "results", "stats"},
    "intervals": VOCABULARY | {"ratings", "stats"},
    "sequential": VOCABULARY | {"intervals", "looks", "plans", "ratings", "stats"},
    "styles": VOCABULARY | {"ratings", "results", "stats"},
    "plans": VOCABULARY | {"content", "stats"},
    "analysis": VOCABULARY
    | {"content", "curves", "intervals", "plans", "ratings", "results", "sequential"}
    | {"stats", "styles", "__init__"},
    "runs": VOCABULARY | {"ratings", "results"},
    "comparing": VOCABULARY | {"ratings", "runs", "stats", "styles"},
    "power": VOCABULARY | {"content", "judge", "ratings", "runs", "stats"},
    "gate": VOCABULARY | {"comparing", "results", "runs"},
    "doctor": VOCABULARY | {"content", "llm", "__init__"},
    "data": VOCABULARY | {"content", "loaders"},
    "runfolder": VOCABULARY | {"report", "results", "runs", "__init__"},
    "asking": VOCABULARY | {"llm"},
    "judges": VOCABULARY | {"asking", "content", "judge", "llm"},
    "perturb_model": VOCABULARY | {"asking", "content", "llm", "perturb"},
    "frozen": VOCABULARY | {"__init__"},
    "audits": VOCABULARY | {"frozen"},
    "perturbed": VOCABULARY | {"data", "frozen", "judge"},
    "doses": VOCABULARY | {"perturb"},
    "making": VOCABULARY
    | {"asking", "content", "data", "doses", "frozen", "llm", "loaders", "perturb"}
    | {"perturb_model", "perturbed"},
    "survey": VOCABULARY | {"content", "making", "perturbed"},
    "pipeline": VOCABULARY
    | {"analysis", "asking", "data", "judge", "judges", "llm", "making", "perturb_model"}
    | {"perturbed", "plans", "ratings", "results", "runfolder", "sequential"}
    | {"__init__"},
    "leaderboard": VOCABULARY
    | {"analysis", "comparing", "content", "plans", "ratings", "report", "results", "runs"},
    "cli": VOCABULARY
    | {
        "analysis",
        "asking",
        "audits",
        "comparing",
        "content",
        "data",
        "doctor",
        "doses",
        "frozen",
        "gate",
        "judges",
        "leaderboard",
        "llm",
        "loaders",
        "making",
        "perturb",
        "perturb_model",
        "perturbed",
        "pipeline",
        "power",
        "ratings",
        "report",
        "results",
        "runfolder",
        "runs",
        "stats",
        "survey",
        "__init__",
    },
    "benchmark": {"cli"},
    "__main__": {"cli"},
    "__init__": {"analysis", "asking", "data", "errors", "judge", "judges", "llm", "making"}
    | {"perturb", "perturb_model", "pipeline", "protocols", "records", "results"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(tree: ast.AST) -> set[str]:
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide what is imported"
            names = [node.module or ""] if node.module != "dhp" else ["dhp.__init__"]
        else:
            continue
        parts |= {
            name.split(".")[1] if "." in name else "__init__" for name in names if name.split(".")[0] == "dhp"
        }
    return parts


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_form_a_star(path: Path) -> None:
    part = part_of(path)
    assert part in ALLOWED, f"a new part '{part}' needs a row in the import table"
    found = imported_parts(ast.parse(path.read_text())) - {part}
    assert found <= ALLOWED[part], f"{part} must not import {found - ALLOWED[part]}"


def test_an_import_between_stages_is_noticed() -> None:
    assert imported_parts(ast.parse("def f():\n    from dhp.judge.api import Judge")) == {"judge"}
    assert "judge" not in ALLOWED["perturb"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long"


def test_content_folders_hold_no_code() -> None:
    for folder in ("perturbations", "expert_weights", "datasets", "protocols"):
        assert (ROOT / folder).is_dir()
        assert not list((ROOT / folder).rglob("*.py"))


def test_top_level_is_as_designed() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in tracked.splitlines() if not line.startswith(".")}
    expected = "pyproject.toml README.md LICENSE dhp perturbations expert_weights datasets protocols docs"
    assert top == {*expected.split(), "tests", "scripts"}


HEAVY = {
    "aiohttp",
    "openai",
    "sqlite3",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "lemminflect",
    "nltk",
    "spacy",
    "torch",
    "transformers",
    "wordfreq",
    "typo",
    "datasets",
}


@pytest.mark.parametrize("module", ["dhp", "dhp.cli.main"])
def test_importing_is_light(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not HEAVY & {name.split(".")[0] for name in loaded}
