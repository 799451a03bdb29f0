"""Numbers in digits: which of them may be changed, and to which ones near by."""

import re
from random import Random

_LETTER = "A-Za-zÀ-ÖØ-öø-ʯͰ-ϿЀ-ӿ"
"""Letters that make a code of a number beside them; Chinese ones always stand beside numbers."""
_UNIT = r"(?:[kcmnµμ]?m|[kmµμ]?g|[cm]?l|k?W|kWh|[kMGT]B|[kMG]?Hz|mph|kph|km/h|ms|[ap]m)(?![\w-])"
# A search for a digit is fast, so the first one stands before what looks back.
_NUMBER = re.compile(
    rf"\d(?<![{_LETTER}_#@.,\\\[\d]\d)(?<![{_LETTER}][-‐‑–/'’]\d)(?<!\d[\u00a0\u202f ]\d)"
    rf"(?<![A-Z\d\W][A-Z\d] \d)(?<!ersion \d)\d*+(?:[.,]\d++)*+(?:(?![{_LETTER}_])|(?={_UNIT}))"
    rf"(?!['’.][{_LETTER}]|-[A-Z](?![a-z])|[\u00a0\u202f ]\d)"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")
_PLAIN = re.compile(r"\d{1,6}|\d+[.,]\d+")
"""Longer ones are codes, those with more separators dates and versions."""
_PRODUCT = re.compile(r"[a-z][A-Z]\w* \Z")
"""A name with a capital inside, as in "LokSound 5"."""
_LAST = frozenset([12, 23, 24, 28, 29, 30, 31, 59, 60, 100])
"""The last hours, days, months and minutes, and all of a hundred: there is no next one."""


def numbers(text: str) -> list[re.Match[str]]:
    """The numbers of a text but codes, versions, dates with full stops, and the marks of items."""
    return [
        number
        for number in _NUMBER.finditer(text)
        if (_PLAIN.fullmatch(number[0]) or _THOUSANDS.fullmatch(number[0]))
        and not _is_item(text, number)
        and not _PRODUCT.search(text[max(number.start() - 20, 0) : number.start()])
    ]


def _is_item(text: str, number: re.Match[str]) -> bool:
    """Whether it is the mark of an item that runs on behind another: "... mit. 4) Garantie"."""
    start, end = number.span()
    if end - start > 2 or text[end : end + 1] not in (".", ")", "、", "．", "）"):
        return False
    before = text[max(start - 4, 0) : start].rstrip(" \t(（")
    return before[-1:] in ("", ".", "!", "?", ":", ";", "。", "！", "？", "；", "：", "\n")


def near(number: str, rng: Random) -> str:
    """The number one higher or lower in its last place: 2015 becomes 2014 or 2016, 2.6 becomes 2.5 or 2.7.

    In large ones the last place is one without a zero, or the second: "2,150" becomes "2,140" or "2,160".
    None becomes 0 or 1, and the last of hours, days and months, and 100, only get lower.
    """
    digits = "".join(filter(str.isdecimal, number))
    width, value = len(digits), int(digits)
    grouped = _THOUSANDS.fullmatch(number) is not None
    place = min(width - len(digits.rstrip("0")), width - 2) if grouped or width > 4 else 0
    down, up = value - 10**place, value + 10**place
    if width == len(number):
        allowed = [
            each for each in (down, up) if (each > 1 or not value) and (each < value or value not in _LAST)
        ]
        shown = [str(each).zfill(width if digits[0] == "0" else 0) for each in allowed if each > 0]
    else:
        shown = [str(each).zfill(width) for each in (down, up) if 0 < each < 10**width]
        shown = [each for each in shown if not (grouped and each[0] == "0")]
    new = shown[int(rng.random() * len(shown))]
    # Arabic and other digits stay in their script: each block of ten is contiguous, from its zero on.
    zero = ord(number[0]) - int(number[0])
    figures = iter([chr(zero + int(figure)) for figure in new])
    if width == len(number):
        return "".join(figures)
    return "".join(next(figures) if char.isdecimal() else char for char in number)
