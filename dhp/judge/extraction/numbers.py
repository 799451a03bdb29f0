"""Normalised text of an answer, with every number in one notation.

Digits, words, Chinese numerals, fractions, percentages and star glyphs become tokens such as `⟦3.5⟧`, `⟦4/5⟧`
and `⟦85%⟧`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from re import Match

_LONGEST = 40_000
"""Characters of an answer that are read, so that a text of any length is read in well under a second."""
_HALVES = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75"})
_CHARACTERS = str.maketrans(
    dict.fromkeys("*`\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f⟦⟧", "")
    | dict.fromkeys("–—―", " - ")
    | dict.fromkeys("‐‑", "-")
    | {"−": "-", "’": "'", "⁄": "/", "\u2581": " ", "_": " ", "\r": "\n", "〜": "~"}
)
_MARKUP = (
    (re.compile(r"\\[dt]?frac\{([^{}\n]{1,9})\}\{([^{}\n]{1,9})\}"), r"\1/\2"),
    (re.compile(r"\\(?:text(?:bf)?|mathbf|mathrm)\{"), "{"),
    (re.compile(r"\$([^$\n]{1,40})\$"), r"\1"),
    (re.compile(r"<\|[^|<>\n]{1,30}\|>|</?s>"), " "),
    (re.compile(r"(?m)^[ \t]{0,8}#{1,6}(?=[ \t])"), ""),
)


def shortened(text: str) -> str:
    """A text of at most `_LONGEST` characters: beginning and end of a longer one, cut at spaces."""
    if len(text) <= _LONGEST:
        return text
    head, tail = text[: _LONGEST // 2], text[-_LONGEST // 2 :]
    return re.sub(r"\S+\Z", "", head) + "\n" + re.sub(r"\A\S+", "", tail)


def clean(text: str) -> str:
    """Plain characters (Unicode NFKC), single spaces, no markup; lines are kept."""
    text = unicodedata.normalize("NFKC", text.translate(_HALVES)).translate(_CHARACTERS)
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    return re.sub(r" ?\n ?", "\n", re.sub(r"[^\S\n]+", " ", text))


WORDS = {w: i for i, w in enumerate("zero one two three four five six seven eight nine ten".split())}
HAN = {han: i for i, han in enumerate("零一二三四五六七八九")} | {"两": 2}

TOKEN = r"⟦([^⟦⟧]{1,60})⟧"
"""Any token; its group is the value."""
PLAIN = r"⟦(-?[\di][^⟦⟧/%?]{0,30})⟧"
"""A token of a plain number."""
POINTS = r" ?(?:-? ?(?:stars?|points?)\b|分|颗?星)?"
"""What may be counted without a change of meaning."""

Rewrite = tuple[re.Pattern[str], str | Callable[[Match[str]], str]]

_HAN = "[零一二两三四五六七八九十百]{1,5}(?:点[零一二三四五六七八九])?"
_STAR = "[★⭐🌟]"
_LONE_STAR = rf"(?<![★⭐🌟☆]){_STAR}(?! ?[★⭐🌟☆])"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9⟦#$€£¥])(?<![A-Za-z]-)(?<!\d[.,])(?:"
    r"((?<!\d\s)(?<![\d)\]%])-)?"
    r"(\d{1,3}(?:,\d{3})+|\d+[.,]\d{1,2}|\d+\.\d+|\.\d+|\d+)"
    r"(?!\d|[.,]\d)(?!(?!(?:stars?|points?|pts|out)\b)[A-Za-z])"
    rf"|({'|'.join(WORDS)})\b)",
    re.I,
)


def token(value: float) -> str:
    """The token of a plain number."""
    return f"⟦{value:.10g}⟧"


def rewritten(text: str, rewrites: Iterable[Rewrite]) -> str:
    """The text after one rewrite after the other, with single spaces."""
    for pattern, plain in rewrites:
        text = re.sub(" {2,}", " ", pattern.sub(plain, text))
    return text


def _number(match: Match[str]) -> str:
    sign, digits, word = match.groups()
    if word:
        return token(WORDS[word.lower()])
    plain = digits.replace(",", "" if re.fullmatch(r"\d+(?:,\d{3})+", digits) else ".")
    return token(-float(plain) if sign else float(plain))


def _from_han(text: str) -> str:
    """A Chinese numeral up to a few hundred, in digits."""
    whole, _, decimal = text.partition("点")
    total = digit = 0
    for character in whole:
        if character in "十百":
            total, digit = total + (digit or 1) * (10 if character == "十" else 100), 0
        else:
            digit = HAN[character]
    return f"{total + digit}.{HAN[decimal]}" if decimal else str(total + digit)


def _from_glyphs(match: Match[str]) -> str:
    filled, half, empty = (len((group or "").replace(" ", "")) for group in match.groups())
    stars = f"{filled}.5" if half else str(filled)
    return f" {stars}/{filled + bool(half) + empty} stars " if empty else f" {stars} stars "


def _and_a_half(match: Match[str]) -> str:
    return token(float(match[1]) + 0.5)


_TO_DIGITS: tuple[Rewrite, ...] = (
    (re.compile(rf"(?m)^{_LONE_STAR}$"), "1 star"),
    (re.compile(rf"(\d) ?{_LONE_STAR}"), r"\1 stars"),
    (re.compile(_LONE_STAR), ""),
    (re.compile(rf"({_STAR}(?: ?{_STAR}){{0,99}})(\.5)?((?: ?[☆✩✰]){{0,99}})"), _from_glyphs),
    (re.compile(rf"({_HAN})分之({_HAN})"), lambda m: f"{_from_han(m[2])}/{_from_han(m[1])}"),
    (
        re.compile(rf"({_HAN}) ?([至到]) ?({_HAN})(?=[分星颗\s,。;:)]|$)"),
        lambda m: f"{_from_han(m[1])}{m[2]}{_from_han(m[3])}",
    ),
    (re.compile(rf"({_HAN})(?= ?(?:分(?![之析别布类为明成辨段])|颗|星))"), lambda m: _from_han(m[1])),
    (re.compile(rf"(?<![一-鿿])({_HAN})(?= ?(?:$|[。.,;:!?)\n]))"), lambda m: _from_han(m[1])),
)
_TO_TOKENS: tuple[Rewrite, ...] = (
    (_NUMBER, _number),
    (re.compile(rf"{PLAIN}[ -]and[ -]a[ -]half\b", re.I), _and_a_half),
    (re.compile(rf"{PLAIN} (?:and )?⟦1⟧ ?/ ?⟦2⟧"), _and_a_half),
    (re.compile(rf"{PLAIN} ?[个颗分星]{{1,2}}半星?"), lambda m: _and_a_half(m) + "分"),
    (re.compile(r"⟦(\d{1,3})⟧ point ⟦(\d)⟧", re.I), r"⟦\1.\2⟧"),
    (re.compile(rf"{PLAIN} ?(?:%|per ?cent\b)", re.I), r"⟦\1%⟧"),
)
FRACTION: Rewrite = (
    re.compile(
        rf"{PLAIN}{POINTS} ?(?:/|\b(?:out )?of\b) ?(?:(?:an?|the|possible|total|maximum|of) ){{0,4}}{PLAIN}",
        re.I,
    ),
    r"⟦\1/\2⟧",
)


def with_tokens(text: str) -> str:
    """The text with every number as a token; fractions are made of two by `FRACTION`."""
    return rewritten(text, (*_TO_DIGITS, *_TO_TOKENS))


def value_on(value: str, top: float) -> float | None:
    """What a token says on a scale up to `top`; NaN if on another one, None for a range (`?`)."""
    if value == "?":
        return None
    number, *whole = value.removesuffix("%").split("/")
    own_top = 100.0 if value.endswith("%") else float(whole[0]) if whole else top
    return float(number) if own_top == top else float("nan")
