"""Harmless edits of the figures in English texts: numbers, sums of money, dates, hours, scores.

Of each sort there are rules and a pattern `_EVERY_...` of all its places, e.g. of all dates: a text is
changed only if the rules reach each of them, as one that writes its dates in two ways is worse than the
original.
"""

import re
from collections.abc import Iterator

from dhp.perturb.edits import Edit, rules, uniform

_UNIT = (
    r"(?:(?:square |cubic )?(?:milli|centi|kilo)?met(?:er|re)s?|miles|feet|yards|acres|hectares|tons|tonnes"
    r"|(?:kilo)?grams|pounds|dollars|euros|yuan|people|visitors|residents|steps|words)\b"
)
# Below 2,200, figures without the mark look like years, unless a unit follows.
_THOUSANDS = rules(
    (rf"(?<![\d.,])(2(?=,[2-9])|[3-9]|[12](?=,\d{{3}} {_UNIT})),(\d{{3}})(?![\d,]|\.\d)", r"\1\2")
)
_EVERY_THOUSAND = re.compile(r"(?<![\d.,])\d,\d{3}(?![\d,]|\.\d)")
MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December)\b"
# A single day: no "12-14 March", no "12th", no "12 and 13".
_ONE_DAY = r"(?![-–/\d]|st\b|nd\b|rd\b|th\b|,? (?:and |or |to )?\d)"
_BEFORE_DATE = r"(?<!\d )\b([Oo]n|[Bb]y|[Uu]ntil|[Bb]efore|[Aa]fter|[Ss]ince|[Ff]rom|to|of)"
_DATES = rules(  # "on 12 March 2021" and "on March 12, 2021"
    (_BEFORE_DATE + r" (\d{1,2}) " + MONTH + r" (\d{4})(?=[.;:)])", r"\1 \3 \2, \4"),
    (_BEFORE_DATE + r" (\d{1,2}) " + MONTH + r" (\d{4}),?(?= [A-Za-z])", r"\1 \3 \2, \4,"),
    (_BEFORE_DATE + r" (\d{1,2}) " + MONTH + r"(?!,? (?:and |or |to )?\d)", r"\1 \3 \2"),
    (_BEFORE_DATE + r" " + MONTH + r" (\d{1,2}), (\d{4})\b", r"\1 \3 \2 \4"),
    (_BEFORE_DATE + r" " + MONTH + r" (\d{1,2})" + _ONE_DAY, r"\1 \3 \2"),
)
_EVERY_DATE = re.compile(rf"\b\d{{1,2}} {MONTH}|\b{MONTH} \d{{1,2}}\b")
_HOURS = rules(  # "10:30am" and "10:30 a.m."
    (r"(?<![\d.,:])((?:1[0-2]|[1-9])(?::[0-5]\d)?) ?([ap])m\b(?! ?[.…]{2}| \.)\.?", r"\1 \2.m."),
    (r"(?<=\d) ?([ap])\.m\.(?=,? [a-z])", r" \1m"),
)
_EVERY_HOUR = re.compile(r"\d ?[ap](?:m\b|\.m\.)")

_DIGITS = dict(enumerate("two three four five six seven eight nine".split(), 2))
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def _numerals() -> dict[str, int]:
    """Numbers in words from "ten" to "ninety-nine" with their values."""
    numerals = {name: n for n, name in enumerate(_TEENS, 10)}
    for tens, name in enumerate(_TENS, 2):
        numerals[name] = 10 * tens
        for n, one in {1: "one", **_DIGITS}.items():
            numerals[f"{name}-{one}"] = 10 * tens + n
    return numerals


_NUMERALS = _numerals()
_THINGS = (
    r"(?=(?:different |new |other |more |years |of the )?(?:[a-z]{3,}s|people|children|men|women)\b(?!-))"
)
"""What is counted. Units stay with figures."""
# Words right before a number that counts something: others may make it a name or a mark, as in "Channel 4".
_BEFORE_COUNT = (
    r"(?:a|about|after|all|almost|and|are|around|at|before|by|every|first|for|from|full|had|has|have|her|his|in|is"
    r"|its|last|least|nearly|next|of|only|or|other|our|over|past|some|than|the|their|these|those|to|took|top|were"
    r"|with|within)"
)
_SMALL = re.compile(
    rf"(?<=\b)(?P<before>{_BEFORE_COUNT}) (?P<digit>[2-9]) "
    r"(?!percent|points|met|miles|feet|inches|pounds|degrees|euros|dollars|yuan|yen|pence|cents|kilo|lit|gram|tons"
    rf"|tonnes|acres|hectares|millions|billions){_THINGS}"
)
_EVERY_SMALL = re.compile(r"(?<![\w.,:/$€£#-])[2-9](?![\d,.:/%-]*[\w%])")
_LONGEST_FIRST = "|".join(sorted(_NUMERALS, key=len, reverse=True))
_LARGER = re.compile(
    rf"(?<![\w-])(?<!hundred and )(?<!thousand and )(?P<word>{_LONGEST_FIRST}) (?!odd|times){_THINGS}"
)
_EVERY_LARGER = re.compile(rf"(?i)\b(?:{'|'.join([*_TEENS, *_TENS])})\b")


def _counts(text: str) -> Iterator[Edit]:
    """One-digit figures as words, and larger words as figures: of each either all or none."""
    small = list(_SMALL.finditer(text))
    if len(small) == len(_EVERY_SMALL.findall(text)):
        for match in small:
            yield (*match.span("digit"), _DIGITS[int(match["digit"])])
    large = list(_LARGER.finditer(text))
    if len(large) == len(_EVERY_LARGER.findall(text)):
        for match in large:
            yield (*match.span("word"), str(_NUMERALS[match["word"]]))


# "1,200.50", "3 million"; "1" stays, as "1 dollars" is wrong. Neither a part of a range nor of a rate.
_AMOUNT = r"((?!1(?![\d.,]))\d{1,3}(?:,?\d{3})*(?:\.\d+)?)( million| billion| trillion)?"
_NO_RANGE = r"(?<!\d and )(?<!\d to )(?<!\d or )(?<![\w.,$€£–-])"
_NO_RATE = r"(?![\w-]|[.,]\d| ?(?:[-–]|to|or|and|per|a)\b| [bm]n\b)"
_MONEY = rules(
    (rf"{_NO_RANGE}{_AMOUNT} euros\b(?!-)", r"€\1\2"),
    (rf"{_NO_RANGE}{_AMOUNT} dollars\b(?!-)", r"$\1\2"),
    (rf"{_NO_RANGE}€{_AMOUNT}{_NO_RATE}", r"\1\2 euros"),
    (rf"{_NO_RANGE}\${_AMOUNT}{_NO_RATE}", r"\1\2 dollars"),
)
_EVERY_MONEY = re.compile(r"[$€]|\beuros?\b|\bdollars?\b")
_UNIT_SIGN = r"(?:million|billion|mph|kph|ft|kg|km|cm|mm|mg|ml)\b"
# "30mph" and "30 mph"; "3-2" and "3–2"; "19th century" and "nineteenth century".
_GLUED = rules((rf"(?<![\w.-])([£€$]?\d[\d,.]*)(?={_UNIT_SIGN}(?!-))", r"\1 "))
_EVERY_GLUED = re.compile(rf"\d{_UNIT_SIGN}")
_SCORES = rules((r"(?<![\w.,/–-])(\d{1,2})-(\d{1,2})(?![\w–-]|[.,/]\d)", r"\1–\2"))
_EVERY_SCORE = re.compile(r"\d[-–]\d")
_ORDINALS = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth twentieth"
)
_CENTURIES = (
    *rules(*((rf"\b{n}th(?=[ -]centur)", word) for n, word in enumerate(_ORDINALS.split(), 10))),
    *rules(*((rf"\b(?<!-){word}(?=[ -]centur)", f"{n}th") for n, word in enumerate(_ORDINALS.split(), 10))),
)
_EVERY_CENTURY = re.compile(rf"(?:\d\dth|{_ORDINALS.replace(' ', '|')})[ -]centur")


def figure_edits(text: str, *, cased: bool) -> Iterator[Edit]:
    """The edits of all figures, of each sort all or none; dates and hours only in a text with capitals."""
    yield from uniform(_THOUSANDS, _EVERY_THOUSAND, text)
    yield from uniform(_MONEY, _EVERY_MONEY, text)
    yield from uniform(_GLUED, _EVERY_GLUED, text)
    yield from uniform(_SCORES, _EVERY_SCORE, text)
    yield from uniform(_CENTURIES, _EVERY_CENTURY, text)
    yield from _counts(text)
    if cased:
        yield from uniform(_DATES, _EVERY_DATE, text)
        yield from uniform(_HOURS, _EVERY_HOUR, text)
