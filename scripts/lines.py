"""Print what the code is made of: lines by room, files, and how dense they are. Nothing is asserted.

Run it from a checkout: python scripts/lines.py [FOLDER]
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def counted(source: str) -> Counter[str]:
    """Lines of code, docstrings and comments of a file, and its walruses and comprehensions."""
    tree = ast.parse(source)
    docstrings: set[int] = set()
    found = Counter(files=1, lines=len(source.splitlines()))
    for node in ast.walk(tree):
        found["walruses"] += isinstance(node, ast.NamedExpr)
        if isinstance(node, COMPREHENSIONS):
            inside = [each for each in ast.walk(node) if isinstance(each, COMPREHENSIONS)]
            found["comprehensions"] += 1
            found["nested"] += len(inside) > 1
        if isinstance(node, WITH_DOCSTRING):
            for part in node.body:  # also a string below a constant or a field
                if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                    docstrings.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found["comments"] += token.type == tokenize.COMMENT
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    found["docstrings"] = len(docstrings)
    found["code"] = len(code - docstrings)
    return found


def shown(name: str, found: Counter[str]) -> str:
    thousand = max(found["code"], 1) / 1000
    dense = "  ".join(f"{found[each] / thousand:6.1f}" for each in ("walruses", "comprehensions", "nested"))
    lines = "  ".join(f"{found[each]:6,}" for each in ("files", "code", "docstrings", "comments"))
    return f"{name:24}  {lines}  {dense}"


def main(root: Path) -> None:
    print(
        f"{'':24}   files    code  docstr  commts  per 1,000 lines of code: walruses, comprehensions, nested"
    )
    for part in ("dhp", "tests", "scripts"):
        rooms: dict[str, Counter[str]] = {}
        for path in sorted((root / part).rglob("*.py")):
            room = path.relative_to(root / part).parts[0].removesuffix(".py")
            rooms.setdefault(room, Counter()).update(counted(path.read_text("utf-8")))
        if part == "dhp":
            print(*(shown(f"  {room}", found) for room, found in rooms.items()), sep="\n")
        print(shown(part, sum(rooms.values(), Counter())))
    assets = [path for end in ("html", "css", "js") for path in (root / "dhp").rglob(f"*.{end}")]
    lines = sum(bool(line.strip()) for path in assets for line in path.read_text("utf-8").splitlines())
    print(f"assets: {len(assets)} files, {lines:,} lines that are not empty")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent)
