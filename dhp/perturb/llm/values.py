"""Numbers in one way of writing: `forty thousand` is `40000`, `3rd` is `3`, and `20万` is `200000`."""

import functools
import re
from collections.abc import Iterable, Mapping

from dhp.content.catalog import read_list
from dhp.core.specs import Spec

# "12", "1,250.5".
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
# The same, perhaps as "3rd"; else a Chinese character or a word.
_WORD = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+")
# The comma in "1,250": three figures stand behind it.
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?!\d))")
# As in "3rd", French "2e", Spanish "1º".
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|e|er|º|ª)$")


class NumberWords(Spec):
    """Numbers in words, by language: each line is words with their values behind them."""

    languages: dict[str, list[str]]


@functools.cache
def _values_of(language: str | None) -> Mapping[str, float]:
    """Word -> its value; empty in a language without a list."""
    lists: NumberWords = read_list("number_words", NumberWords)
    entries = " ".join(lists.languages.get(language or "", ())).split()
    return {word: float(value) for word, value in zip(entries[::2], entries[1::2], strict=True)}


_SMALL = 4
"""Smaller numbers in words, such as `one` and `second`, are often no number: chosen."""
_SCALES = (10, 100, 1e3, 1e4, 1e6, 1e8, 1e9)
"""What a number before it is multiplied by: ten (in Chinese), hundred, thousand, 万, million, 亿, billion."""
_OFTEN_NONE = frozenset(("one", "first", "second"))
"""English words that are numbers in some places alone: "no one", "first of all"."""


def is_number_word(word: str) -> bool:
    """Whether a word in small letters is a number in English."""
    return word in _values_of("en") and word not in _OFTEN_NONE


def values(words: Iterable[str], language: str | None) -> list[str]:
    """Words in small letters, each number in digits; a number of several words is one."""
    known = _values_of(language)
    made: list[str] = []
    run: list[float] = []
    previous = ""
    for word in words:
        value = _value(word, known)
        if run and (value is None or not _continues(run[-1], value, previous)):
            made.append(_written(run))
            run = []
        if value is None:
            made.append(word)
        else:
            run.append(value)
        previous = word
    return [*made, _written(run)] if run else made


def numbers(text: str, language: str | None) -> frozenset[str]:
    """The numbers of a text in digits; those in words too where the language has a list."""
    written = values(_WORD.findall(text.lower()), language)
    return frozenset(value for value in written if value[0].isdigit())


def sure_numbers(text: str, language: str | None) -> frozenset[str]:
    """The same without small ones in words."""
    figures = numbers(text, None)
    return frozenset(n for n in numbers(text, language) if n in figures or _is_large(n))


def _is_large(number: str) -> bool:
    return number.count(".") > 1 or float(number) >= _SMALL


def _value(word: str, known: Mapping[str, float]) -> float | None:
    plain = _ORDINAL.sub("", word)
    if _DIGITS.fullmatch(plain):
        figures = _THOUSANDS.sub("", plain).replace(",", ".")
        return float(figures) if figures.count(".") < 2 else None
    return known.get(word)


def _continues(last: float, value: float, previous: str) -> bool:
    """Whether a value goes on with the number before it, as in `twenty-five` and `two hundred`."""
    behind_figures = previous[:1].isdigit()
    if value in _SCALES:
        return last < value or behind_figures
    if behind_figures:  # "12 five" are two numbers
        return False
    # "twenty five", "hundred five"; 十 is ten with a single character, and may have a digit behind it.
    return (last >= 20 and value < last and last % 10 == 0) or (last == 10 and len(previous) == 1)


def _written(run: Iterable[float]) -> str:
    """The number that values make: `2 100 5` is 205, `40 1000` is 40000."""
    total = part = 0.0
    for value in run:
        ones = part % 10
        if value >= 1000 and part:
            total += part * value
            part = 0.0
        elif value in (10, 100) and ones:
            part = part - ones + ones * value
        else:
            part += value
    return f"{total + part:.15g}"
