"""Numbers, stars and letters as answers write them, each read at one place of a plain text."""

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
    """Value on the asked scale; NaN on another one, infinity where no single one is given."""
    end: int
    """Where the text goes on behind it."""
    rule: str = ""
    """`stars` or `fraction` where it is one of these."""
    share: float = math.nan
    """Of the maximum that stands beside it, where one does."""


ReadValue = Callable[[str, int], Value | None]
"""Reads the value that begins at a place of a text; None if none does."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen"
    " eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = {word: number for number, word in enumerate(_UNITS[:11])}
_NUMBERS = dict(zip(_UNITS, range(20), strict=True)) | {w: 10 * i for i, w in enumerate(_TENS, 2)}
HAN = {han: number for number, han in enumerate("零一二三四五六七八九")} | {"两": 2}

_WORD = (
    rf"(?:one |a )?hundred|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?"
    rf"|{'|'.join(sorted(_UNITS, key=len, reverse=True))}"
)
_HAN_WORD = (
    r"[零一二两三四五六七八九十百]{1,5}(?:点[零一二三四五六七八九])?(?=\s*(?:分(?![之析别布类为明成辨段])"
    r"|颗?星|点|$|[。.,;:!)\n]))"
)
_SIGN = r"(?:[+-] ?|(?:minus|negative|plus|positive) )?"
_PLAIN = rf"\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+[.,]\d+|\d+|\.\d+|{_HAN_WORD}|(?:{_WORD})\b"
_HALF = (
    r"(?:[ -]and[ -]a[ -]half\b| 1/2(?!\d)| point (?:zero|one|two|three|four|five|six|seven|eight|nine)\b)?"
)
_STARS = r"(?P<stars>[★⭐🌟](?: ?[★⭐🌟]){0,99})(?P<half>\.5)?(?P<empty>(?: ?[☆✩✰]){0,99})"
_NUMBER = re.compile(
    rf"(?P<sums>[(\d][\d+*/(). -]{{2,60}}= ?)?(?P<sign>{_SIGN})(?P<plain>{_PLAIN})(?P<more>{_HALF})"
    r"(?![\d^])(?!\.{1,2}[\d.])(?!,\d)|" + _STARS,
    re.I,
)
_STARTS = sorted((*_UNITS, *_TENS, "hundred", "a hundred"), key=len, reverse=True)
_TAILS = "|".join(
    rf"(?<={letter})(?:{'|'.join(word[1:] for word in _STARTS if word[0] == letter)})"
    for letter in "zotfsenah"
)
NUMBER = re.compile(
    r"[\d.+\-zotfsenah★⭐🌟零一二两三四五六七八九十百](?:"  # a set of characters first makes the search fast
    r"(?<=[\d.+-])(?<![A-Za-z0-9_.,/^+-].)(?:(?<=\d)|(?<=\.)(?=\d)|(?<=[+-])(?=\d|\.\d))"
    rf"|(?<!\w.)(?:{_TAILS})\b|(?<=[★⭐🌟])"
    r"|(?<=[零一二两三四五六七八九十百])(?=[零一二两三四五六七八九十百点]{0,4}(?:点[零一二三四五六七八九])?"
    r"\s*(?:分|颗?星|点|\Z|[。.,;:!)\n])))",
    re.I,
)
SIGNED_NUMBER = re.compile(
    rf"{NUMBER.pattern}|(?<![\w.,/^+-])(?:[+-] ?(?=\d)|(?:minus|negative|plus|positive) )", re.I
)
"""Where a number may begin."""
UNIT = (
    r"(?: ?-? ?(?:stars?|points?|pts|marks?|punkte?n?|sterne?n?|puntos?|estrellas?|punti|stelle|pontos?"
    r"|étoiles?"
    r"|баллов|балла?|звезды?)\b| ?(?:分半?(?:的(?:评分|评价|分数|得分|成绩)?)?|颗?星半?|点|점|つ星|개)"
    r"| ?[★⭐🌟](?! ?[★⭐🌟☆]))?"
)
"""What may be counted without a change of meaning."""
_OF = (
    r" ?(?:/|\bout of\b|\bof\b|\bvon\b|\bsur\b|\bsu\b|\bde\b|\bin\b(?= (?:a|the) scale)|\bиз\b)"
    r" ?(?:(?:an?|the|possible|total|maximum|max|of) ){0,4}"
)
_WHOLE = re.compile(
    rf"{UNIT}[)]?(?P<aside> ?\()?{_OF}(?P<whole>{_PLAIN}){UNIT}(?![\d.,]\d|%)(?(aside)\))", re.I
)
_STARS_WHOLE = re.compile(r"/[★⭐🌟](?: ?[★⭐🌟]){0,99}")
_PERCENT = re.compile(r" ?(?:%|per ?cent\b)", re.I)
_UNIT = re.compile(UNIT, re.I)
_AND_A_HALF = re.compile(r"(?:分半|星半)")
_FIRST_WHOLE = re.compile(
    rf"(?P<whole>{_PLAIN}|[零一二两三四五六七八九十百]{{1,5}})(?:点満点中|점 ?만점에|점 ?만점 ?중|分之) ?"
    rf"(?P<plain>{_PLAIN}|[零一二两三四五六七八九十百]{{1,5}}){UNIT}",
    re.I,
)
"""The maximum before the number: `5点満点中4点`, `5점 만점에 4점`, `五分之四`."""


def _from_han(text: str) -> float:
    """A Chinese numeral up to a few hundred."""
    whole, _, decimal = text.partition("点")
    total = digit = 0
    for character in whole:
        if character in "十百":
            total, digit = total + (digit or 1) * (10 if character == "十" else 100), 0
        else:
            digit = HAN[character]
    return total + digit + (HAN[decimal] / 10 if decimal else 0)


def _of_words(text: str) -> int:
    if text.endswith("hundred"):
        return 100
    return sum(_NUMBERS[word] for word in re.split(r"[- ]", text))


def number_of(text: str) -> float:
    """The number that digits or a word of `_PLAIN` stand for."""
    if text[0] in "零一二两三四五六七八九十百":
        return _from_han(text)
    if text[0].isalpha():
        return float(_of_words(text.lower()))
    return float(text.replace(",", "" if re.fullmatch(r"\d+(?:,\d{3})+", text) else "."))


def _value(match: Match[str]) -> float:
    if stars := match["stars"]:
        return len(stars.replace(" ", "")) + (0.5 if match["half"] else 0.0)
    more = match["more"].strip().lower()
    half = _NUMBERS[more.split()[1]] / 10 if more.startswith("point") else 0.5 if more else 0.0
    number = number_of(match["plain"]) + half
    return -number if match["sign"][:1].lower() in ("-", "m", "n") and match["sign"] else number


@functools.lru_cache(maxsize=256)
def number_reader(scale: Scale) -> ReadValue:
    """Reads numbers and stars on a scale."""
    return functools.partial(_read_number, scale)


def _read_number(scale: Scale, text: str, start: int) -> Value | None:
    match = _NUMBER.match(text, start)
    if match is None:
        return _read_whole_first(scale, text, start)
    if match["plain"] and (first := _read_whole_first(scale, text, start)):
        return first
    number, end = _value(match), match.end()
    sign = match["sign"] or ""
    if sign.endswith(" ") and sign[0] in "+-" and scale.min >= 0:  # a mark of a list
        return None
    rule = "stars" if match["stars"] else ""
    if empty := (match["empty"] or "").replace(" ", ""):
        whole = len(match["stars"].replace(" ", "")) + bool(match["half"]) + len(empty)
        return _of_whole(scale, number, whole, end, rule)
    if match["stars"] and (beside := _STARS_WHOLE.match(text, end)):
        return _of_whole(scale, number, sum(c in "★⭐🌟" for c in beside[0]), beside.end(), rule)
    if _AND_A_HALF.match(text, end):
        number += 0.5
    if beside := _PERCENT.match(text, end):
        return _of_whole(scale, number, 100, beside.end(), "")
    if beside := _WHOLE.match(text, end):
        if scale.min < 0:  # a part of a whole below zero
            number = math.nan
        return _of_whole(scale, number, number_of(beside["whole"]), beside.end(), "fraction")
    unit = _UNIT.match(text, end)
    end = unit.end() if unit else end
    return Value(number, end, "stars" if unit and re.search("star|星", unit[0], re.I) else rule)


def _read_whole_first(scale: Scale, text: str, start: int) -> Value | None:
    match = _FIRST_WHOLE.match(text, start)
    if match is None:
        return None
    return _of_whole(scale, number_of(match["plain"]), number_of(match["whole"]), match.end(), "fraction")


def _of_whole(scale: Scale, number: float, whole: float, end: int, rule: str) -> Value:
    """A number beside the maximum that it is of."""
    return Value(number if whole == scale.max else math.nan, end, rule, number / whole if whole else math.nan)


@functools.lru_cache(maxsize=64)
def letter_reader(scale: Scale) -> ReadValue:
    """Reads letters, of which A is the lowest point of the scale."""
    return functools.partial(_read_letter, scale)


_LETTER = re.compile(
    r"(?:(?i:option|choice|选项|选) ?)?\(?(?:([A-Z])|([a-z])(?=\)|\.?\s*\Z))\)?(?![\w'+])(?!-(?!\s))(?!\.\w)",
    re.A,
)


LETTER = re.compile(r"(?<![A-Za-z0-9.,/^'+-])\(?[A-Za-z](?![A-Za-z0-9_'])")
"""Where a letter may begin."""


def _read_letter(scale: Scale, text: str, start: int) -> Value | None:
    match = _LETTER.match(text, start)
    if match is None:
        return None
    return Value(scale.min + ord((match[1] or match[2]).upper()) - ord("A"), match.end())
