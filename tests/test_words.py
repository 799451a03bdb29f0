"""Names and phrases that say nothing stand nowhere in the package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "dhp"
NAMES = set("found said own given there told many".split())
PHRASES = re.compile(
    r"\b(?:(?:None|NaN|empty|nothing) where|[Rr]aises? `\w+`[^.]*? where|(?:of|for) what is none"
    r"|in the place of|[Nn]ow and then)\b"
)


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of all that code gives a name to: variables, parameters, fields, functions, classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def documented(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring, also of fields."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value


def faults(source: str, place: str) -> list[str]:
    """Names and phrases of the lists in some code."""
    tree = ast.parse(source)
    names = [f"{place}:{line}: name '{name}'" for line, name in sorted(named(tree)) if name in NAMES]
    phrases = [
        f"{place}:{line}: '{' '.join(match[0].split())[-40:]}'"
        for line, text in documented(tree)
        for match in PHRASES.finditer(text)
    ]
    return [*names, *phrases]


def test_the_package_is_free_of_words_that_say_nothing() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 100
    assert [fault for p in files for fault in faults(p.read_text("utf-8"), str(p.relative_to(PACKAGE)))] == []


def test_planted_words_are_found() -> None:
    code = (
        "def f(given):\n"
        '    """A number; None where there is none. Raises `InputError` where it is 0."""\n'
        "    found = 1"
    )
    assert faults(code, "x") == [
        "x:1: name 'given'",
        "x:3: name 'found'",
        "x:2: 'None where'",
        "x:2: 'Raises `InputError` where'",
    ]
