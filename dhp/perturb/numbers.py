"""Numbers in digits: which of them may be changed."""

import re

_LETTER = "A-Za-zÀ-ÖØ-öø-ʯͰ-ϿЀ-ӿ"
"""Letters that make a code of a number beside them; Chinese ones always stand beside numbers."""
# "5km", "20kg", "8pm": a unit makes no code of a number.
_UNIT = r"(?:[kcmnµμ]?m|[kmµμ]?g|[cm]?l|k?W|kWh|[kMGT]B|[kMG]?Hz|mph|kph|km/h|ms|[ap]m)(?![\w-])"
# A search for a digit is fast, so the first one stands before what looks back.
_NUMBER = re.compile(
    # The first digit, but not of "A4", "#3", "@2" or "[1", of "B-7", or of the end of "3 000".
    rf"\d(?<![{_LETTER}_#@.,\\\[\d]\d)(?<![{_LETTER}][-‐‑–/'’]\d)(?<!\d[\u00a0\u202f ]\d)"
    # Nor of "GT 5", "version 2" or "f(2".
    rf"(?<![A-Z\d\W][A-Z\d] \d)(?<!ersion \d)(?<!\w\(\d)"
    # The others, with separators; behind them no letter but that of a unit.
    rf"\d*+(?:[.,]\d++)*+(?:(?![{_LETTER}_])|(?={_UNIT}))"
    # Nor "'s", ".x", "-B", the end of "3 000", or "(x".
    rf"(?!['’.][{_LETTER}]|-[A-Z](?![a-z])|[\u00a0\u202f ]\d|\([{_LETTER}])"
)
# "12,000", "1.234.567,50"
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")
_PLAIN = re.compile(r"\d{1,6}|\d+[.,]\d+")
"""Longer ones are codes, those with more separators dates and versions."""
_PRODUCT = re.compile(r"[a-z][A-Z]\w* \Z")
"""A name with a capital inside, as in "LokSound 5"."""


def numbers(text: str) -> list[re.Match[str]]:
    """The numbers of a text but codes, versions, dates, hours with full stops, and the marks of items."""
    changeable = list[re.Match[str]]()
    for number in _NUMBER.finditer(text):
        if not (_PLAIN.fullmatch(number[0]) or _THOUSANDS.fullmatch(number[0])):
            continue
        if _is_item(text, number) or _is_joined(text, number):
            continue
        before = text[max(number.start() - 20, 0) : number.start()]
        if not _PRODUCT.search(before):
            changeable.append(number)
    return changeable


_DAY_OR_HOUR = re.compile(r"\d{1,2}\.\d{1,2}(?:\.(?= ?[a-zäöü,;)])| ?Uhr\b)")
"""As German texts write them: "16.3.", "23.45 Uhr"."""
_SEASON = re.compile(r"(?<!\d)\d{4}[-–/]\d{2}(?!\d)")
"""Two years, as in "2018-19"."""
_LONGEST_SEASON = 7
"""Characters of one."""


def _is_joined(text: str, number: re.Match[str]) -> bool:
    """Whether it is a part of a date, an hour or two years, whose parts hang together."""
    start, end = number.span()
    if _DAY_OR_HOUR.match(text, start):
        return True
    beside = _SEASON.finditer(text, max(start - _LONGEST_SEASON, 0), end + _LONGEST_SEASON)
    return any(season.start() <= start and end <= season.end() for season in beside)


_LABEL = re.compile(r"(?:^|[\n.!?] ?)\W*\w+ \Z")
"""A word behind which a number and a colon are the mark of a part: "Step 2:"."""


def _is_item(text: str, number: re.Match[str]) -> bool:
    """Whether it is the mark of an item: "... mit. 4) Garantie", "Step 4: go", "4: Go"."""
    start, end = number.span()
    if text[end : end + 1] == ":" and _LABEL.search(text[max(start - 20, 0) : start]):
        return True
    if text[end : end + 2] == ": " and text[max(start - 1, 0) : start] in ("", "\n"):
        return True
    if end - start > 2 or text[end : end + 1] not in (".", ")", "、", "．", "）"):
        return False
    before = text[max(start - 4, 0) : start].rstrip(" \t(（")
    return before[-1:] in ("", ".", "!", "?", ":", ";", "。", "！", "？", "；", "：", "\n")
