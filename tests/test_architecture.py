"""The shape of the package: which folder may import which, no circle of files, small files and functions."""

import ast
import itertools
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
    assert forbidden("dhp.stats.discernment", ast.parse(planted)) == {"dhp.judge.api"}
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
    """`import dhp.stats.discernment as c` is the module, as no package has a function of that name."""
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


CEILINGS = {
    "lines of the core": (36_400, 27_000),
    "lines of all": (52_650, 36_000),
    "share of heads": (0.0862, 0.07),
    "pairs of records alike": (9, 5),
    "core files that speak of batches": (3, 3),
    "core files that speak of battles": (2, 3),
    "core files that speak of cards of judges": (0, 3),
    "core files that speak of classical metrics": (0, 3),
    "core files that speak of early stopping": (2, 3),
    "core files that speak of frameworks": (2, 3),
    "core files that speak of juries": (0, 3),
    "core files that speak of litellm": (2, 3),
    "core files that speak of local models": (2, 3),
    "core files that speak of power": (0, 3),
    "core files that speak of recorded scores": (0, 3),
    "core files that speak of reviews": (1, 3),
    "core files that speak of spaCy": (1, 3),
    "core files that speak of surveys": (1, 3),
    "core files that speak of threshold search": (0, 3),
}
"""Number -> where it stands, which may only fall, and where it should be. Never a reason to compress."""
PLUGIN_WORDS = {
    "batches": ("batch",),
    "battles": ("battle", "arena"),
    "cards of judges": ("judge card", "judge_card", "--card", "card of a judge"),
    "classical metrics": ("classical metric", "metric/", "rouge"),
    "early stopping": (
        "alpha_spending",
        "early stopping",
        "interim",
        "stop_when_resolved",
        "stop-when-resolved",
    ),
    "frameworks": ("deepeval", "inspect_ai", "mlflow", "ragas"),
    "juries": ("jury", "juries"),
    "litellm": ("litellm",),
    "local models": ("hf/", "vllm"),
    "power": ("dhp power", "pilot", "poweranalysis"),
    "recorded scores": ("judgebench", "llmbar", "rewardbench"),
    "reviews": ("reviewer",),
    "spaCy": ("spacy",),
    "surveys": ("survey",),
    "threshold search": ("find_threshold", "find-threshold", "search_turn", "staircase", "threshold search"),
}


def head(tree: ast.Module) -> int:
    """Lines of the module's docstring and imports."""
    heads = (ast.Import, ast.ImportFrom, ast.Expr, ast.If)
    return next((n.lineno - 1 for n in tree.body if not isinstance(n, heads)), 0)


def records_alike(modules: set[str]) -> int:
    """Pairs of records that share 60 % of the fields of the larger one, three at least."""
    records = []
    for node in (node for module in modules for node in ast.walk(trees()[module])):
        if isinstance(node, ast.ClassDef):
            fields = (n.target for n in node.body if isinstance(n, ast.AnnAssign))
            records.append({field.id for field in fields if isinstance(field, ast.Name)})
    pairs = itertools.combinations([each for each in records if len(each) > 2], 2)
    return sum(len(a & b) >= max(3, 0.6 * max(len(a), len(b))) for a, b in pairs)


def test_numbers_that_may_only_fall() -> None:
    core = {module for module in sources() if not module.startswith("dhp.plugins.")}
    lines = {module: len(source.splitlines()) for module, source in sources().items()}
    in_core = sum(lines[module] for module in core)
    numbers: dict[str, float] = {
        "lines of the core": in_core,
        "lines of all": sum(lines.values()),
        "share of heads": sum(head(trees()[module]) for module in core) / in_core,
        "pairs of records alike": records_alike(core),
    }
    for name, words in PLUGIN_WORDS.items():
        speaking = [m for m in core if any(word in sources()[m].lower() for word in words)]
        numbers[f"core files that speak of {name}"] = len(speaking)
    assert numbers.keys() == CEILINGS.keys()
    for name, number in numbers.items():
        most, goal = CEILINGS[name]
        print(f"{name}: {number:.4g} (may be {most:g}, should be {goal:g})")
        assert number <= most, name


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
