"""What is no prose in a text: Markdown, the marks of lists, and the lines that are boundaries; any language.

Language models answer in Markdown. Code, tables, headings, links and the marks of lists must neither be cut
into sentences nor be damaged inside.

How it works: `_structure` reads a text line by line. It finds the lines that are no prose, then the marks of
lists, then which lines are one paragraph that was broken at a width. `masked` hides all that is no prose
behind private-use characters, one for each letter, so that positions stay and rules for letters, words,
numbers and sentences pass over it. `in_prose` cuts what is left, piece by piece.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dhp.core.code import code_lines, is_sign
from dhp.core.language import CJK

Span = tuple[int, int]
"""(start, end)."""
_REMEMBERED = 1024
"""Texts whose structure is remembered, as each perturber of a table asks for it."""

_SIGNS = range(0xF0000, 0xFFFF0)
"""Private-use characters: each hidden piece has one of its own, as far as they last."""
_RUN = re.compile("([\U000f0000-\U000fffef])\\1*")  # what is left of one hidden piece

# The line above and below code: three or more backquotes or tildes.
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
# |---|:--:|, the line below the heads of the columns
_TABLE_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)*[ \t]*:?-{2,}:?[ \t]*\|?[ \t]*")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|\*\*[^*]+\*\*:?[ \t]*|__[^_]+__:?[ \t]*|[-*_]{3,}[ \t]*)")
"""Also a line that is bold as a whole, and a rule."""
# `=====` below a heading
_UNDERLINE = re.compile(r"[ \t]*={3,}[ \t]*")
# Without the full stop or bracket behind it, which belongs to the sentence.
_URL = r"(?:https?://|www\.)[^\s<>\"“”'()（）。，、]*[^\s<>\"“”'()（）。，、.,;:!?*_]"
_INLINE = re.compile(
    # `code`
    r"(`+)(?!`)[^\n]*?[^`\n]\1(?!`)"
    # [text](address "title"), ![image](address), [text][name]
    r"|!?\[[^\[\]\n]*\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\)|\[[^\[\]\n]*\])"
    # <https://a.b>, https://a.b, **, ***, __, ~~
    rf"|<(?:https?|mailto):[^<>\s]+>|{_URL}|\*{{2,3}}|__|~~"
    # \(x^2\), $x_1$; a price such as "$5 to $9" holds none of the signs of a formula
    r"|\\\([^\n]{0,300}?\\\)|\$(?![\s\d])[^$\n]{0,200}[\\^_{=][^$\n]{0,200}\$"
    # <b>, <br/>, <!-- note -->, &amp;
    r"|</?[a-zA-Z][\w-]*(?:\s[^<>\n]*)?/?>|<!--.*?-->|&(?:[a-zA-Z]{2,8}|#\d{1,6});"
    # a@b.org, ~/a/b, ../a, C:\a\b, src/a.py
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<!\S)(?:~|\.{1,2})?/(?:[\w.-]+/)*[\w.-]*\w|\b[A-Za-z]:\\[^\s\"'<>]*\w"
    r"|(?<![\w/])\w[\w.-]*(?:/[\w.-]+)*/[\w-]+\.\w{1,5}\b"
)
"""Code, links and images, addresses, marks of emphasis, formulas of LaTeX, HTML, paths."""
_INLINE_SIGN = re.compile(r"[`\[<$*_~\\/&@]|www\.")
"""What each of these holds: most lines are told by this."""
_CODE = re.compile(
    r"(?<![^\W_])(?=[\w+./:#-]*[^\W\d_])(?=(?:[\w+./:#-]*?\d){2})(?!\d+[^\W\d_]{1,3}(?![\w-]))"
    r"\w+(?:[+./:#-]\w+)*"  # 1Z999AA10123456784
    r"|@\w+\b|\b\d{8,}\b|#\d+\b|\b\d{4}/\d{3,}\b"  # @name, #17, 2024/117
    r"|\b[A-Z]{2,}-\d\w*"  # GPT-4o
    r"|\b\d+(?:[./-]\d+){2,}\b|(?<!\w)\+?\d+(?: [ (]?\d{2,}\)?){2,}\b"  # 192.168.0.1, +44 20 7946 0018
    r"|\b[A-Z]{2}\d{2}(?: [\dA-Z]{2,4}){3,}\b|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"  # accounts, postcodes
)
"""Codes, numbers of orders, telephones and accounts: nobody would take a slip in them for a typing error."""
_TOKEN = re.compile(rf"[^\s{CJK}]+")
# A token without the marks of the sentence round it: (word), "word".
_ROUND = re.compile(r"[\"'“”‘’«»(\[]*(?P<core>.*?)[\"'“”‘’«».,;:!?…]*(?P<closing>[)\]]?)[\"'“”‘’«».,;:!?…]*")
_DIGITS, _HAN = r"[\d０-９]{1,3}", r"[一二三四五六七八九十]{1,3}"
_BULLET = r"(?:[-*+•‣▪●○◦·–—\uf0b7][ \t]+(?:\[[ xX]\][ \t]+)?)"
_DASHES = ("–", "—")
_ITEM = re.compile(
    rf"[ \t]*(?:>[ \t]*)*(?:{_BULLET}?(?P<bold>\*\*|__)?(?:"
    # (1), (a), (iv), 1), a)
    rf"[(（](?:{_DIGITS}|[a-zA-Z]|[ivx]{{1,4}}|{_HAN})[)）]|(?:[a-zA-Z]|[ivx]{{1,4}}|{_DIGITS})\)"
    # 1. and 1、, 2.3
    rf"|(?P<number>{_DIGITS})(?:\.(?=[ \t])|[．、])|\d{{1,2}}(?:\.\d{{1,2}})+\.?(?=[ \t])"
    # A., iv., 第一步：, 一、, ①
    rf"|(?P<letter>[A-Z]|[ivx]{{1,4}})\.(?=[ \t])|(?:第{_HAN}步[：:]?|{_HAN}、)|[①-⑳]"
    # Step 1:
    rf"|(?P<label>[^\W\d_]{{2,12}})[ \t](?P<which>\d{{1,2}})[ \t]?[:)])"
    rf"(?(bold)(?:[^*_\n]{{0,80}}(?P=bold):?)?)[ \t]*|{_BULLET}+)(?=\S)"
)
"""The mark of an item at the start of a line, with the title of an item in bold behind its number."""
_INSIDE = re.compile(
    # ... one. 2. Two; behind a comma only in brackets: ... one, (b) two
    r"(?:(?<=[.!?:;。！？：；])[\"”’)]?[ \t]+(?P<point>\d{1,2})\."
    r"|(?<=[.!?:;,。！？：；，])[\"”’)]?[ \t]+\(?(?P<bracket>\d{1,2}|[a-z])\))(?=[ \t]+\S)"
)
"""The mark of an item inside a line, if its number follows on from the one before it."""
# `b)` or `2.`, without which no line holds a mark inside: told before the slower pattern.
_INSIDE_SIGN = re.compile(r"[a-z\d]\)|\d\.")
# The end of a sentence at the end of a line, with marks that may follow it: `done."`, `**End.**`
_END = re.compile(r"[.!?:;。！？：；…][\"'”’」』）)*_]*[ \t\r]*$")
# The first letter or digit of a line, behind a mark that opens: `(then`, `"then`
_START = re.compile(r"[ \t]*[\"'“‘(\[<]?(\w)")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text in which all that is no prose is hidden."""

    text: str
    """As long as the original."""
    pieces: Mapping[str, str]
    """Private-use character -> what a run of it hides."""

    def restored(self, edited: str) -> str:
        """An edited copy of the masked text, with what is left of the hidden pieces put back."""
        return _RUN.sub(lambda run: self.pieces.get(run[1], run[0]), edited) if self.pieces else edited


@functools.lru_cache(maxsize=_REMEMBERED)
def masked(text: str, *, codes: bool = False) -> Masked:
    """Hide all that is no prose, and with `codes` numbers of orders, names of variables and the like.

    A text that holds private-use characters of plane 15 stays as it is.
    """
    structure = _structure(text)
    hidden = sorted([*structure.fixed, *structure.marks])
    if codes:
        hidden = sorted([*hidden, *_apart(text, hidden)])
    if not hidden or _RUN.search(text):
        return Masked(text, {})

    pieces: dict[str, str] = {}
    parts: list[str] = []
    end = 0
    # There are 65,520 signs: what a longer text holds behind them is not hidden.
    for code, (start, stop) in zip(_SIGNS, hidden, strict=False):
        if start >= end:  # an address may stand in the mark of a list
            # One sign for each letter that is hidden, so that all positions stay what they were.
            pieces[chr(code)] = text[start:stop]
            parts += [text[end:start], chr(code) * (stop - start)]
            end = stop
    return Masked("".join([*parts, text[end:]]), pieces)


def _meets(span: Span, others: Iterable[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


def _apart(text: str, hidden: Sequence[Span]) -> Iterator[Span]:
    """The codes that meet nothing of what is hidden; both are in order of position."""
    codes = [match.span() for match in _CODE.finditer(text)]
    following, done = 0, 0
    for start, end in sorted([*codes, *_signs(text)]):
        # The first hidden span that does not end before this code.
        while following < len(hidden) and hidden[following][1] <= start:
            following += 1
        if start >= done and (following == len(hidden) or end <= hidden[following][0]):
            done = end
            yield start, end


def _signs(text: str) -> Iterator[Span]:
    """The tokens that are signs of code, without the marks of the sentence round them."""
    for token in _TOKEN.finditer(text):
        # Most tokens are plain words: told by these quick tests, they need none of the patterns.
        is_plain = token[0].isalpha() and (token[0].islower() or token[0].istitle())
        if not is_plain and is_sign(token[0]):
            bare = _ROUND.fullmatch(token[0])
            if bare and bare["core"]:
                is_closed = bare["closing"] and any(opening in bare["core"] for opening in "([")
                end = bare.end("closing") if is_closed else bare.end("core")
                yield token.start() + bare.start("core"), token.start() + end


def code_spans(text: str) -> tuple[Span, ...]:
    """The lines of code and data without a fence."""
    return _structure(text).code


def is_hidden(part: str) -> bool:
    """Whether a part of a masked text holds anything that is hidden."""
    return _RUN.search(part) is not None


def in_prose(text: str, split: Callable[[str], Iterable[Span]]) -> list[Span]:
    """The spans into which `split` cuts each piece of prose, as spans of the text.

    A piece is a line, a paragraph whose lines were broken at a width, or an item of a list with its mark.
    Code, tables and headings are in no piece. `split` gets pieces of the masked text. Bold words are not cut.
    """
    shown = masked(text).text
    spans = list[Span]()
    for start, end in _structure(text).pieces:
        for a, b in split(shown[start:end]):
            # The last span opened bold words and did not close them: what follows belongs to it.
            if spans and spans[-1][0] >= start and text.count("**", *spans[-1]) % 2:
                spans[-1] = spans[-1][0], start + b
            else:
                spans.append((start + a, start + b))
    return spans


def mark_spans(text: str) -> tuple[Span, ...]:
    """The marks of the items of lists, in order of position."""
    return _structure(text).marks


def mark_length(text: str, start: int) -> int:
    """Characters of the mark of a list at a position, with the white space behind it; 0 without one."""
    end = _mark_ends(text).get(start, start)
    while start < end < len(text) and text[end] in " \t":
        end += 1
    return end - start


@functools.lru_cache(maxsize=256)
def _mark_ends(text: str) -> Mapping[int, int]:
    return dict(_structure(text).marks)


@dataclass(frozen=True, slots=True)
class _Structure:
    """What a text is made of, each in order of position."""

    pieces: tuple[Span, ...]
    fixed: tuple[Span, ...]
    marks: tuple[Span, ...]
    code: tuple[Span, ...]
    """Lines of code without a fence, which are also fixed."""


@functools.lru_cache(maxsize=_REMEMBERED)
def _structure(text: str) -> _Structure:
    # Which lines are no prose: by Markdown, or as code without a fence.
    lines = list(_lines(text))
    shown = [text[a:b] for a, b in lines]
    # By Markdown alone; lines of code without a fence are added below.
    fixed = _fixed_lines(shown)
    # Inverted, as `code_lines` asks for the lines that it may mark.
    may_be_prose = [not each for each in fixed]
    is_maskable = not _RUN.search(text)  # else no code could be hidden
    code = code_lines(shown, may_be_prose) if is_maskable else [False] * len(lines)
    fixed = [marked or of_code for marked, of_code in zip(fixed, code, strict=True)]

    # Within the lines that are left: marks of lists at their start, inline Markdown, lists that run on.
    items: dict[int, Span] = {}
    for i, (a, b) in _items(shown, fixed):
        begin = lines[i][0]
        items[i] = (begin + a, begin + b)
    inline: list[Span] = []
    for (a, b), is_fixed in zip(lines, fixed, strict=True):
        if not is_fixed and _INLINE_SIGN.search(text, a, b):
            inline += [match.span() for match in _INLINE.finditer(text, a, b)]
    inside: list[Span] = []
    for i, (a, b) in enumerate(lines):
        if not fixed[i]:
            # The mark at the start of the line is known already, and counts as the first of the row.
            behind_mark = (items[i][1], b) if i in items else (a, b)
            marks = _inside(text, behind_mark, i in items)
            inside += [span for span in marks if not _meets(span, inline)]

    # The pieces of prose: paragraphs, cut before each item of a list that runs on in them.
    cuts = [start for start, _ in inside]
    pieces: list[tuple[int, int]] = []
    for a, b in _paragraphs(lines, shown, fixed, items):
        bounds = [a, *(cut for cut in cuts if a < cut < b), b]
        pieces += pairwise(bounds)
    return _Structure(
        pieces=tuple(pieces),
        fixed=tuple(sorted([*_marked(lines, fixed), *inline])),
        marks=tuple(sorted([*items.values(), *inside])),
        code=tuple(_marked(lines, code)),
    )


def _marked(lines: Sequence[Span], marks: Sequence[bool]) -> list[Span]:
    """The lines that are marked and not empty."""
    return [(a, b) for (a, b), mark in zip(lines, marks, strict=True) if mark and a < b]


def _lines(text: str) -> Iterator[Span]:
    """The lines without their ends."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n"))
        start += len(line)


def _fixed_lines(lines: Sequence[str]) -> list[bool]:
    """Whether each line belongs to code, a table or a heading."""
    fixed, fence, table = [False] * len(lines), "", False
    for i, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fixed[i] = True
            if mark and mark[1].startswith(fence):  # a longer mark ends it as well
                fence = ""
        elif mark and _is_fence(mark, lines[i + 1 :]):
            fixed[i], fence = True, mark[1]
        elif "|" in line and _TABLE_RULE.fullmatch(line):
            fixed[i] = table = True
            fixed[max(i - 1, 0)] = True  # the heads of the columns
        elif table and "|" in line:
            fixed[i] = True
        else:
            # A line without a bar ends the table.
            table = False
            fixed[i] = _HEADING.fullmatch(line) is not None
            if i and lines[i - 1].strip() and _UNDERLINE.fullmatch(line):  # a heading with `===` below it
                fixed[i - 1] = fixed[i] = True
    return fixed


def _is_fence(mark: re.Match[str], behind: Sequence[str]) -> bool:
    """Whether a mark begins code: tildes without others behind them underline a heading."""
    if mark[1][0] == "`":
        return True
    return any(line.strip().startswith(mark[1]) for line in behind)


def _items(lines: Sequence[str], fixed: Sequence[bool]) -> Iterator[tuple[int, Span]]:
    """The lines that begin with the mark of a list, and where it stands in them.

    A number with a full stop may also be the end of a sentence that was broken there ("am / 3. Mai"): it
    counts if a list can begin there, or has begun. A letter may be an initial, and a word with a number
    ("Step 1:") a name: they count if the second one of the list is there too. So does a dash, behind which
    may stand who said what is above it.
    """
    matches: dict[int, re.Match[str]] = {}
    for i, line in enumerate(lines):
        item = None if fixed[i] else _ITEM.match(line)
        if item:
            matches[i] = item
    letters = {item["letter"] for item in matches.values()}
    labels = {(item["label"], item["which"]) for item in matches.values()}
    dashes = sum(map(_is_dash, matches.values()))

    begun = False
    for i, item in matches.items():
        line = lines[i]
        before = lines[i - 1] if i and not fixed[i - 1] else ""
        if item["number"] is not None:
            can_begin = int(item["number"]) == 1 or not before.strip() or _END.search(before) is not None
            counts = begun or can_begin
        elif _is_dash(item):
            counts = dashes > 1
        elif item["label"] is not None:
            counts = {(item["label"], "1"), (item["label"], "2")} <= labels
        elif item["letter"] is not None:
            first_two = {"A", "B"} if item["letter"].isupper() else {"i", "ii"}
            counts = first_two <= letters
        else:
            counts = True  # no other mark stands in prose at the start of a line
        if counts:
            begun = True
            # White space before the mark is no part of it, nor is that behind it.
            blank = len(line) - len(line.lstrip())
            yield i, (blank, len(item.group().rstrip()))


def _is_dash(item: re.Match[str]) -> bool:
    return item.group().lstrip()[:1] in _DASHES


def _inside(text: str, span: Span, behind_mark: bool) -> list[Span]:
    """The marks of a list that runs on in one line: 1, 2, ... or a, b, ..., at least two of them."""
    if not _INSIDE_SIGN.search(text, *span):
        return []
    row: list[Span] = []
    expected = 2 if behind_mark else 1
    for match in _INSIDE.finditer(text, *span):
        name = match["point"] or match["bracket"]
        # `b` is 2, as `2` is.
        number = int(name) if name.isdecimal() else ord(name) - ord("a") + 1
        # A number that does not follow on is one of the text: "in version 3.".
        if number == expected:
            start = match.end() - len(match.group().lstrip('"”’) \t'))
            row.append((start, match.end()))
            expected += 1
    return row if len(row) + behind_mark > 1 else []


def _paragraphs(
    lines: Sequence[Span], shown: Sequence[str], fixed: Sequence[bool], items: Iterable[int]
) -> Iterator[Span]:
    """Lines, but those that were broken at a width, which are one piece together."""
    group: list[int] = []

    def pieces() -> Iterator[Span]:
        if len(group) == 1:  # most paragraphs
            yield lines[group[0]]
            return
        if len(group) > 1 and _is_heading(shown[group[0]], shown[group[1]]):
            yield lines[group.pop(0)]
        # The widest line of the paragraph shows the width at which it was broken.
        width = max((columns(shown[i].rstrip()) for i in group), default=0)
        # One line that goes on in the next shows that a program broke all of them.
        for a, b in pairwise(group):
            if _runs_on(shown[a], shown[b]) or _is_full(shown[a], shown[b], width):
                yield lines[group[0]][0], lines[group[-1]][1]
                return
        for i in group:
            yield lines[i]

    for i, line in enumerate(shown):
        if fixed[i] or not line.strip() or i in items:
            yield from pieces()
            group = []
        if not fixed[i] and line.strip():
            group.append(i)
    yield from pieces()


_WIDTHS = range(60, 101)
"""Columns at which texts are usually broken into lines."""
_LONG = 40
"""Characters of a line that is no greeting and no heading, so that the next line goes on behind a comma."""
_OPENERS = frozenset(
    "the a an of and or der die den dem des ein eine einen einem einer und oder dass "
    "el la los las un una de del y que le les du et ou".split()
)
"""Words with which no sentence ends, so that it goes on in the next line."""
_HEADING_COLUMNS, _HEADING_WORDS = 30, 4
_LATIN_WORD = re.compile(r"[!-~]+")


def _is_heading(line: str, following: str) -> bool:
    """Whether the first line of a paragraph is a heading or a greeting: a short one with which no sentence
    ends, though the next one begins with a capital."""
    if columns(line.strip()) > _HEADING_COLUMNS or len(line.split()) > _HEADING_WORDS:
        return False
    begun = following.lstrip(" \t\"'“‘(")[:1]
    return begun.isupper() and not _END.search(line) and not _runs_on(line, following)


def _is_full(line: str, following: str, width: int) -> bool:
    """Whether a line that ends no sentence is as wide as its paragraph: the next word did not fit into it."""
    taken = columns(line.rstrip())
    return taken in _WIDTHS and taken + _next_word(line, following) > width and not _END.search(line)


def columns(text: str) -> int:
    """How many columns a text takes: a Chinese or Japanese character takes two."""
    if not _MAYBE_WIDE.search(text):
        return len(text)
    widths = map(unicodedata.east_asian_width, text)
    return len(text) + sum(width in ("W", "F") for width in widths)


_MAYBE_WIDE = re.compile("[\u1100-\u115f\u2300-\U0010ffff]")
"""Characters among which are all letters and marks that take two columns."""


def _next_word(line: str, following: str) -> int:
    """Columns that the first word of the next line would have taken in a line, with the space before it.

    Chinese and Japanese lines are broken anywhere, but not before or behind certain marks, which go along.
    """
    start = following.lstrip()
    # Letters that take one column on either side of the break: words are set apart by spaces.
    is_narrow = columns(line.rstrip()[-1]) == 1 == columns(start[0])
    if is_narrow:
        return 1 + columns(start.split(maxsplit=1)[0])
    latin = _LATIN_WORD.match(start)
    going_along = columns(latin.group()) if latin else _WIDE  # a mark that may not begin a line
    return _WIDE + going_along


_WIDE = 2
"""Columns of a Chinese or Japanese character."""


def _runs_on(line: str, following: str) -> bool:
    """Whether a sentence goes on in a line.

    It does if that line begins in lower case, or with a number that is no mark; if the line before it ends
    with a word that opens something; and if that is a long one, with a comma or in capitals as the next one.
    """
    if _END.search(line):
        return False
    first = _START.match(following)
    if (first is not None and first[1].islower()) or _ITEM.match(following):
        return True
    if line.split()[-1] in _OPENERS:
        return True
    in_capitals = line.isupper() and following.isupper()
    return len(line.strip()) >= _LONG and (in_capitals or line.rstrip().endswith(","))
