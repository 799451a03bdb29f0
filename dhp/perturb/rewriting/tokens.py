"""A sentence as tokens that know the white space before them, so that any style of writing is kept."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dhp.perturb.rewriting.lexicon import CLOSED, known

_CHUNK = re.compile(r"(\s*)(\S+)")
_OPENING = re.compile(r"``|''|[(\[{\"'“‘`«]")
_CLOSING = re.compile(r"(?:''|\.\.\.|[,;:!?)\]}\"'”’»…])$")
_STOP = re.compile(r"(?:''|\.\.\.|[.,;:!?)\]}\"'”’»…])$")
_CLITIC = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)
_CLITICS = re.compile(r"n['’]t|['’](?:s|re|ve|ll|d|m)", re.IGNORECASE)
_END = {".", "!", "?", "...", "…"}
_QUOTES = {'"', "“", "”", "``", "''", "'", "‘", "’", "«", "»", "`"}
_PAIRS = {'"': '"', "“": "”", "``": "''", "‘": "’", "'": "'", "«": "»"}
_CAPITAL = re.compile(r"(?<=[a-z,;0-9] )[A-Z][\w-]+")
_TELLING = 400
"""Characters of a source."""
_MARK = re.compile(r"(.)[.,;](?=\s|$)", re.DOTALL)
_LOWER = re.compile(r"(?<![\w'’-])[a-z][\w-]*")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark; a clitic such as `'s` or `n't` is a token of its own."""

    text: str
    gap: str = " "
    """The white space before it."""
    fixed: bool = False
    """Whether it is quoted, so that it must stay as it is."""

    @property
    def low(self) -> str:
        """In lower case, with straight apostrophes."""
        return self.text.lower().replace("’", "'")

    @property
    def name(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.text[:1].isupper()


Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Style:
    """How a text sets marks, and how it and its source write words inside a sentence."""

    text: str
    """Both, to look up names of two words."""
    spaced: bool
    """Whether marks mostly stand apart from words, as in tokenised text."""
    cased: bool
    """False for a text that is in lower case throughout."""
    telling: bool
    """Whether the source is long enough for a name to stand there inside a sentence."""
    small: frozenset[str]
    """Words mostly in lower case."""
    great: frozenset[str]
    """Words mostly with a capital."""

    @classmethod
    def of(cls, text: str, source: str) -> "Style":
        """Read off the text and its source."""
        both = f"{text}\n{source}"
        great = Counter(word.lower() for word in _CAPITAL.findall(both))
        small = Counter(_LOWER.findall(both))
        marks = _MARK.findall(text)
        return cls(
            both,
            2 * sum(map(str.isspace, marks)) > len(marks),
            any(map(str.isupper, text)),
            len(source) > _TELLING,
            frozenset(word for word in small if small[word] > great[word]),
            frozenset(word for word in great if great[word] >= small[word]),
        )

    def lowered(self, tokens: Tokens) -> Tokens | None:
        """The start of a sentence moved inside it; None where its first word may or may not be a name."""
        first, word = tokens[0], tokens[0].low
        if not first.name or word in ("i", "<") or any(c.isupper() or c.isdigit() for c in first.text[1:]):
            return tokens
        small = (replace(first, text=first.text[0].lower() + first.text[1:]), *tokens[1:])
        if word in CLOSED:
            return small
        if word in self.small - self.great and not (len(tokens) > 1 and tokens[1].name):
            return small
        if word in self.great or not known(word.split("-")[0]):
            return tokens
        if len(tokens) > 1 and tokens[1].name:
            together = re.search(rf"[a-z,] {re.escape(first.text)} {re.escape(tokens[1].text)}", self.text)
            return tokens if together or word not in self.small else small
        return small if self.telling else None

    def raised(self, tokens: Tokens) -> Tokens:
        """The inside of a sentence moved to its start."""
        if not self.cased:
            return tokens
        first = tokens[0]
        return (replace(first, text=first.text[:1].upper() + first.text[1:]), *tokens[1:])


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence taken apart."""

    body: Tokens
    end: Tokens
    """The full stop or other end mark, with closing quotation marks behind it."""
    style: Style
    movable: bool
    """Whether its parts may change places: not where a quotation or an abbreviation ends it, nor in fewer
    than four tokens."""

    @classmethod
    def of(cls, text: str, style: Style) -> "Sentence | None":
        """Take a sentence apart; None where a quotation or bracket is not closed in it."""
        tokens = _quoted(tokenised(text))
        if tokens is None or not _balanced(tokens):
            return None
        size = len(tokens)
        while size and tokens[size - 1].text in _END | _QUOTES and _is_end(tokens, size - 1):
            size -= 1
        body, end = tokens[:size], tokens[size:]
        if not body:
            return None
        quoted = any(t.text in _QUOTES for t in end)
        return cls(body, end, style, len(body) > 3 and not quoted and not _abbreviated(body[-1]))

    @property
    def comma(self) -> Token:
        """A comma in the style of the sentence."""
        return Token(",", " " if self.style.spaced else "")

    def written(self, body: Tokens) -> str:
        """The sentence with another body."""
        return write((replace(body[0], gap=""), *body[1:], *self.end))


def _is_end(tokens: Tokens, i: int) -> bool:
    """Whether a mark is an end mark or a quotation mark behind one."""
    return tokens[i].text in _END or any(t.text in _END for t in tokens[max(0, i - 2) : i])


def _abbreviated(token: Token) -> bool:
    return "." in token.text or token.low in ("inc", "jr", "sr", "etc", "al", "co", "ltd")


def tokenised(text: str) -> Tokens:
    """Split at white space, then split off marks and clitics; the tokens with their gaps give the text."""
    chunks = [m.groups() for m in _CHUNK.finditer(text)]
    tokens: list[Token] = []
    for n, (gap, chunk) in enumerate(chunks):
        closing = _STOP if n >= len(chunks) - 2 else _CLOSING
        parts = [chunk] if _CLITICS.fullmatch(chunk) else list(_parts(chunk, closing))
        tokens += [Token(part, "" if k else gap) for k, part in enumerate(parts)]
    return tuple(tokens)


def _parts(chunk: str, closing: re.Pattern[str]) -> Iterable[str]:
    while len(chunk) > 1 and (m := _OPENING.match(chunk)) and m.end() < len(chunk):
        yield m.group()
        chunk = chunk[m.end() :]
    behind: list[str] = []
    while len(chunk) > 1 and (m := closing.search(chunk, len(chunk) - 3)) and m.start():
        behind.append(m.group())
        chunk = chunk[: m.start()]
    if m := _CLITIC.fullmatch(chunk):
        yield from m.groups()
    else:
        yield chunk
    yield from reversed(behind)


def write(tokens: Iterable[Token]) -> str:
    """The text of tokens."""
    return "".join(t.gap + t.text for t in tokens)


def _quoted(tokens: Tokens) -> Tokens | None:
    """The tokens with those in quotation marks fixed; None where a quotation stays open."""
    closing = ""
    marked: list[Token] = []
    for i, token in enumerate(tokens):
        opens = token.text in _PAIRS and not closing
        if opens and token.text in "'’":
            opens = (i == 0 or bool(token.gap)) and i + 1 < len(tokens) and not tokens[i + 1].gap
        if opens:
            closing = _PAIRS[token.text]
            marked.append(replace(token, fixed=True))
            continue
        marked.append(replace(token, fixed=bool(closing)))
        if closing and token.text == closing:
            closing = ""
        elif token.text in ('"', "”", "''", "``", "“") or (token.text == "'" and _astray(tokens, i)):
            return None
    return None if closing else tuple(marked)


def _astray(tokens: Tokens, i: int) -> bool:
    """Whether an apostrophe closes a quotation that opens elsewhere, instead of marking an owner."""
    return i == 0 or not tokens[i - 1].text[-1].isalpha() or not tokens[i - 1].low.endswith(("s", "x", "z"))


def _balanced(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.text in "([{") - (token.text in ")]}")
        if depth < 0:
            return False
    return depth == 0
