"""Code and data that stand in a text without a fence: they are no prose, though nothing marks them.

One principle for all languages: prose is words in a row, code and data are signs.

1. A token is a *word* (letters, with the marks of a sentence round them), a *sign* (`x=1`, `--all`,
   `foo(bar)`, `snake_case`, `};`) or, as a number or an address, neither (`_token`).
2. A line with words in a row is prose, another one with a sign is code, and one with neither is what the
   lines beside it are (`_looks`).
3. Lines without a blank one between them are a block. It is code by the shares of these lines, or by what
   they say together: they parse, or are a table or a record (`is_code`).
4. Code grows over the lines beside it that are part of it, such as comments, nested lines and what stands
   between an opening and a closing mark (`code_lines`).
"""

import ast
import functools
import json
import keyword
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import pairwise

from dhp.core.language import CJK

# Tokens ----------------------------------------------------------------------------------------------------

_WORD = re.compile(
    r"(?![a-z]+[A-Z])[^\W\d_]+(?:(?:['’&/·—–…\xad-]+|\.{3})[^\W\d_]+)*"  # don't, well-known; no camelCase
    r"|(?:[^\W\d_]\.)+[^\W\d_]?"  # e.g, U.S
    rf"|\S*[{CJK}]\S*"  # 今天下雨
)
_NUMBER = re.compile(
    # -3.5, $1,200, 10:30, 20%, 37°C, 5m², 30km/h
    r"[-+±~≈<>≤≥]?[$€£¥#§]?\d[\d.,:/'’x×–-]*(?:[%‰²³]|°[CF]?|[^\W\d_]{1,3}[²³]?(?:[/-][^\W\d_]{1,12})?)?"
    # °C, CO2 and B12, 19th-century and 12-year-old, MiG-29s
    r"|°[CF]|[^\W\d_]{1,3}\d{1,3}[^\W\d_]{0,3}|\d+(?:st|nd|rd|th|s)?(?:[-–][^\W\d_]+)+|[^\W\d_]+-\d+s?"
)
"""Also with a unit, within a word, and as a part of a short code."""
_ADDRESS = re.compile(r"\W*(?:https?://|www\.|mailto:)\S+|\W*[\w.+-]+@[\w-]+(?:\.[\w-]+)+\W*|\W*<[a-z]+>\W*")
"""Also a placeholder, such as `<name>`."""
_MENTION = re.compile(r"@[^\W\d_]\w+\W*")
"""Of a person in a post; what stands alone in a line may be a decorator."""
_TOPIC = re.compile(r"#[^\W\d_]\w+\W*")
_MARKS = re.compile(r"[^\w={}\[\]()<\\$#^`]+(?<!(?<!\.)\.\.)|[(<)]|[:;]-?[()DPp/]|<3")
"""What stands alone in prose: dashes, bullets, marks of tokenised texts, faces."""
_BEFORE, _BEHIND = "\"'“”‘’«»„‚()[¿¡…–—", "\"'”“’‘»«)].,;:!?…–—>+#©®™-"
"""Marks of a sentence before a word and behind it."""
_QUOTED_KEY = re.compile(r"[\"'][^\"']*[\"']:")  # "name":
_EMPHASIS = re.compile(r"^([*_])([^\W_].*?)\1(?=\W*$)")  # *word* and _word_,
_INLINE = re.compile(r"`+[^`]+(?:`+|$)|!?\[([^\[\]]*)\]\([^()\s]*\)|\*\*")
"""What Markdown marks within a line: code, which says nothing, and links, which are their words."""
_CHARACTER = re.compile(f"[{CJK}]")
_ROW = 4
"""Words in a row that lines of code seldom have."""


class _Token(Enum):
    """What a token is."""

    WORD = "letters with the marks of a sentence"
    CAPITALS = "a word in capitals, which is in no row"
    CLAUSE = "many words of a language without spaces"
    NEITHER = "a number, an address, a mark that stands alone"
    BAR = "|"
    SIGN = "anything else"


@functools.lru_cache(maxsize=65_536)
def _token(token: str, first: bool) -> _Token:
    # The marks that most often stand behind a word of a sentence.
    word = token.rstrip(".,;!?")
    if word.isascii() and word.isalpha() and (word.islower() or word.istitle()):
        return _Token.WORD  # most are: told without patterns
    plain = _EMPHASIS.sub(r"\2", token) if token[0] in "*_" else token
    # A hyphen before the first word of a line may be the mark of a list; elsewhere `-x` is an option.
    core = plain.lstrip(_BEFORE + "-" if first else _BEFORE).rstrip(_BEHIND)
    if _WORD.fullmatch(core) and not _QUOTED_KEY.fullmatch(token):
        if len(core) >= 2 * _ROW and _CHARACTER.search(core):
            return _Token.CLAUSE
        return _Token.CAPITALS if core.isupper() and len(core) > 1 else _Token.WORD
    if token == "|":
        return _Token.BAR
    if _NUMBER.fullmatch(core) or _MARKS.fullmatch(token) or _ADDRESS.fullmatch(token):
        return _Token.NEITHER
    # At the start of a line `#word` may be a comment and `@name` a decorator.
    if not first and (_TOPIC.fullmatch(token) or _MENTION.fullmatch(token)):
        return _Token.NEITHER
    return _Token.SIGN


def is_sign(token: str) -> bool:
    """Whether a token between white space is a sign of code, wherever it stands."""
    return _token(token, False) is _Token.SIGN


_BEGINNING = 200
"""Characters by which a line is told."""


@functools.lru_cache(maxsize=4096)
def _counts(line: str) -> tuple[int, int, int]:
    """Signs and words of a line, and the most words in a row."""
    signs = words = row = longest = 0
    beginning = line[:_BEGINNING]
    # The pattern is slow, and most lines hold none of its marks.
    if "`" in beginning or "[" in beginning or "**" in beginning:
        beginning = _INLINE.sub(r"\1", beginning)
    tokens = beginning.split()
    if len(tokens) > 2 and _MENTION.fullmatch(tokens[0]):
        del tokens[0]  # whom a post answers; no decorator has words behind it
    for place, text in enumerate(tokens):
        token = _token(text, place == 0)
        # A bar ends a row of words, as cells of a table do, but is no sign of code by itself.
        if token in (_Token.SIGN, _Token.BAR):
            signs += token is _Token.SIGN
            row = 0
        elif token is not _Token.NEITHER:
            words += 1
            row += token is not _Token.CAPITALS
            in_row = _ROW if token is _Token.CLAUSE else row
            if in_row > longest:
                longest = in_row
    return signs, words, longest


# Lines ----------------------------------------------------------------------------------------------------


class _Line(Enum):
    """What a line looks like by itself."""

    PROSE = "words in a row"
    CODE = "a sign"
    COMMENT = "begins with a sign that opens a comment"
    OPEN = "neither, or a whole sentence"


_SENTENCE = re.compile(r"\s*[\"'“‘(]?[^\W\d_a-z].*[^\W_][.!?][\"'”’)]*\s*")
"""Begins with a capital and ends with a full stop."""
_STAMP = re.compile(
    # 2024-05-01 10:30:05, [Mon May 3 10:30:05; but not "10:30:05 Anna: Hello"
    r"\W{0,2}(?:\w{3,4}[ ,]+)?(?:\w{3} +\d{1,2} |[\d./-]{6,10}[T ,_-]+)?\d{1,2}:\d\d:\d\d\b"
    r"(?!.{0,8} [A-Z][a-z]+(?: \w+)?: )"
)
"""A time to the second at the start, as in logs, but not in a conversation."""
_COMMAND = re.compile(r"#!|<\?|\s*\\[a-z]+(?![a-z({])")  # #!/bin/sh, <?xml, \noindent
_COLUMNS = re.compile(r"\S\t+\S.*\S\t+\S")  # three values between tabs
# Comments, by what opens them in about twenty languages; `#one #two` are topics of a post.
_COMMENT = re.compile(
    r"\s*#+(?!\w+(?:\s+#\w+)*\s*$).*|\s*(?://+|--+|;+|%+|\"|/\*+|\*/|!+|dnl|REM)(?:\s.*)?|\s*(?://|/\*|<!--).*"
)
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\w{1,3}[.)])\s")  # "- ", "1. ", "(iv) "
_PART = re.compile(r"\W*[a-z0-9_].*[^.!?:,]\s*|\s*[a-z]+:|\S")
"""A line that neither begins nor ends a sentence."""


@functools.lru_cache(maxsize=4096)
def _looks(line: str) -> _Line:
    signs, words, row = _counts(line)
    if _STAMP.match(line) or _COMMAND.match(line) or (row < _ROW and _COLUMNS.search(line)):
        return _Line.CODE
    if _COMMENT.fullmatch(line):
        return _Line.COMMENT
    if row >= _ROW and words > 2 * signs:
        return _Line.PROSE
    return _Line.CODE if signs and not _SENTENCE.fullmatch(line) else _Line.OPEN


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _opens(line: str) -> bool:
    """Whether lines may be nested behind one: it ends with a colon or bracket, and begins no sentence."""
    return line.rstrip()[-1] in ":{([" and not line.lstrip()[0].isupper() and not _ITEM.match(line)


# Blocks ----------------------------------------------------------------------------------------------------

_LEAST, _LEAST_OF_STATEMENT = 1 / 3, 1 / 5
"""Share of the lines of a block that hold signs, and of one that ends as no prose does."""


def is_code(lines: Sequence[str]) -> bool:
    """Whether lines that follow one another, none of them blank, are code or data as a whole."""
    if parses("\n".join(lines)):
        return True
    if len(lines) == 1:
        return _is_code_alone(lines[0])
    if _is_table(lines) or _is_record(lines):
        return True

    looks = [_looks(line) for line in lines]
    # A line that opens nested ones is code, though it may be words: `try:`, `for each item:`.
    for i, (above, below) in enumerate(pairwise(lines)):
        if _opens(above) and _indent(below) > _indent(above) and not _ITEM.match(below):
            looks[i] = _Line.CODE
    code = looks.count(_Line.CODE)
    prose = looks.count(_Line.PROSE)
    comments = looks.count(_Line.COMMENT)
    # No sentence ends with a semicolon or brace, so that less speaks for code.
    least = _LEAST_OF_STATEMENT if lines[-1].rstrip()[-1] in ";}" else _LEAST
    if not code or code + comments < least * len(lines):
        return False
    # Prose with a formula or a command in it begins like prose, or holds a whole sentence.
    begins = looks[0] is _Line.PROSE and not lines[0].lstrip()[0].islower()
    return code > prose or not (begins or any(map(_SENTENCE.fullmatch, lines)))


_GLUED = re.compile(r"[(){}\[\];\"$\\|`_^~]|\S=|=\S|<\S|\B--?\w")
"""A sign that a formula or a name such as `node.js` has not."""


def _is_code_alone(line: str) -> bool:
    """Whether a single line is code: half as many signs as words or more."""
    signs, words, _ = _counts(line)
    if _looks(line) is not _Line.CODE or not _GLUED.search(line):
        return False
    return 2 * signs >= words or line.rstrip()[-1] in ";{}"


_SEPARATORS = {",": 2, ";": 1, "\t": 1}
"""Separator of a table -> how many of them each line needs."""
_LEAST_ROWS = 3
_CELL = re.compile(r"\"[^\"]*\"")


def _is_table(lines: Sequence[str]) -> bool:
    """Lines of as many values each; in prose a space follows a comma."""
    plain = [_CELL.sub("x", line.strip()) for line in lines]  # a quoted value may hold separators
    for separator, least in _SEPARATORS.items():
        counts = {line.count(separator) for line in plain}
        if len(counts) == 1 and counts.pop() >= least:
            least_rows = 2 if separator == "\t" else _LEAST_ROWS  # prose holds no tabs
            reads_like_prose = any(f"{separator} " in line for line in plain)
            return len(lines) >= least_rows and not reads_like_prose
    return False


# name: value, "name": value, - name: value
_KEY = re.compile(r"\s*(?:- )?(?P<name>[a-z_$@][\w.$/-]*|[\"'][^\"']+[\"'])\s*:(?:\s+(?P<value>.*))?")
_ENTRY = re.compile(r"\s*- (?!\w+:)")  # an entry of a list that is no record itself
_LEAST_KEYS, _LONGEST_VALUE = 3, 2


def _is_record(lines: Sequence[str]) -> bool:
    """Whether the lines furthest left are keys in small letters, with lines below or with short values."""
    # Keys of the record itself; what is indented further belongs to the key above it.
    left = min(map(_indent, lines))
    keys: list[re.Match[str]] = []
    for line in lines:
        if _indent(line) > left or _ENTRY.match(line):
            continue
        key = _KEY.fullmatch(line)
        if key is None:
            return False  # a line that is no key
        keys.append(key)
    names = {key["name"] for key in keys}
    if not keys or (len(names) < len(keys) and len(keys) == len(lines)):
        return False  # a conversation: who speaks in it comes again

    # The values of a record may themselves be records, or lines of code.
    below = [line for line in lines if _indent(line) > left]
    if any(_KEY.fullmatch(line) or _looks(line) is _Line.CODE for line in below):
        return True
    # In words: `name: Anna Smith` is data, `note: he came home late` may be a sentence.
    longest = max(len((key["value"] or "").split()) for key in keys)
    return len(keys) >= _LEAST_KEYS and (bool(below) or longest <= _LONGEST_VALUE)


_LONGEST = 100_000
"""Characters of a block that is parsed; a longer one is told by its lines."""
_PROGRAM = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AugAssign, ast.For, ast.While),
    *(ast.With, ast.Try, ast.If, ast.ListComp, ast.DictComp, ast.Lambda),
)
"""Nodes that words which happen to parse do not give: `Rome, Italy` is a tuple, `x and y` an expression."""


# Two quick tests before a text is parsed, which takes long.
_PARSED = re.compile(r"[=(\[{:]|import")
"""What each program holds that is told by parsing it."""
_NAMES = "|".join([*keyword.kwlist, *keyword.softkwlist])
_OPERATORS = "and|or|not|in|is|if|else|for|as|async|from|import"
_TWO_NAMES = re.compile(rf"[^\"'#]*?(?<!\w)(?!(?:{_NAMES})\b)[^\W\d]\w*+[ \t]+(?!(?:{_OPERATORS})\b)[^\W\d]")
"""No program has two names side by side outside its strings and comments: most prose need not be parsed."""


def parses(text: str) -> bool:
    """Whether a text of any lines is JSON (an object or a list) or a program in Python."""
    plain = text.strip()
    if len(plain) > _LONGEST:
        return False
    # Only objects and lists: a number or a word in quotation marks is JSON, too, and may be prose.
    if plain[:1] + plain[-1:] in ("{}", "[]"):
        try:
            return isinstance(json.loads(plain), dict | list)
        except (ValueError, RecursionError):
            pass
    if not _PARSED.search(plain) or _TWO_NAMES.match(plain):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in what is judged
            # A piece of a program may be indented as a whole, which would be a fault of syntax.
            tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(isinstance(node, _PROGRAM) for node in ast.walk(tree)) or _is_call(tree, plain):
        return True
    # One import may be a sentence: "import taxes".
    only_imports = all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
    return only_imports and len(tree.body) > 1


def _is_call(tree: ast.Module, text: str) -> bool:
    """Whether a text is a call, or several, as `print(x)` is one and `Paris (France)` none."""
    calls = [isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in tree.body]
    return all(calls) and re.search(r"\w\(", text) is not None and " (" not in text


# Texts ----------------------------------------------------------------------------------------------------


def code_lines(lines: Sequence[str], plain: Sequence[bool]) -> list[bool]:
    """Whether each line is one of code or data; `plain` says which lines may be prose."""
    marked = [False] * len(lines)
    if all(plain) and parses("\n".join(lines)):  # with the blank lines, which end blocks
        return [True] * len(lines)

    # Blocks that are code by themselves.
    for start, end in _blocks(lines, plain):
        if end - start == 1 and not _GLUED.search(lines[start]) and not _PARSED.search(lines[start]):
            continue  # most paragraphs of prose
        first, last = _without_prose(lines, start, end)
        least = 1 if (first, last) == (start, end) else 2  # one line amid prose is a part of the sentence
        if last - first >= least and is_code(lines[first:last]):
            marked[first:last] = [True] * (last - first)

    # What opens in one line and closes in another, and comments one below the other.
    for i in _enclosed(lines):
        marked[i] = plain[i]
    for i, (above, below) in enumerate(pairwise(lines)):
        if _are_comments(above, below):
            marked[i] = marked[i + 1] = True
    if not any(marked):
        return marked  # nothing that could grow

    # What stands beside code.
    _grow(lines, plain, marked)
    # A comment beside code, `# like this`, would elsewhere be a heading. Down and up, as several may follow.
    stated = [i for i, line in enumerate(lines) if line.strip()]
    for before, i, behind in [*_threes(stated), *_threes(stated)[::-1]]:
        if (marked[before] or marked[behind]) and not plain[i] and _COMMENT.fullmatch(lines[i]):
            marked[i] = True
    return marked


def _threes(places: Sequence[int]) -> Sequence[tuple[int, int, int]]:
    """Each place between its neighbours; the first and the last have themselves on one side."""
    # `before` has one entry more than `places`, at which `zip` stops.
    before, behind = [*places[:1], *places], [*places[1:], *places[-1:]]
    return list(zip(before, places, behind, strict=False))


def _blocks(lines: Sequence[str], plain: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """First line and end of each run of lines that are not blank."""
    start = None
    for i, line in enumerate([*lines, ""]):  # the blank line ends the last run
        inside = i < len(lines) and plain[i] and bool(line.strip())
        if inside and start is None:
            start = i
        elif not inside and start is not None:
            yield start, i
            start = None


def _without_prose(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """A block without the sentences before and behind code; empty if the last one goes on behind its line."""
    first, last = start, end
    while first < end and _begins_prose(lines[first]):
        first += 1
    while first < last and _begins_prose(lines[last - 1]):
        last -= 1
    goes_on = first > start and lines[first - 1].rstrip()[-1] not in ".:!?"
    return (end, end) if goes_on else (first, last)


def _begins_prose(line: str) -> bool:
    return line[:1].isupper() and _looks(line) is _Line.PROSE


def _are_comments(*lines: str) -> bool:
    """Whether lines that follow one another begin with the same sign of a comment; two headings do not."""
    if not all(map(_COMMENT.fullmatch, lines)):
        return False
    # `#` above `##` are headings of two levels, and not comments one below the other.
    signs = {_SIGN.split(line, 1)[0] for line in lines}
    return len(signs) == 1


_SIGN = re.compile(r"(?<=[^\w\s])(?![^\w\s])")  # the end of the first run of marks: between `//` and ` text`


_PAIRS = (("/*", "*/"), ('"""', '"""'), ("'''", "'''"), ("<!--", "-->"))
_OPENING = tuple(opening for opening, _ in _PAIRS)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_HEREDOC = re.compile(r"<<[-~]?\s?([\"']?)([A-Z_]\w*)\1(?!\w)")  # <<EOF, <<-'END'
_STARTED = re.compile(rf"{_HEREDOC.pattern}|\w ?= ?(?:\"\"\"|''')")
"""The start of a here-document or a long string, which may be cut off."""


def _enclosed(lines: Sequence[str]) -> Iterator[int]:
    """The lines of comments, long strings, brackets and here-documents, with their first and last ones."""
    i = 0
    while i < len(lines):
        closing = _opened(lines[i])
        begins = lines[i].lstrip().startswith(_OPENING)
        can_be_cut_off = begins or _STARTED.search(lines[i]) is not None
        last = _first(closing, lines, i + 1) if closing else None
        if closing and can_be_cut_off and last is None:  # it was cut off: up to the next blank line
            last = i
            while last + 1 < len(lines) and lines[last + 1].strip():
                last += 1
        if last is not None:
            yield from range(i, last + 1)
            i = last
        elif begins:
            yield i
        i += 1


def _first(closing: Callable[[str], bool], lines: Sequence[str], start: int) -> int | None:
    """The place of the first line that closes, from `start` on; None if none does."""
    for place in range(start, len(lines)):
        if closing(lines[place]):
            return place
    return None


def _opened(line: str) -> Callable[[str], bool] | None:
    """What tells the last line of what opens in this one; None if nothing does."""
    for opening, closing in _PAIRS:
        if opening not in line:
            continue
        behind = line.partition(opening)[2]
        if closing not in behind and (line.lstrip().startswith(opening) or closing == opening):
            return lambda last: closing in last
    # It ends with a line that holds the same name alone, perhaps with a semicolon.
    heredoc = _HEREDOC.search(line)
    if heredoc:
        return lambda last: last.strip().rstrip(";") == heredoc[2]
    bracket = _BRACKETS.get(line.rstrip()[-1:])
    if bracket and len(line.split()) <= _ROW:
        return lambda last: last.startswith(bracket, _indent(line))
    return None


def _grow(lines: Sequence[str], plain: Sequence[bool], marked: list[bool]) -> None:
    """Mark lines before and behind code that are part of it, over blank lines."""
    may_be_prose = [may and not is_code for may, is_code in zip(plain, marked, strict=True)]
    rest = list(_blocks(lines, may_be_prose))
    stated = [i for i, line in enumerate(lines) if plain[i] and line.strip()]
    # Down and up, as a block may be part of code by the block that was marked before it.
    for start, end in (*rest, *reversed(rest)):
        block = lines[start:end]
        before = next((i for i in reversed(stated) if i < start), None)
        behind = next((i for i in stated if i >= end), None)
        follows = before is not None and marked[before]
        precedes = behind is not None and marked[behind]
        if not (follows or precedes):
            continue
        # In a text that is mostly code short lines between it are labels; in prose they may be headings.
        is_mostly_code = 2 * sum(marked) > len(stated)
        is_label_of_code = is_mostly_code and all(map(_is_label, block))
        if _is_part(block, between=follows and precedes) or is_label_of_code:
            marked[start:end] = [True] * (end - start)


_LABEL_WORDS = 3


def _is_label(line: str) -> bool:
    """Whether a line is a few words without the mark of a sentence, as `Syntax 2` before settings."""
    return len(line.split()) <= _LABEL_WORDS and line.rstrip()[-1] not in ".!?,"


def _is_part(lines: Sequence[str], *, between: bool) -> bool:
    """Whether lines beside code, or between code, belong to it."""
    if all(line[:1] in " \t" and not _ITEM.match(line) for line in lines):
        return True
    looks = [_looks(line) for line in lines]
    if between and _Line.PROSE not in looks:
        return True
    # Each line is code, a comment, or words that neither begin nor end a sentence.
    for look, line in zip(looks, lines, strict=True):
        if look in (_Line.CODE, _Line.COMMENT):
            continue
        may_be_item = look is not _Line.OPEN and _ITEM.match(line)
        if may_be_item or not _PART.fullmatch(line):
            return False
    return True
