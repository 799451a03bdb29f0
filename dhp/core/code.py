"""Code and data that stand in a text without a fence: they are no prose, though nothing marks them.

A block of lines is one if it parses as JSON or as a program in Python, or if most of its lines look like
lines of code and one or more can be nothing else. A line of prose with a sign of code in it stays prose.
"""

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence

from dhp.core.code_forms import has_form

_STATEMENT = re.compile(
    r"\s*(?:"
    r"(?:async\s+)?(?:def|class)\s+\w+.*[:{]|"
    r"(?:if|elif|while)\b.*[=<>()\[\]!|&].*[:{]|for\b.*(?:\bin\b|;).*[:{]|(?:else|try|finally)\s*[:{]|"
    r"\}?\s*(?:else|catch|finally)\b.*\{|(?:except|with)\b.*:|switch\s*\(.*|case\s+\S+:|"
    r"(?:from\s+[\w.]+\s+import\s.*|import\s+[\w.]+(?:\s*,\s*[\w.]+|\s+as\s+\w+)*;?)|"
    r"(?:return|yield|raise|throw)\b.*[=()\[\]{};.\w]|"
    r"(?:const|let|var|public|private|protected|static|final|void|int|float|double|char|bool|string|auto)\s+"
    r"[\w<>\[\]*&]+.*[=;({]|"
    r"[\w.\[\]\"'*@$]+(?:\s*,\s*[\w.\[\]]+)*\s*(?:[-+*/%|&^]|//|\*\*|<<|>>|:)?=(?!=)\s*\S.*|"
    r"[\w.$]+\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)[;:{,]?|"
    r"[})\]]+[;,)]*|\{|"
    r"#\s*(?:include|define|undef|pragma|if|ifdef|ifndef|elif|else|endif)\b.*|(?:typedef|struct|enum|union|"
    r"namespace|template|using|extern|package|interface|impl|fn|func|function|export)\s.*[;{(<=]|"
    r"(?:#!|@\w+|//|/\*|\*/|<\?|<!DOCTYPE|>>>|\$\s+\w).*|"
    r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>.*|"
    r"(?:SELECT\b.*\bFROM|INSERT INTO|UPDATE\b.*\bSET|DELETE FROM|(?:CREATE|ALTER) (?:TABLE|VIEW|INDEX))\b.*|"
    r"[\[{]?\s*\"[^\"\n]+\"\s*:\s*[\[{\"\d\-tfn].*|"
    r"package\s+[\w.]+;?|import\s+[\"(].*|import\s+(?:static\s+)?\w+(?:\.\w+)+(?:\.\*)?;?|"
    r"(?:pub\s+)?use\s+\w+(?:::.*);|(?:var|const)\s+\w+\s+[\w.*\[\](){}]+.*|type\s+\w+\s+[\[\]*\w.]+[({*\[.].*|"
    r"type\s+\w+\s+(?:struct|interface|func)\b.*|#!?\[.*\]|pub\s+(?:fn|struct|enum|mod|const|type|trait)\s.*|"
    r"(?:unsafe\s+)?impl\b.*\{.*|mod\s+\w+;|go\s+\w+\(.*|(?:class|struct|enum|union)\s+\w+;|(?:public|private|protected):|"
    r"(?:my|our|local|let|sub)\s+[$@%\w].*[=;{]"
    r")\s*(?:(?:#|//).*)?"
)
"""A line that is a statement of a programming language, or a part of one."""
_SIGN = re.compile(
    r"^(?: {2,}|\t)\S|[;{}:,(\[]\s*$|[=!<>]=|->|=>|::|&&|\|\||\(\)|\w\[[\w:'\"-]*\]|"
    r"^\s*(?:#|//|--|\*)(?:\s|$)|\w=\w|[{}]"
)
"""What lines of code often hold, and lines of prose seldom."""
_SENTENCE = re.compile(r"\s*[\"'“‘(]?[A-Z][^.!?]*(?:\s[a-z]{2,}){4,}[^=(){};]*[.!?][\"'”’)]*\s*")
"""A line that begins with a capital, ends with a full stop and holds words in a row: no statement."""
_WORDS = 8
_FULL_STOP = re.compile(r"[^\W\d_][.!?。][\"'”’)]*\s*$")
_LONGEST = 100_000
"""Characters of a block that is parsed; a longer one is told by its lines."""
_PROGRAM = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AugAssign, ast.For, ast.While),
    *(ast.With, ast.Try, ast.If, ast.ListComp, ast.DictComp, ast.Lambda),
)
"""Nodes that words which happen to parse do not give: `Rome, Italy` is a tuple, `x and y` an expression."""


def is_code(lines: Sequence[str]) -> bool:
    """Whether lines that follow one another, none of them blank, are code or data as a whole."""
    strong = [_is_statement(line) for line in lines]
    if not any(strong):
        return False
    if len(lines) == 1:
        if len(lines[0].split()) >= _WORDS and _FULL_STOP.search(lines[0]):
            return False  # prose behind `name=` or a tag
        return any(sign in lines[0] for sign in '=(){}<>[];"')  # "import duties" may be prose
    likely = [is_sure or _SIGN.search(line) is not None for is_sure, line in zip(strong, lines, strict=True)]
    return 2 * sum(likely) > len(lines) and (sum(strong) > 1 or all(likely))


def _is_statement(line: str) -> bool:
    return _STATEMENT.fullmatch(line) is not None and not _SENTENCE.fullmatch(line)


def parses(text: str) -> bool:
    """Whether a text of any lines is JSON (an object or a list) or a program in Python."""
    plain = text.strip()
    if len(plain) > _LONGEST:
        return False
    if plain[:1] + plain[-1:] in ("{}", "[]"):
        try:
            return isinstance(json.loads(plain), dict | list)
        except (ValueError, RecursionError):
            pass
    if not any(sign in plain for sign in "=()[]{}:"):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in what is judged
            tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, _PROGRAM) for node in ast.walk(tree)) or _is_call(tree, plain)


def _is_call(tree: ast.Module, text: str) -> bool:
    """Whether a text is a call, or several, as `print(x)` is one and `Paris (France)` none."""
    calls = [isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in tree.body]
    return all(calls) and re.search(r"\w\(", text) is not None and " (" not in text


def code_lines(lines: Sequence[str], plain: Sequence[bool]) -> list[bool]:
    """Whether each line is one of code or data; `plain` says which lines may be prose."""
    marked = [False] * len(lines)
    blocks = list(_blocks(lines, plain))
    if blocks and all(plain) and parses("\n".join(lines)):
        return [True] * len(lines)
    for start, end in blocks:
        block = lines[start:end]
        if is_code(block) or has_form(block) or parses("\n".join(block)):
            marked[start:end] = [True] * (end - start)
    _grow(lines, blocks, marked)
    if any(marked):
        for i in _comment_lines(lines, plain):
            marked[i] = True
    return marked


def _comment_lines(lines: Sequence[str], plain: Sequence[bool]) -> Iterator[int]:
    """The lines of comments `/* ... */` over several lines."""
    inside = False
    for i, line in enumerate(lines):
        inside = inside or line.lstrip().startswith("/*")
        if inside and plain[i]:
            yield i
        inside = inside and "*/" not in line


def _grow(lines: Sequence[str], blocks: Sequence[tuple[int, int]], marked: list[bool]) -> None:
    """Mark blocks beside code that are part of it.

    They are statements, or a comment or a string that stands further right than the code before it.
    """
    for place, (start, end) in enumerate(blocks):
        if marked[start]:
            continue
        block = lines[start:end]
        follows_code = place > 0 and marked[blocks[place - 1][0]]
        precedes_code = place + 1 < len(blocks) and marked[blocks[place + 1][0]]
        is_statements = (follows_code or precedes_code) and all(map(_is_statement, block))
        is_indented = follows_code and all(line[:1] in " \t" for line in block)
        if is_statements or is_indented or (follows_code and precedes_code and _may_be_code(block)):
            marked[start:end] = [True] * (end - start)


def _may_be_code(lines: Sequence[str]) -> bool:
    """Whether lines between code belong to it: one has a sign of code, and none is a sentence."""
    return any(map(_SIGN.search, lines)) and not any(map(_SENTENCE.fullmatch, lines))


def _blocks(lines: Sequence[str], plain: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """First line and end of each run of lines that are not blank."""
    start = None
    for i, line in enumerate([*lines, ""]):
        inside = i < len(lines) and plain[i] and bool(line.strip())
        if inside and start is None:
            start = i
        elif not inside and start is not None:
            yield start, i
            start = None
