"""Another value for a number in digits: as long and as round, so that only its value is wrong.

`shape` is what both numbers have in common, `Meaning` what stands beside the number, `_Range` the values that
both allow. `other_number` draws one of the numbers of the table that are in the range, or computes one.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import functools
import re
from bisect import bisect
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import NamedTuple

from dhp.perturb.facts.balance import SLACK

_LIMITS = (12, 23, 28, 59)
"""The last month, hour, day that every month has, and minute: a number of a date or time that is below one of
these stays below it."""
# "10:", "at ", "um ", "月" before it; ":30", " o'clock", " Uhr", "日", ". März" behind it.
_BESIDE_TIME = (
    re.compile(r"(?:[:/]|\b(?:at|by|um|gegen|am|den|à|vers|le|las|el|al)\s|[月点])\s?\Z"),
    re.compile(r"\s?(?:[:/h时点月日号分]|[ap]\.?m\b|o['’]clock\b|Uhr\b|heures?\b|horas?\b|\.\s?[A-Z])"),
)
"""What stands before and behind a number of a date or time."""
_NEAR_MONTH = 12
"""Characters beside a number in which the name of a month is looked for."""
_YEARS = range(1000, 2101)
_ROUND_YEARS = range(1700, 2101)
""""1500" is mostly no year."""
_NOW = 2030
"""Years before this one stay before it."""
_NEAR_YEARS, _FAR_YEARS = 9, 60
"""How far away a near year may be, and a far one."""
_NEAR = 5
"""A near value lies within a fifth of the number."""
_TRIES = 12
"""Numbers that are drawn before it is said that none fits."""
_FEW = 4.0
"""Texts of a table below which it is not known how frequent a number is."""
_DRAWN = 40
"""Values that are drawn if there are too many to look at all."""
_MOST = 10**9
"""An upper bound for numbers that have none."""
# "7-8", "7 to 8", "7 bis 8"
_JOINING = r"\s?(?:[-–—]|to|or|bis|oder|a|o|à|ou|至|到)\s?"
_JOINED = (
    re.compile(rf"(?<![\d.,])(\d{{1,6}}){_JOINING}\Z"),
    re.compile(rf"{_JOINING}(\d{{1,6}})(?![\d.,]\d)"),
)
"""Another number to which one is joined, before it and behind it."""
_MOST_STEPS = 5_000
"""Values of which all are looked at; of more, some are drawn."""


class Shape(NamedTuple):
    """What a number and the one in its place have in common."""

    form: str
    """Its digits as 0, with its separators."""
    zeros: int
    """Zeros at the end."""
    is_half: bool
    """Whether a 5 is its last digit but zeros, of several."""
    is_year: bool


@functools.lru_cache(maxsize=10_000)
def shape(number: str) -> Shape:
    """The shape of a number in digits."""
    digits = _digits(number)
    short = digits.rstrip("0")
    form = "".join("0" if char.isdecimal() else char for char in number)
    is_year = form == "0000" and int(digits) in (_ROUND_YEARS if digits.endswith("00") else _YEARS)
    return Shape(form, len(digits) - len(short), len(short) > 1 and short[-1] == "5", is_year)


def _digits(number: str) -> str:
    """The digits of a number without its separators."""
    return "".join(filter(str.isdecimal, number))


@dataclass(frozen=True, slots=True)
class _Range:
    """The values that may take the place of a number."""

    value: int
    """That of the number itself."""
    low: int
    high: int
    step: int
    """Values that are as round lie so far apart."""
    near: int
    """A near value is at most so far away."""
    is_far: bool
    is_year: bool

    def holds(self, other: int) -> bool:
        """Whether another value is within the bounds, and near or far enough."""
        if other == self.value or not self.low <= other <= self.high:
            return False
        distance = abs(other - self.value)
        if self.is_year:
            is_near = distance <= max(_NEAR_YEARS, self.step)
            return distance % self.step == 0 and is_near != self.is_far
        if self.is_far:
            # More than half away, seen from either number.
            return other >= 1.5 * self.value or 1.5 * other <= self.value
        return distance <= self.near


class Meaning(NamedTuple):
    """What is known of a number, by what stands beside it, and of the one in its place."""

    is_far: bool = False
    """Whether the other one is to be more than half away."""
    is_percentage: bool = False
    is_time: bool = False
    """Whether it belongs to a date or a time of day."""

    @classmethod
    def of(cls, number: re.Match[str], months: Iterable[str], *, is_far: bool) -> "Meaning":
        """Of a number as it stands in a text."""
        prose, (start, end) = number.string, number.span()
        before, behind = prose[max(start - _NEAR_MONTH, 0) : start], prose[end : end + _NEAR_MONTH]
        is_time = _BESIDE_TIME[0].search(before) or _BESIDE_TIME[1].match(behind)
        is_dated = any(month in before or month in behind for month in months)
        return cls(is_far, PERCENTAGE.match(behind) is not None, is_time is not None or is_dated)


def _range(number: str, meaning: Meaning) -> _Range:
    """The values that may take the place of a number: as long, and what its meaning allows."""
    digits, like = _digits(number), shape(number)
    value, width = int(digits), len(digits)
    step = 10**like.zeros * (5 if like.is_half else 1)
    low = 10 ** (width - 1) if width > 1 else 2  # neither 0 nor 1, as "1 weeks" shows
    high = 10**width - 1
    if like.is_year:
        step = 10 if like.zeros else 1  # "the years of 1980" are ten
        reach = _FAR_YEARS if meaning.is_far else max(_NEAR_YEARS, step)
        latest = _NOW - 1 if value < _NOW else _YEARS[-1]
        low, high = max(_YEARS[0], value - reach), min(latest, value + reach)
    elif width == len(number):  # without separators
        limits = list(_LIMITS) if meaning.is_time else []
        if meaning.is_percentage:
            limits.append(100)
        # The first limit that the number keeps is the one that the other number keeps, too.
        kept = [limit for limit in limits if value <= limit]
        high = min([high, *kept[:1]])
    return _Range(value, low, high, step, max(step, value // _NEAR), meaning.is_far, like.is_year)


def _is_mutual(number: str, other: str, meaning: Meaning) -> bool:
    """Whether each of two numbers may take the place of the other: else one of them would become frequent."""
    value, value_of_other = int(_digits(number)), int(_digits(other))
    return _range(number, meaning).holds(value_of_other) and _range(other, meaning).holds(value)


class Group(NamedTuple):
    """Numbers that may take the place of one."""

    numbers: Sequence[str]
    until: Sequence[float]
    """The sum of the weights up to each of them."""

    @property
    def weight(self) -> float:
        """Of all of them."""
        return self.until[-1] if self.until else 0.0

    def drawn(self, rng: Random) -> str:
        """One of them, by its weight."""
        return self.numbers[bisect(self.until, rng.random() * self.weight)]


class NumbersOfTable:
    """The numbers in digits that could change in the texts of a table.

    Those of a text weigh 1 together, as one of them changes.
    """

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._of_shape: dict[Shape, dict[str, float]] = {}
        for numbers in texts:
            for number in numbers:
                weights = self._of_shape.setdefault(shape(number), {})
                weights[number] = weights.get(number, 0.0) + 1 / len(numbers)
        self._known: dict[tuple[str, Meaning], Group] = {}

    def allowed(self, number: str, meaning: Meaning) -> Group:
        """The numbers of the table that may take the place of one."""
        key = (number, meaning)
        if key not in self._known:
            weights = self._of_shape.get(shape(number), {})
            numbers = [n for n in weights if _is_mutual(number, n, meaning)]
            self._known[key] = Group(numbers, list(accumulate(weights[other] for other in numbers)))
        return self._known[key]


def other_number(
    number: str,
    numbers: NumbersOfTable,
    rng: Random,
    meaning: Meaning,
    *,
    taken: Collection[str] = (),
    within: tuple[int, int] = (0, _MOST),
) -> str | None:
    """A number of the same shape; None if there is none.

    It is one of `numbers`, drawn as often as they stand, within a fifth of the value or, if it is to be far,
    more than half away. One is taken at most `SLACK` times as often as it makes way for this one, so that
    over the table no number becomes much more frequent. Where the table has no such number one is computed.
    None of `taken`, those that stand near, as "from 4 to 4" shows, and `within` the bounds.
    """
    digits = _digits(number)
    if not digits.isascii() or digits in ("0", "1") or digits[0] == "0":  # "1 week" has no other number
        return None
    allowed = _range(number, meaning)
    allowed = replace(allowed, low=max(allowed.low, within[0]), high=min(allowed.high, within[1]))

    # One of the table. It goes as often as it comes: see `facts.balance`.
    same = numbers.allowed(number, meaning)
    for _ in range(_TRIES if same.numbers else 0):
        other = same.drawn(rng)
        if allowed.holds(int(_digits(other))) and other not in taken:
            back = numbers.allowed(other, meaning)
            is_seldom = back.weight + same.weight < _FEW
            return other if is_seldom or rng.random() * back.weight < SLACK * same.weight else None

    # One that is computed, with the separators of the number.
    values = [value for value in _values(allowed, rng) if allowed.holds(value)]
    if not allowed.is_year:
        values = [value for value in values if _is_as_round(value, shape(number))]
    for _ in range(_TRIES if values else 0):
        other = str(values[int(rng.random() * len(values))])
        if other not in taken and _is_mutual(digits, other, meaning):
            return _with_separators(other, number)
    return None


def _with_separators(digits: str, number: str) -> str:
    """As many digits as a number has, with its separators: "4500" as "4,500" like "1,200"."""
    written, used = "", 0
    for char in number:
        if char.isdecimal():
            written += digits[used]
            used += 1
        else:
            written += char
    return written


def _is_as_round(value: int, like: Shape) -> bool:
    """Whether a value has as many zeros at its end, and is a year if the other one is."""
    made = shape(str(value))
    return (made.zeros, made.is_half, made.is_year) == (like.zeros, like.is_half, like.is_year)


def _values(allowed: _Range, rng: Random) -> Iterable[int]:
    """The values that are as round; some of them, if they are many."""
    step, low = allowed.step, allowed.low
    if allowed.value // step <= _MOST_STEPS:
        return range(low + (-low) % step, allowed.high + 1, step)
    steps, drawn = allowed.near // step, list[int]()
    for _ in range(_DRAWN):
        if allowed.is_far:
            value = low + int(rng.random() * (allowed.high - low))
            drawn.append(value - value % step)
        else:
            away = int(rng.random() * (2 * steps + 1)) - steps
            drawn.append(allowed.value + step * away)
    return drawn


def in_order(number: re.Match[str]) -> tuple[int, int]:
    """The bounds within which a number stays more, or less, than those that it is joined to, as in "7-8"."""
    text, (start, end) = number.string, number.span()
    low, high = 0, _MOST
    if not number[0].isdecimal():
        return low, high
    value = int(number[0])
    before = text[max(start - 14, 0) : start]  # a number of six digits, and what joins it
    for joined in (_JOINED[0].search(before), _JOINED[1].match(text, end)):
        if joined and int(joined[1]) < value:
            low = max(low, int(joined[1]) + 1)
        elif joined:
            high = min(high, int(joined[1]) - 1)
    return low, high


PERCENTAGE = re.compile(r"\s?(?:%|per ?cent\b|Prozent\b|por ciento\b|pour cent\b)")
"""What follows a percentage."""
