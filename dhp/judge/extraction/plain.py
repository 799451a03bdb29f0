"""An answer in plain characters, line by line, without what it only quotes.

In this order: `readable` takes the model's thoughts away and cuts what is far too long, `plain` takes markup
away and writes all characters in one way, `unquoted` puts a mark for each quotation.
"""

import re
import unicodedata
from re import Match

from dhp.core.reasoning import unknown_mark, without_reasoning
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.words import any_of

UNKNOWN_MARK = "unknown marks of thinking"
"""How the reason begins why an answer that opens with such marks is not read."""
_LONGEST = 40_000
"""Characters of an answer that are read, so that a text of any length is read in well under a second."""
_CHARACTERS = str.maketrans(
    dict.fromkeys("*`\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f\u20e3", "")
    | dict.fromkeys("–—―−﹣‐‑", "-")
    | {
        "’": "'",
        "‘": "'",
        "⁄": "/",
        "\u2581": " ",
        "_": " ",
        "\r": "\n",
        "〜": "~",
        "≈": "~",
        "→": ":",
        "٫": ".",
        "½": ".5",
        "¼": ".25",
        "¾": ".75",
        "٪": "%",
        "\u2028": "\n",
        "\u2029": "\n",
        "\x0b": "\n",
        "\x0c": "\n",
    }
)
"""Character -> how it is written; none for marks of emphasis and what is not seen: soft hyphens, marks of
width, of direction and of emoji."""
_NO_DIGITS = re.compile(r"[\u00b2\u00b3\u00b9\u2070-\u209f\u2150-\u218f\u2460-\u24ff\u2776-\u2793]")
"""Raised, circled and Roman numbers, which are marks of notes and lists: `4²`, `③`, `Ⅳ`."""
_DIGIT = re.compile(r"(?![0-9])\d")
"""A digit of another script, `٤`."""
_MARKUP = (
    # A fence of code: ```json
    ("`", re.compile(r"```\w*"), "\n"),
    # The mark of an item at the beginning of a line: * clear
    ("*", re.compile(r"(?m)^[ \t]{0,8}\*(?=[ \t])"), "-"),
    # An arrow: Rating => 4
    (">", re.compile(r"[-=]+>"), ":"),
    # What is struck out: ~~3~~ 4
    ("~", re.compile(r"~~[^~\n]{1,80}~~"), " "),
    # LaTeX: \frac{4}{5}, \text{Rating}, \boxed{4}, \(4\), $$4$$, $4$
    ("\\", re.compile(r"\\[dt]?frac\{([^{}\n]{1,9})\}\{([^{}\n]{1,9})\}"), r"\1/\2"),
    ("\\", re.compile(r"\\(?:text(?:bf)?|mathbf|mathrm)\{([^{}\n]{1,40})\}"), r"\1"),
    ("\\", re.compile(r"\\boxed\{([^{}\n]{1,40})\}"), r"[[\1]]"),
    ("\\", re.compile(r"\\[()\[\]]"), ""),
    ("$", re.compile(r"\$\$"), ""),
    ("$", re.compile(r"\$([^$\n]{1,40})\$"), r"\1"),
    # A footnote: [^1]
    ("^", re.compile(r"\[\^\w{1,9}\]"), " "),
    # HTML of the look of words: <b>4</b>
    ("<", re.compile(r"</?(?:b|i|u|p|s|br|em|strong|span|div)\b[^<>\n]{0,80}>", re.I), ""),
    # A text that is repeated between tags: <summary>Score: 1</summary>
    ("<", re.compile(r"<(text|summary|article|source|document|input|example)>[^<]{0,4000}</\1>", re.I), "“”"),
    # A special token of a chat template: <|im_end|>
    ("<", re.compile(r"<\|[^|<>\n]{1,30}\|>"), " "),
    # Any other tag is a label, <score>4</score>, and ends where it is closed.
    ("<", re.compile(r"<([a-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>", re.I), r"\n\1: "),
    ("<", re.compile(r"</[a-z][\w-]{0,40} ?>", re.I), "\n"),
    # The result of a sum as models are taught to mark it: #### 4
    ("#", re.compile(r"(?m)^[ \t]{0,8}####[ \t]*(-?\d{1,3}(?:[./]\d{1,3})?)[ \t]*$"), r"[[\1]]"),
    # A heading: ## Rating, and ##Rating, but no #1
    ("#", re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}(?=[ \t])|#{2,6}(?=[A-Za-z*]))"), ""),
    # An arrow as the mark of a line: ➡️ Rating: 4
    ("\u27a1", re.compile(r"(?m)^[ \t]{0,8}\u27a1\ufe0f?(?=[ \t]{0,8}[A-Za-z*])"), ""),
)
"""A sign without which there is no such markup, what is written, and what is kept of it.

The order counts: what has a meaning of its own stands before what is taken away (`<summary>` before any other
tag, `#### 4` before headings). Bounds such as `{1,40}` keep the search fast.
"""
_SPACES = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")
"""A tab, or two spaces and more; a single space stays and is no match."""
_AT_LINES = re.compile(r" \n ?|\n ")
"""Spaces at the end or beginning of a line."""
_QUOTED = re.compile(r"“[^“”\n]*[”“\n]|[„«][^”“»\n]*(?:[”“»\n]|\Z)|[「『][^」』]*(?:[」』]|\Z)|“[^\n]*")
"""`“not a 4”`, `„4“`, `«4»`, `「4」`; if the end mark is missing, up to the end of the line."""
_SINGLE = re.compile(
    r"(?<![^\s(\[:=-])'(?=\S)[^'\n]{0,400}(?:(?<=[a-z])'(?=[a-z])[^'\n]{0,200}){0,9}(?:'(?![a-z])|(?=\n)|\Z)",
    re.I,
)
"""`'it is a 4'` with apostrophes of words in it, `'it doesn't end'`, and no apostrophe of a word itself."""
_SHORT = re.compile(r"[\w+./-]{1,20}(?: [\w+./-]{1,20})?\Z")
"""One or two words, or a number: `4/5`, `Response A`"""
_BEFORE_VALUE = re.compile(r"(?:[:=>|]|\bis|\A|\n)\s*\Z")
"""The end of what leads to a value: `Rating: `, `the score is `, or the beginning of a line."""
_KEY = re.compile(r"\s*:")
"""Behind a quoted key: `"rating": 4`"""
_QUOTE = "“”"
"""What stands instead of a quotation."""
SAYS = any_of("speaks")
"""Words that tell that somebody else speaks: `the reviewer wrote`."""
AS_ASKED = re.compile(
    r"\b(?:as|you|the|in the) (?:requested|asked|instructed)\b(?: (?:json|format|output|rating|score))?", re.I
)
"""Words in which a judge speaks of its own answer: `in the requested format`."""
_REPORTS = re.compile(rf"(?:{SAYS})[^\n:]{{0,80}}:\Z", re.I)
"""A line that announces words of somebody else: `The reviewer wrote in 2020:`"""


def readable(text: str) -> str | Extracted:
    """An answer without the model's thoughts, or why it has no score if they cannot be told apart."""
    words = without_reasoning(text)
    if words is None:
        return UNPARSED
    mark = unknown_mark(words)
    return Extracted("unparsed", rule=f"{UNKNOWN_MARK}: {mark}") if mark else shortened(words)


def shortened(text: str) -> str:
    """A text of at most `_LONGEST` characters: beginning and end of a longer one, cut at spaces."""
    if len(text) <= _LONGEST:
        return text
    head, tail = text[: _LONGEST // 2], text[-_LONGEST // 2 :]
    # A word that is cut might read as another one: of `40` a `4`.
    return re.sub(r"\S+\Z", "", head) + "\n" + re.sub(r"\A\S+", "", tail)


def plain(text: str) -> str:
    """Plain characters (NFKC, digits of all scripts as 0 to 9), single spaces, no markup; lines are kept.

    `**Rating：**  ４／５` is `Rating: 4/5`.
    """
    for sign, pattern, kept in _MARKUP:
        if sign in text:
            text = pattern.sub(kept, text)
    if not text.isascii():
        # Before NFKC, which would make `4²` the number 42, and `½` the digits 1 and 2.
        text = _NO_DIGITS.sub("^", text.translate(_CHARACTERS))
        text = unicodedata.normalize("NFKC", text)
        text = _DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0])), text)
    # Again, as NFKC writes some characters as such that the table changes.
    text = text.translate(_CHARACTERS)
    text = _SPACES.sub(" ", text)
    if "\n" in text:
        text = _AT_LINES.sub("\n", text)
    return text.strip()


def unquoted(text: str) -> str:
    """A plain text with a mark instead of each quotation, and without blocks in which somebody else speaks.

    A quoted word or number that is the whole answer, or stands behind a label, is kept without its marks.
    """
    if '"' in text:
        text = _without_straight_quotes(text)
    if "'" in text:
        text = _SINGLE.sub(_replaced, text)
    if not text.isascii():
        text = _QUOTED.sub(_replaced, text)
    return _without_reported(text) if ":" in text else text


def _replaced(match: Match[str]) -> str:
    """What stands instead of a quotation in other marks than `"`."""
    inner = match[0].strip("'“”„«»「」『』\n").strip()
    kept = inner if _is_value(match.string, match.start(), match.end(), inner) else _quotation(inner)
    return f"{kept}\n" if match[0].endswith("\n") else kept


def _quotation(inner: str) -> str:
    """The mark of a quotation, which may end a sentence."""
    return _QUOTE + inner[-1] if inner.endswith((".", "!", "?")) else _QUOTE


def _is_value(text: str, start: int, end: int, inner: str) -> bool:
    """Whether a quotation is a short value behind a label, or a key: `Rating: "4"`, `"rating": 4`."""
    if not _SHORT.match(inner):
        return False
    is_labelled = _BEFORE_VALUE.search(text, max(0, start - 12), start) is not None
    return is_labelled or _KEY.match(text, end) is not None


def _without_straight_quotes(text: str) -> str:
    """Quotations between straight double marks, which pair in the order in which they stand.

    With an odd number they pair line by line, and the last of a line quotes all that follows in it.
    """
    if text.count('"') % 2:
        return "\n".join(_paired(line) for line in text.split("\n"))
    return _paired(text)


def _paired(text: str) -> str:
    """The text with every second piece between straight marks replaced, as it is quoted."""
    kept: list[str] = []
    end = -1  # where the mark behind the last piece stands
    for number, piece in enumerate(text.split('"')):
        start, end = end, end + 1 + len(piece)
        is_quoted = number % 2 == 1
        if is_quoted and not _is_value(text, start, end + 1, piece.strip()):
            piece = _quotation(piece)
        kept.append(piece)
    return "".join(kept)


def _without_reported(text: str) -> str:
    """The text without what is reported: the lines up to a blank one below `The reviewer wrote:`."""
    kept: list[str] = []
    reports = reported = False  # whether the line before announces words of others, and whether it is such
    for line in text.split("\n"):
        if not line:
            reported = False
        elif reported or reports:
            reports, reported = False, True
            continue
        else:
            reports = line.endswith(":") and _REPORTS.search(AS_ASKED.sub("", line)) is not None
        kept.append(line)
    return "\n".join(kept)
