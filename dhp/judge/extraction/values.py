"""Numbers, stars and letters as answers write them, each read at one place of a plain text.

A reader is called where `NUMBER` or `LETTER` says that a value may begin. It reads the longest value there,
with its unit and with the maximum that stands beside it (`4/5`, `4 out of 5`, `80 %`, `★★★☆☆`). A number of
another maximum than that of the scale is read as NaN: it is a rating, but none on the scale.
"""

import functools
import math
import re
from collections.abc import Callable
from re import Match
from typing import NamedTuple

from dhp.core.specs import Scale


class Value(NamedTuple):
    """What stands at a place of a text."""

    number: float
    """Value on the asked scale; NaN on another one."""
    end: int
    """Where the text goes on behind it."""
    rule: str = ""
    """`stars` or `fraction` if it is one of these; `stated` or `worse` of a text that is said to be so."""


ReadValue = Callable[[str, int], Value | None]
"""Reads the value that begins at a place of a text; None if none does."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = {word: number for number, word in enumerate(_UNITS[:11])}
"""Zero to ten in words."""
_NUMBERS = {word: number for number, word in enumerate(_UNITS)}
_NUMBERS |= {word: 10 * number for number, word in enumerate(_TENS, start=2)}
"""Zero to nineteen and the tens; all words to 99 are made of them."""
HAN = {han: number for number, han in enumerate("零一二三四五六七八九")} | {"两": 2}

# Patterns of one number. Of several that begin alike the longer one stands first, as the first that fits is
# taken: `seventeen` before `seven`, `1,000` before `1`.

_WORD = (
    rf"(?:one |a )?hundred|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?"
    rf"|{'|'.join(sorted(_UNITS, key=len, reverse=True))}"
)
"""`a hundred`, `eighty-five`, `four`"""
_HAN_WORD = (
    r"[零一二两三四五六七八九十百]{1,5}(?:点[零一二三四五六七八九])?(?=\s*(?:分(?![之析别布类为明成辨段])"
    r"|颗?星|点|$|[。.,;:!)\n]))"
)
"""`四` of `四分`, `三点五` of `三点五。`, and no 一 of `一致` (consistent), 二 of `二分之一` (a half)."""
_SIGN = r"(?:[+-] ?|(?:minus|negative|plus|positive) )?"
_PLAIN = rf"\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+[.,]\d+|\d+|\.\d+|{_HAN_WORD}|(?:{_WORD})\b"
"""`1,000`, `4.5` and `4,5`, `4`, `.5`, `四`, `four`"""
_HALF = (
    r"(?:[ -]and[ -]a[ -]half\b| 1/2(?!\d)| point (?:zero|one|two|three|four|five|six|seven|eight|nine)\b)?"
)
"""What may follow it: `4 and a half`, `4 1/2`, `four point five`"""
_STARS = r"(?P<stars>[★⭐🌟](?: ?[★⭐🌟]){0,99})(?P<half>\.5)?(?P<empty>(?: ?[☆✩✰]){0,99})"
"""`★★★☆☆`, and `★★★½`, which is `★★★.5` in plain characters"""
_NUMBER = re.compile(
    rf"(?P<sums>[(\d][\d+*/(). -]{{2,60}}= ?)?"  # `(4+3)/2 = 3.5`: the result is the number
    rf"(?P<sign>{_SIGN})(?P<plain>{_PLAIN})(?P<more>{_HALF})"
    r"(?![\d^])(?!\.{1,2}[\d.])(?!,\d)|"  # none: `4²` (in plain characters `4^`), `4.5.2`, `1..5`, `4,5,3`
    + _STARS,
    re.I,
)


def _tails() -> str:
    """A pattern of the number words behind their first letters: `hree` and `wo` if a `t` stands before."""
    starts = sorted((*_UNITS, *_TENS, "hundred", "a hundred"), key=len, reverse=True)
    branches = []
    for letter in "zotfsenah":
        tails = [word[1:] for word in starts if word[0] == letter]
        branches.append(f"(?<={letter})(?:{'|'.join(tails)})")
    return "|".join(branches)


# One character is taken, and the rest only looks around it. A set of characters first makes the search fast:
# the regular expression engine jumps from one of them to the next.
NUMBER = re.compile(
    r"[\d.+\-zotfsenah★⭐🌟零一二两三四五六七八九十百](?:"
    # A digit, point or sign that is no part of a longer thing: not the 2 of `v2`, `1/2`, `10^2`.
    r"(?<=[\d.+-])(?<![A-Za-z0-9_.,/^+-].)(?:(?<=\d)|(?<=\.)(?=\d)|(?<=[+-])(?=\d|\.\d))"
    # A word, `four`, but not that of `fourteenth`; a star.
    rf"|(?<!\w.)(?:{_tails()})\b|(?<=[★⭐🌟])"
    # A Chinese numeral before a unit or an end: `四分`.
    r"|(?<=[零一二两三四五六七八九十百])(?=[零一二两三四五六七八九十百点]{0,4}(?:点[零一二三四五六七八九])?"
    r"\s*(?:分|颗?星|点|\Z|[。.,;:!)\n])))",
    re.I,
)
"""Where a number may begin on a scale from zero or above."""
SIGNED_NUMBER = re.compile(
    rf"{NUMBER.pattern}|(?<![\w.,/^+-])(?:[+-] ?(?=\d)|(?:minus|negative|plus|positive) )", re.I
)
"""The same on a scale that goes below zero: at `- 1` and `minus one` as well."""
UNIT = (
    r"(?: ?-? ?(?:stars?|points?|pts|marks?|punkte?n?|sterne?n?|puntos?|estrellas?|punti|stelle|pontos?"
    r"|étoiles?"
    r"|баллов|балла?|звезды?)\b| ?(?:分半?(?:的(?:评分|评价|分数|得分|成绩)?)?|颗?星半?|点|점|つ星|개)"
    r"| ?[★⭐🌟](?! ?[★⭐🌟☆]))?"
)
"""What may be counted without a change of meaning: `4 points`, `4-star`, `4分的评分`, `4 ★`."""
_OF = (
    r" ?(?:/|\bout of\b|\bof\b|\bvon\b|\bsur\b|\bsu\b|\bde\b|\bin\b(?= (?:a|the) scale)|\bиз\b)"
    r" ?(?:(?:an?|the|possible|total|maximum|max|of) ){0,4}"
)
"""What parts a number from its maximum: `/`, `out of a possible`, `von`."""
_WHOLE = re.compile(
    rf"{UNIT}[)]?(?P<aside> ?\()?{_OF}(?P<whole>{_PLAIN}){UNIT}(?![\d.,]\d|%)(?(aside)\))", re.I
)
"""The maximum with that: ` out of 5 points`, `/5`, ` (out of 5)`"""
_STARS_WHOLE = re.compile(r"/[★⭐🌟](?: ?[★⭐🌟]){0,99}")
"""Behind stars: `/★★★★★`"""
_PERCENT = re.compile(r" ?(?:%|per ?cent\b)", re.I)
_UNIT = re.compile(UNIT, re.I)
_AND_A_HALF = re.compile(r"(?:分半|星半)")
"""`4分半` and `4星半` are 4.5."""
_FIRST_WHOLE = re.compile(
    rf"(?P<whole>{_PLAIN}|[零一二两三四五六七八九十百]{{1,5}})(?:点満点中|점 ?만점에|점 ?만점 ?중|分之) ?"
    rf"(?P<plain>{_PLAIN}|[零一二两三四五六七八九十百]{{1,5}}){UNIT}",
    re.I,
)
"""The maximum before the number: `5点満点中4点`, `5점 만점에 4점`, `五分之四`."""
_SPLIT_WORDS = re.compile(r"[- ]")
"""`eighty-five`, `eighty five`"""
_THOUSANDS = re.compile(r"\d+(?:,\d{3})+")
"""`1,000`: commas between groups of three digits, where `4,5` has a decimal one."""


def _from_han(text: str) -> float:
    """A Chinese numeral up to a few hundred: `三点五` 3.5, `八十五` 85."""
    whole, _, decimal = text.partition("点")
    total = digit = 0
    for character in whole:
        if character in "十百":
            unit = 10 if character == "十" else 100
            total += (digit or 1) * unit  # 十 alone is ten
            digit = 0
        else:
            digit = HAN[character]
    tenths = HAN[decimal] if decimal else 0
    return total + digit + tenths / 10


def _of_words(text: str) -> int:
    if text.endswith("hundred"):
        return 100
    return sum(_NUMBERS[word] for word in _SPLIT_WORDS.split(text))


def number_of(text: str) -> float:
    """The number that digits or a word of `_PLAIN` stand for."""
    if text[0] in "零一二两三四五六七八九十百":
        return float(_from_han(text))
    if text[0].isalpha():
        return float(_of_words(text.lower()))
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))


def _value(match: Match[str]) -> float:
    """The number of a match of `_NUMBER`."""
    if match["stars"]:
        half = 0.5 if match["half"] else 0.0
        return _count_of(match["stars"]) + half
    number = number_of(match["plain"])
    more = match["more"].strip().lower()
    if more.startswith("point"):  # `four point five`
        number += _NUMBERS[more.split()[1]] / 10
    elif more:  # `and a half`
        number += 0.5
    is_negative = match["sign"][:1].lower() in ("-", "m", "n")  # a sign, `minus`, `negative`
    return -number if is_negative else number


def _count_of(stars: str) -> int:
    return len(stars.replace(" ", ""))


def number_reader(scale: Scale) -> ReadValue:
    """Reads numbers and stars on a scale."""
    return functools.partial(_read_number, scale)


def _read_number(scale: Scale, text: str, start: int) -> Value | None:
    # The maximum may come first; nothing behind the number changes it then.
    whole_first = _FIRST_WHOLE.match(text, start)
    if whole_first is not None:
        number, whole = number_of(whole_first["plain"]), number_of(whole_first["whole"])
        return _of_whole(scale, number, whole, whole_first.end(), "fraction")
    match = _NUMBER.match(text, start)
    if match is None:
        return None

    # What is no number, and stars that are all there.
    sign = match["sign"] or ""
    if sign.endswith(" ") and sign[0] in "+-" and scale.min >= 0:  # a mark of a list
        return None
    if match["stars"]:
        of_all_stars = _of_all_stars(scale, match)
        if of_all_stars is not None:
            return of_all_stars

    # What stands behind the number: a half, its maximum, a unit.
    number, end = _value(match), match.end()
    if _AND_A_HALF.match(text, end):
        number += 0.5
    percent = _PERCENT.match(text, end)
    if percent is not None:
        return _of_whole(scale, number, 100, percent.end(), "")
    beside = _WHOLE.match(text, end)
    if beside is not None:
        if scale.min < 0:  # a part of a whole says nothing on a scale that goes below zero
            number = math.nan
        return _of_whole(scale, number, number_of(beside["whole"]), beside.end(), "fraction")
    has_stars = bool(match["stars"])
    unit = _UNIT.match(text, end)
    if unit is not None:
        has_stars = has_stars or re.search("star|星", unit[0], re.I) is not None
        end = unit.end()
    return Value(number, end, "stars" if has_stars else "")


def _of_all_stars(scale: Scale, match: Match[str]) -> Value | None:
    """Stars with all that there are beside them, `★★★☆☆` or `★★★/★★★★★`; None if only some are shown."""
    if match["empty"]:
        whole = _count_of(match["stars"]) + _count_of(match["empty"])
        if match["half"]:  # the star that is filled to a half
            whole += 1
        return _of_whole(scale, _value(match), whole, match.end(), "stars")
    beside = _STARS_WHOLE.match(match.string, match.end())
    if beside is None:
        return None
    whole = _count_of(beside[0].removeprefix("/"))
    return _of_whole(scale, _value(match), whole, beside.end(), "stars")


def _of_whole(scale: Scale, number: float, whole: float, end: int, rule: str) -> Value:
    """A number beside the maximum that it is of."""
    if whole != scale.max:
        number = math.nan
    return Value(number, end, rule)


def letter_reader(scale: Scale) -> ReadValue:
    """Reads letters; A is the lowest point of the scale."""
    return functools.partial(_read_letter, scale)


_LETTER = re.compile(
    r"(?:(?i:option|choice|选项|选) ?)?\(?"
    r"(?:([A-Z])|([a-z])(?=\)|\.?\s*\Z))\)?"  # a small letter only as `b)`, or at the end of the answer
    r"(?![\w'+])(?!-(?!\s))(?!\.\w)",  # none: `A's`, `A+`, `A-level`, `U.S`
    re.A,
)
"""`B`, `(B)`, `b)`, `Option B`"""
LETTER = re.compile(r"(?<![A-Za-z0-9.,/^'+-])\(?[A-Za-z](?![A-Za-z0-9_'])")
"""Where a letter may begin."""


def _read_letter(scale: Scale, text: str, start: int) -> Value | None:
    match = _LETTER.match(text, start)
    if match is None:
        return None
    letter = match[1] or match[2]
    place = ord(letter.upper()) - ord("A")
    return Value(scale.min + place, match.end())
