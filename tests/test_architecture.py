"""The shape of the package: which folder may import which, no circle of files, small functions."""

import ast
import importlib
import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

import click
import pytest

import dhp
from dhp.analysis.results import Result
from dhp.cli import main
from dhp.core import verdicts
from dhp.core.plugins import offered
from dhp.judge.extraction.rating import _read_short
from tests.quick import undrawn
from tests.server import Answer, Call, reply, scripted_server

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


@cache
def walked(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, kept: several tests look at them."""
    return [*ast.walk(tree)]


@cache
def imported(tree: ast.AST) -> set[str]:
    """The modules of the package that code imports, at whatever depth; a name of a package is the package."""
    found = set()
    for node in walked(tree):
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
    found = {module: forbidden(module, tree) for module, tree in inside.items()}
    assert {module: names for module, names in found.items() if names} == {}
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
        names = {a.asname or a.name for n in walked(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        hidden = {name for name in names if f"{module}.{name}" in trees()}
        assert module == "dhp" or not hidden, f"{module}: {hidden}"


def test_functions_are_small() -> None:
    for module, tree in trees().items():
        for node in walked(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{module}: {node.name} is too long"


WRITERS = {
    "savefig",
    "to_csv",
    "to_excel",
    "to_json",
    "to_parquet",
    "write_bytes",
    "write_text",
    "ParquetWriter",
}
"""What a library, or `pathlib`, writes a file by when it is given a path."""
DOOR = "dhp.core.writing"


def hands_out(tree: ast.AST) -> set[str]:
    """Names that stand for an open file of `core.writing`, or for a buffer in memory."""
    named: list[tuple[ast.expr | None, ast.expr]] = []
    for node in walked(tree):
        if isinstance(node, ast.With):
            named += [(item.optional_vars, item.context_expr) for item in node.items]
        elif isinstance(node, ast.NamedExpr):
            named.append((node.target, node.value))
        elif isinstance(node, ast.Assign):
            named += [(target, node.value) for target in node.targets]
    files = ("writing", "new_file", "BytesIO", "StringIO", "io.BytesIO", "io.StringIO")
    return {
        name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        for name, value in named
        if isinstance(value, ast.Call) and ast.unparse(value.func) in files
    }


def opens_to_write(call: ast.Call) -> bool:
    """Whether a call opens a file by a mode that writes; `archive.open(name)` and the like do not."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [literal(each) for each in (*call.args, *(k.value for k in call.keywords))]
    writes = any(
        isinstance(m, str) and re.fullmatch(r"[rwaxbt+]{1,4}", m) and set(m) & set("wax+") for m in modes
    )
    return called in ("open", "fdopen") and writes


MAKERS = {"copyfile", "copytree", "hardlink_to", "mkdir", "mkfifo", "move", "symlink_to", "touch"}
"""What makes a file or a folder of a path."""


def written_past_the_door(tree: ast.AST) -> list[str]:
    """Calls that write to a path, though `core.writing` alone may."""
    handed, found = hands_out(tree), []
    for node in (node for node in walked(tree) if isinstance(node, ast.Call)):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        receiver = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        target = first.attr if isinstance(first, ast.Attribute) else getattr(first, "id", "")
        in_memory = called.startswith("to_") and first is None  # the text comes back
        of_object = receiver or called == "ParquetWriter"
        by_library = called in WRITERS and of_object and target not in handed and not in_memory
        of_system = (receiver, called) in (("os", "open"), ("os", "replace"), ("os", "rename"))
        if receiver != "formatter" and (by_library or of_system or called in MAKERS or opens_to_write(node)):
            found.append(ast.unparse(node))
    return found


def test_files_are_written_by_one_door() -> None:
    """No other module opens a file to write, makes a folder, or hands a path to a library that does."""
    outside = {module: tree for module, tree in trees().items() if module != DOOR}
    found = {module: written_past_the_door(tree) for module, tree in outside.items()}
    assert {module: calls for module, calls in found.items() if calls} == {}
    planted = """
figure.savefig(path, format="svg")
frame.to_csv(path, index=False)
frame.to_parquet(f"{folder}/ratings.parquet")
ParquetWriter(self._parts[-1], schema)
Path(out).write_text("x")
out.open("w")
open(path, mode="ab")
os.open(path, flags)
shutil.copyfile(a, b)
(folder / name).mkdir()
with open(path, "w") as file:
    frame.to_csv(file)
"""
    assert len(written_past_the_door(ast.parse(planted))) == 12
    allowed = """
with writing(path) as file:
    frame.to_csv(file)
buffer = BytesIO()
figure.savefig(buffer)
text = frame.to_csv(index=False)
archive.open(name)
path.open("rb")
"""
    assert written_past_the_door(ast.parse(allowed)) == []


def compared_verdicts(tree: ast.AST) -> list[str]:
    """Words of verdicts that code compares or counts by, alone or in a collection."""
    words = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dhp.core.verdicts"
        for alias in node.names
        if isinstance(getattr(verdicts, alias.name), verdicts.Verdict)
    }
    asked: list[ast.AST] = []
    collections = (ast.Tuple, ast.Set, ast.List)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            asked += [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "count":
            asked += node.args
        elif isinstance(node, ast.MatchValue) or (
            isinstance(node, ast.Assign) and isinstance(node.value, collections)
        ):
            asked.append(node.value)
    every = [each for node in asked for each in getattr(node, "elts", [node])]
    return [each.id for each in every if isinstance(each, ast.Name) and each.id in words]


def test_rules_ask_what_a_verdict_means() -> None:
    """No file but that of the words compares with one: a new word would be passed over in silence."""
    found = {module: compared_verdicts(tree) for module, tree in trees().items()}
    assert {module: words for module, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "code",
    [
        "row.state is NOTICED",
        "state not in (MISSED, other)",
        "words.count(FAINT)",
        "DECIDED = (NOTICED, MISSED)",
    ],
)
def test_a_planted_comparison_with_a_verdict_is_found(code: str) -> None:
    assert compared_verdicts(ast.parse(f"from dhp.core.verdicts import FAINT, MISSED, NOTICED\n{code}"))


PLUGIN_WORDS = {
    "batches": ("batch",),
    "battles": ("battle", "arena"),
    "classical metrics": ("classical metric", "metric/", "rouge"),
    "frameworks": ("deepeval", "inspect_ai", "mlflow", "ragas"),
    "litellm": ("litellm",),
    "local models": ("hf/", "vllm"),
    "power": ("dhp power", "pilot", "poweranalysis"),
    "recorded scores": ("judgebench", "llmbar", "rewardbench"),
    "reviews": ("reviewer",),
    "spaCy": ("spacy",),
    "surveys": ("survey",),
}


ON_THE_WAY = """
Row Table Example Dataset
Edited Audit PerturbedText PerturbedDataset
Candidate Request Reply Extracted Rating
RatingsArray Influences Detection Cell VariantResult RunDetection Result
Run RunResult
"""
"""Records that hold a text, or what is known of it, from a row of a table to the report, in their order."""
BESIDE_THE_WAY = """
RunSpec JudgeSettings Perturber Request Builder RulesApplied RequestBuilder _Template Params Option
Variant VariantName ResolvedConfig RequestContext Connection Engine _Asking Usage Signature
Mention SampleConsistency Spread ResponseStyle Statement Sentence Advice Pair Miss Cut
_Structure Masked Grammar Value _Weighted BelowEdits Movement MarkSweep Measured Prices Drawing
FactText Capital Name Shape Meaning Group ListedWord _Range Place Clause _Parts
Column FirstThatFits Note Heading Facts Points Code Chart Fold _Errors _Pilot _Sums Lexicon SignPatterns
_Rows _Tested KindsOfVerdict
"""
"""Settings and machinery; parts of one step; further figures and sentences."""


def head(tree: ast.Module) -> int:
    """Lines of the module's docstring and imports."""
    heads = (ast.Import, ast.ImportFrom, ast.Expr, ast.If)
    return next((n.lineno - 1 for n in tree.body if not isinstance(n, heads)), 0)


def records_alike(modules: set[str]) -> int:
    """Pairs of records that share 60 % of the fields of the larger one, three at least."""
    records = []
    for node in (node for module in modules for node in walked(trees()[module])):
        if isinstance(node, ast.ClassDef):
            fields = (n.target for n in node.body if isinstance(n, ast.AnnAssign))
            names = {field.id for field in fields if isinstance(field, ast.Name)}
            records.append({name for name in names if not name.startswith("__")})
    pairs = itertools.combinations([each for each in records if len(each) > 2], 2)
    return sum(len(a & b) >= max(3, 0.6 * max(len(a), len(b))) for a, b in pairs)


class Declared(NamedTuple):
    """An option of the command line in the source: a call of `click.option`, or a field made by `option`."""

    module: str
    name: str
    """Of a pair such as `--ties/--no-ties` the first."""
    parameter: str
    default: ast.expr | None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def literal(node: ast.AST | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def declared_by_call(module: str, call: ast.Call) -> Iterator[Declared]:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in ("option", "Option"):
        return
    lists = (node.elts if isinstance(node, ast.List) else [node] for node in call.args)
    words = [literal(each) for each in itertools.chain(*lists)]
    texts = [word for word in words if isinstance(word, str)]
    for name in (text for text in texts if text.startswith("--")):
        plain = name.removeprefix("--").replace("-", "_")
        parameter = next((text for text in texts if text.isidentifier()), plain)
        yield Declared(module, name.partition("/")[0], parameter, keyword(call, "default"))


MAKE_NAMES = {"dhp.cli.init", "dhp.cli.main", "dhp.cli.options"}
"""Modules with options of names that do not stand in the source: of plug-ins, questions and fields."""


def makes_names(module: str, tree: ast.Module) -> bool:
    calls = [node for node in walked(tree) if isinstance(node, ast.Call)]
    of_click = [
        call
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("option", "Option")
        and ast.unparse(call.func.value) == "click"
    ]
    return any(not [*declared_by_call(module, call)] for call in of_click)


def declared_by_field(module: str, field: ast.AnnAssign) -> Iterator[Declared]:
    call = field.value
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "option":
        return
    assert isinstance(field.target, ast.Name)
    name = str(literal(keyword(call, "name")) or f"--{field.target.id.replace('_', '-')}")
    yield Declared(module, name.partition("/")[0], field.target.id, keyword(call, "default"))


def declared_options(modules: Mapping[str, ast.Module]) -> list[Declared]:
    options: list[Declared] = []
    for module, tree in modules.items():
        for node in walked(tree):
            if isinstance(node, ast.Call):
                options += declared_by_call(module, node)
            elif isinstance(node, ast.AnnAssign):
                options += declared_by_field(module, node)
    return options


SEVERAL_MEANINGS = {
    "--out": (12, "each command writes something else"),
    "--config": (2, "options of dhp; the categories of ColossalEval, whose name it is"),
    "--dataset": (3, "texts of a run, several; of a survey one file; name of the texts of ratings"),
    "--field": (2, "columns of texts; of ratings"),
    "--n": (2, "examples that are taken; that a power analysis is about"),
    "--name": (2, "of a model in results; of the judge of ratings"),
    "--protocol": (2, "protocols, several; of a battle one, of other protocols"),
    "--resamples": (2, "label swaps; resamples of sources"),
    "--weights": (2, "by which a run is analysed; of results that are there"),
}
"""Option -> how often it may be declared, as it means several things, and why."""


def declared_again(options: Sequence[Declared]) -> list[str]:
    """Options that are declared more often than once, or than `SEVERAL_MEANINGS` says, with the remedy."""
    modules: dict[str, list[str]] = {}
    for option in options:
        modules.setdefault(option.name, []).append(option.module)
    return [
        f"{name} is declared in {', '.join(places)}: declare it once, as a field of a settings "
        "record that both commands take (dhp.core.options.option), or write in SEVERAL_MEANINGS what else "
        "it means"
        for name, places in modules.items()
        if len(places) > SEVERAL_MEANINGS.get(name, (1, ""))[0]
    ]


def defaults_again(options: Sequence[Declared], modules: Mapping[str, ast.Module]) -> list[str]:
    """Options whose default, a number or a word, is also that of a parameter of this name, or a field."""
    stands = Counter((each.parameter, literal(each.default)) for each in options)
    for node in (node for tree in modules.values() for node in walked(tree)):
        if isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            without = len(positional) - len(node.defaults)
            pairs = [*zip(positional[without:], node.defaults, strict=True)]
            for parameter, default in [*pairs, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]:
                stands[parameter.arg, literal(default)] += 1
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            stands[node.target.id, literal(node.value)] += 1
    told = {(each.parameter, literal(each.default)) for each in options}
    return [
        f"{name}={default!r}: give it one name"
        for name, default in told
        if default and stands[name, default] > 1
    ]


def test_options_are_counted_where_they_are_declared() -> None:
    """Every option of every command is seen in the source, but for those whose names are made."""
    options: list[Declared] = declared_options(trees())
    commands: list[click.Command] = [main.app]
    made = {"--help", "--version", "--debug", "--output", "--source", "--id"}
    seen = {*made, *(option.name for option in options)}
    assert {module for module, tree in trees().items() if makes_names(module, tree)} == MAKE_NAMES
    for command in commands:
        context = click.Context(command)
        if isinstance(command, click.Group):
            below = [command.get_command(context, name) for name in command.list_commands(context)]
            commands += [each for each in below if each]
        names = {each.opts[0] for each in command.get_params(context) if isinstance(each, click.Option)}
        assert names <= seen, command.name
    planted = """
@click.option("--out", "folder", default=3)
@click.option("--out/--in")
class Settings:
    out: int = option("Where.", default=3)
    other: int = option("Where.", default=4, name="--out")
    bare: int = option("Where.", default=4)
    inner: int = field(default=4, metadata={"plugin": "inner"})
def write(*, folder=3): ...
"""
    tree = {"planted": ast.parse(planted)}
    found = declared_options(tree)
    assert sorted(each.name for each in found) == ["--bare", *4 * ["--out"]]
    assert declared_again(found) == []
    (message,) = declared_again([*found, min(found, key=lambda each: each.name)])
    assert message.startswith("--bare is declared in planted, planted: declare it once")
    assert len(defaults_again(found, tree)) == 1
    times = Counter(option.name for option in options)
    assert [name for name, (most, _) in SEVERAL_MEANINGS.items() if times[name] != most] == []


def test_options_and_their_defaults_are_declared_once() -> None:
    options = declared_options(trees())
    assert declared_again(options) == []
    assert defaults_again(options, trees()) == []


def test_size_is_printed() -> None:
    """Lines and their make-up for whoever reads the log: a ceiling on them compresses the lines."""
    core = {module for module in sources() if not module.startswith("dhp.plugins.")}
    lines = {module: len(source.splitlines()) for module, source in sources().items()}
    in_core = sum(lines[module] for module in core)
    assert 0 < in_core < sum(lines.values())
    heads = sum(head(trees()[module]) for module in core) / in_core
    print(f"lines: core {in_core:,}, all {sum(lines.values()):,}; share of heads in the core {heads:.4g}")
    print(f"pairs of records alike: {records_alike(core)}; kinds on a text's way: {len(ON_THE_WAY.split())}")
    for name, words in PLUGIN_WORDS.items():
        speaking = [module for module in core if any(word in sources()[module].lower() for word in words)]
        print(f"core files that speak of {name}: {len(speaking)}")


def records_met(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Is filled with the records of the core that are made from now on, in the order of their first."""
    met: list[str] = []

    def noted(cls: type, name: str) -> Callable[..., object]:
        make = getattr(cls, name)

        def made(first: object, *args: object, **more: object) -> object:
            if cls.__name__ not in met:
                met.append(cls.__name__)
            return make(first, *args, **more)

        return made

    core = (m for m in sources() if not m.startswith("dhp.plugins.") and m != "dhp.__main__")
    classes = [
        cls
        for module in core
        for cls in vars(importlib.import_module(module)).values()
        if isinstance(cls, type) and cls.__module__ == module
    ]
    for cls in classes:
        if is_dataclass(cls) and "__init__" in vars(cls):
            monkeypatch.setattr(cls, "__init__", noted(cls, "__init__"))
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            monkeypatch.setattr(cls, "__new__", noted(cls, "__new__"))
    return met


@pytest.mark.slow
def test_a_text_passes_the_records_that_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "texts.csv"
    rows = [f"The mill {i} was sold to Anna Berg. She paid {i}9 coins. Few knew why." for i in range(5)]
    table.write_text("\n".join(["source,output", *(f"All on mill {i}.,{row}" for i, row in enumerate(rows))]))
    monkeypatch.setenv("OPENAI_API_KEY", "key")

    def says(call: Call) -> Answer:
        return reply(str(1 + len(str(call.body)) % 5))

    with undrawn(), scripted_server(says) as server:
        settings = dhp.ModelSettings(base_url=f"{server.url}/v1", cache=tmp_path / "cache")
        met = records_met(monkeypatch)
        _read_short.cache_clear()  # an answer that an earlier test read is not read again
        dhp.run(
            "openai/m",
            str(table),
            task="summarization",
            metrics="fluency",
            settings=settings,
            out=tmp_path / "run",
            progress=None,
        )
    on, beside = ON_THE_WAY.split(), BESIDE_THE_WAY.split()
    extra = [name for name in met if name not in on + beside]
    assert not extra, " ".join(extra)
    assert [name for name in on if name not in met] == []
    written = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in on if f"`{name}`" not in written] == []


def shapes_of(shape: object, met: dict[type, None]) -> dict[type, None]:
    """The records that a type is made of, itself among them."""
    if isinstance(shape, type) and is_dataclass(shape) and shape not in met:
        met[shape] = None
        for part in get_type_hints(shape, vars(sys.modules[shape.__module__])).values():
            shapes_of(part, met)
    for part in get_args(shape):
        shapes_of(part, met)
    return met


def unread(shape: type) -> list[str]:
    """Fields of a result that nothing reads outside of the folders that compute them."""
    read = {
        node.attr
        for module, tree in trees().items()
        if not module.startswith(("dhp.analysis", "dhp.stats"))
        for node in walked(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    for template in PACKAGE.rglob("*.html"):
        read |= set(re.findall(r"\.([a-z]\w*)", template.read_text("utf-8")))
    return [
        f"{each.__name__}.{f.name}"
        for each in shapes_of(shape, {})
        for f in fields(each)
        if f.name not in read
    ]


def test_every_field_of_a_result_has_a_reader() -> None:
    assert len(shapes_of(Result, {})) >= 10
    assert unread(Result) == []

    @dataclass
    class Planted:
        d_avg: float
        nobody_reads_this: float

    assert unread(Planted) == ["Planted.nobody_reads_this"]


SECTIONS = re.compile(r"^ *(Parameters|Returns|Yields|Raises|Notes|Attributes|Examples?)\n *---", re.M)
FIXTURES = {"dhp.cli.pytest_plugin.judge_audit"}
"""What users of pytest see of the plug-in for it, by `pytest --fixtures`."""


def public_names() -> set[str]:
    """Where the names of `dhp` are defined, as on the reference page."""
    callable_packages = {f"dhp.{module}.{name}" for module, name in dhp._CALLABLE.values()}
    functions = {target.replace(":", ".") for target in offered("functions").values()}
    return {f"dhp.{module}.{name}" for name, module in dhp._MODULE_OF.items()} | callable_packages | functions


def with_sections(tree: ast.AST, path: str, public: Collection[str]) -> Iterator[str]:
    """The functions and classes that are not public and whose docstrings have sections."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from with_sections(node, path, public)
            continue
        name = f"{path}.{node.name}"
        if name in public:
            continue
        if SECTIONS.search(ast.get_docstring(node) or ""):
            yield name
        yield from with_sections(node, name, public)


def test_docstrings_have_sections_where_they_are_published() -> None:
    """Else the names and types of parameters speak, and a sentence says what they do not."""
    public = public_names() | FIXTURES
    assert {"dhp.run.run", "dhp.run.judge_texts", "dhp.plugins.human.agreement.correlate"} <= public
    statistics = (
        "dhp.stats.",
        *(f"dhp.plugins.power.{name}" for name in ("curve", "population", "simulation")),
    )
    inside = {module: tree for module, tree in trees().items() if not module.startswith(statistics)}
    assert [name for module, tree in inside.items() for name in with_sections(tree, module, public)] == []
    planted = """
class Open:
    def method():
        '''Do it.

        Raises
        ------
        ValueError
            Always.
        '''
def shown():
    '''Do it.

    Returns
    -------
    int
    '''
"""
    assert list(with_sections(ast.parse(planted), "m", {"m.shown"})) == ["m.Open.method"]
    assert list(with_sections(ast.parse(planted), "m", {"m.Open"})) == ["m.shown"]


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
