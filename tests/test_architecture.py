"""The shape of the package: which folder may import which, no circle of files, small files and functions."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dhp"
ROOT_FILES = {"__init__", "__main__", "_version", "benchmark", "doctor", "run"}
ENGINE = "core content loaders perturb llm judge stats analysis runs report"
# Folder -> the folders that it may import besides itself.
ALLOWED = {
    "core": "",
    "stats": "",
    "content": "core",
    "llm": "core",
    "loaders": "core content",
    "judge": "core content llm",
    "perturb": "core content llm loaders",
    "analysis": "core content stats",
    "runs": "core content stats analysis judge",
    "report": "core content analysis runs",
    "leaderboard run": f"{ENGINE} leaderboard",
    "cli": f"{ENGINE} leaderboard run doctor",
    "plugins": f"{ENGINE} leaderboard run doctor cli",
}
RULE = {folder: set(row.split()) for folders, row in ALLOWED.items() for folder in folders.split()}
HEAVY = (
    "aiohttp asyncio openai pydantic rich sqlite3 yaml numpy scipy pandas pyarrow lemminflect nltk spacy "
    "torch transformers"
)


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, str]:
    return {module_of(path): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(source) for module, source in sources().items()}


def imported(tree: ast.AST) -> set[str]:
    """The modules of the package that code imports, at whatever depth; a name of a package is the package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide what is imported"
            module = node.module or ""
            below = {f"{module}.{alias.name}" for alias in node.names}
            found |= {name if name in trees() else module for name in below}
    return {name for name in found if name.split(".")[0] == "dhp"}


def forbidden(module: str, tree: ast.AST) -> set[str]:
    """What a module imports though its folder must not."""
    folder = module.split(".")[1]
    allowed = RULE[folder] | {folder, "_version"}
    return {name for name in imported(tree) if (name + ".__init__").split(".")[1] not in allowed}


def test_folders_import_what_the_rule_allows() -> None:
    assert {p.stem for p in PACKAGE.glob("*.py")} == ROOT_FILES
    inside = {m: tree for m, tree in trees().items() if m.count(".") > 1 or m == "dhp.run"}
    assert {module: found for module, tree in inside.items() if (found := forbidden(module, tree))} == {}
    planted = "def f():\n    from dhp.judge.api import Judge"
    assert forbidden("dhp.stats.combine", ast.parse(planted)) == {"dhp.judge.api"}
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
    TopologicalSorter({module: imported(tree) - {module} for module, tree in trees().items()}).prepare()


def test_plugins_stand_apart() -> None:
    """Nobody imports or names a plug-in, and plug-ins do not import each other."""
    for module, tree in trees().items():
        mine = ".".join(module.split(".")[:3]) if module.startswith("dhp.plugins.") else "none"
        others = {
            name for name in imported(tree) if name.startswith("dhp.plugins.") and not name.startswith(mine)
        }
        assert not others, f"{module}: {others}"
        if mine == "none" and module != "dhp.core.plugins":
            assert "dhp.plugins." not in sources()[module], module


def test_no_name_hides_a_module() -> None:
    """`import dhp.stats.combine as c` is the module, as no package has a function of that name."""
    for module, tree in trees().items():
        names = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        hidden = {name for name in names if f"{module}.{name}" in trees()}
        assert module == "dhp" or not hidden, f"{module}: {hidden}"


def test_files_and_functions_are_small() -> None:
    for module, tree in trees().items():
        assert len(sources()[module].splitlines()) <= 600, module
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{module}: {node.name} is too long"


def test_content_is_data() -> None:
    folders = ("perturbations", "expert_weights", "datasets", "protocols")
    assert [path for name in folders for path in (ROOT / name).rglob("*.py")] == []
    assert all((ROOT / name).is_dir() for name in folders)


@pytest.mark.parametrize(
    "code",
    [
        "import dhp",
        "from dhp.cli.main import main; main(['--help'])",
        "from dhp.cli.main import main; main(['benchmark', '--help-all'])",
    ],
)
def test_a_start_is_light(code: str) -> None:
    listed = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {code}"
    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "dhp" in loaded
    assert not {*HEAVY.split(), "datasets", "typo", "wordfreq"} & loaded
