"""Harmless edits of texts in other languages than English, by lists: what may be written in two ways."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from pydantic import Field

from dhp.core.language import WITHOUT_SPACES
from dhp.core.specs import Spec
from dhp.core.words import word_spans
from dhp.perturb.edits import Edit


class WrittenForms(Spec):
    """What may be written in two ways in a language."""

    quotes: list[list[str]] = Field(default_factory=list)
    """Opening and closing marks; a text with one pair alone gets the next one."""
    apostrophes: bool = False
    """Whether straight and curly ones are the same."""
    thousands: str | None = None
    """The mark between groups of three digits."""
    half_width: bool = False
    """Whether figures that are as wide as a letter become narrow ones."""
    units: dict[str, str] = Field(default_factory=dict)
    """Sign -> word behind a figure."""
    months: list[str] = Field(default_factory=list)
    dates: list[str] = Field(default_factory=list)
    """Two ways of writing a date."""
    twins: dict[str, str] = Field(default_factory=dict)
    """Word -> another spelling or an exact synonym, both ways."""
    written_out: dict[str, str] = Field(default_factory=dict)
    """Abbreviation or spelling -> what is written instead, one way."""


class HarmlessLanguages(Spec):
    """Written forms of languages."""

    languages: dict[str, WrittenForms]
    """Code of a language -> its forms."""


def form_edits(text: str, forms: WrittenForms, language: str) -> Iterator[Edit]:
    """Words and figures: of each sort of a text all change, or none."""
    # Without spaces a word is one only where a segmenter begins one.
    spaced = language not in WITHOUT_SPACES
    starts = None if spaced else {start for start, _ in word_spans(text, language)}
    for one, other in forms.twins.items():
        forward = _written(text, _whole(one, spaced), other)
        for edit in forward or _written(text, _whole(other, spaced), one):
            if starts is None or edit[0] in starts:  # 例如 is no word in 比例如下
                yield edit
    for short, words in forms.written_out.items():
        pattern = rf"(?<![\w.-]){_either_case(short)}(?=,| \w)" if spaced else re.escape(short)
        for edit in _written(text, re.compile(pattern), words):
            if starts is None or edit[0] in starts:
                yield edit
    if forms.half_width:
        for match in re.finditer("[０-９]+", text):
            yield (*match.span(), unicodedata.normalize("NFKC", match.group()))
    for sign, word in forms.units.items():
        yield from _units(text, sign, word, " " if spaced else "")
    if forms.thousands:
        yield from _thousands(text, forms.thousands, spaced)
    if forms.dates:
        yield from _dates(text, forms)


def mark_edits(text: str, forms: WrittenForms) -> Iterator[Edit]:
    """Quotation marks and apostrophes."""
    if forms.apostrophes:
        straight = list(re.finditer(r"(?<=[^\W\d_])'(?=[^\W\d_])", text))
        for match in straight or re.finditer(r"(?<=[^\W\d_])’(?=[^\W\d_])", text):
            yield (*match.span(), "’" if straight else "'")

    # Only if a text has marks of one kind, and these open and close in turn.
    matches = [pair for pair in forms.quotes if _has_mark(text, pair)]
    if len(matches) != 1:
        return
    opening, closing = matches[0]
    marks = re.findall(f"[{re.escape(opening.strip() + closing.strip())}]", text)
    if marks != [opening.strip(), closing.strip()] * (len(marks) // 2):
        return

    # The next pair of the list, behind the last one the first. French marks have a space inside.
    new = forms.quotes[(forms.quotes.index(matches[0]) + 1) % len(forms.quotes)]
    blank = "[ \\u00a0\\u202f]*"
    for match in re.finditer(f"{re.escape(opening.strip())}{blank if ' ' in opening else ''}", text):
        yield (*match.span(), new[0].replace(" ", "\u00a0"))
    for match in re.finditer(f"{blank if ' ' in closing else ''}{re.escape(closing.strip())}", text):
        yield (*match.span(), new[1].replace(" ", "\u00a0"))


def _has_mark(text: str, pair: Iterable[str]) -> bool:
    """Whether a text has one of two quotation marks."""
    return any(mark.strip() in text for mark in pair)


def _whole(word: str, spaced: bool) -> re.Pattern[str]:
    """A word, also with a capital; in languages without spaces wherever it stands."""
    if not spaced:
        # A word in Katakana may be the beginning of a longer one.
        longer = "" if not _KATAKANA.search(word) else "(?![\u30a1-\u30fc])"
        return re.compile(re.escape(word) + longer)
    return re.compile(rf"(?<![\w-]){_either_case(word)}(?![\w-])")


def _either_case(word: str) -> str:
    """A pattern of a word, also with a capital."""
    return f"[{word[0].lower()}{word[0].upper()}]{re.escape(word[1:])}"


_KATAKANA = re.compile("[\u30a1-\u30fa]")  # "カ"


def _written(text: str, pattern: re.Pattern[str], new: str) -> list[Edit]:
    """The edits that write a word instead of each match, in its case."""
    edits, with_capital = list[Edit](), new[0].upper() + new[1:]
    for match in pattern.finditer(text):
        edits.append((*match.span(), with_capital if match[0][0].isupper() else new))
    return edits


def _units(text: str, sign: str, word: str, gap: str) -> list[Edit]:
    """The sign as a word, or if there is none the word as a sign; not behind a single 1."""
    end = r"(?![\w/²³-])"
    for old, new in ((sign, word), (word, sign)):
        matches = list(re.finditer(rf"(?<=\d)[ \u00a0\u202f]?{re.escape(old)}{end}", text))
        singular = re.search(rf"(?<![\d.,])1[ \u00a0\u202f]?{re.escape(old)}", text)
        if matches:
            is_all = len(matches) == text.count(old)
            if singular or not is_all:
                return []
            return [(*match.span(), gap + new) for match in matches]
    return []


def _thousands(text: str, mark: str, spaced: bool) -> Iterator[Edit]:
    """Numbers with a mark between groups of three digits; none if the mark has another meaning, too."""
    point = re.escape(mark)
    # "3.5", "3.5000" or "1.2.3": there the mark is one of decimals, of dates or of versions.
    if re.search(rf"\d{point}(?:\d{{1,2}}|\d{{4,}})(?!\d)|\d{point}\d+{point}\d+", text):
        return
    for match in re.finditer(rf"(?<![\d.,])[1-9]\d{{0,2}}{point}\d{{3}}(?![\d.,]*\d)", text):
        digits = match[0].replace(mark, "")
        is_long = spaced and len(digits) > _FOUR
        yield (*match.span(), f"{digits[:-3]}\u202f{digits[-3:]}" if is_long else digits)


_FOUR = 4
"""Digits of a number that is written without any mark; longer ones have a narrow space."""


def _dates(text: str, forms: WrittenForms) -> list[Edit]:
    """Dates of this century in the other of two ways."""
    months = "|".join(forms.months)
    parts = {"day": r"(?P<day>\d{1,2})", "month": f"(?P<month>{months})", "year": r"(?P<year>20\d\d)"}
    parts["number"] = r"(?P<number>[01]?\d)"
    for way, other in (forms.dates, forms.dates[::-1]):
        # "{day}. {month} {year}": all but the braces is meant as it is written.
        pattern = re.escape(way).replace(r"\{", "{").replace(r"\}", "}").format(**parts)
        matches = list(re.finditer(rf"(?<![\d./-]){pattern}(?![\d-])", text))
        if matches:
            dates = filter(_is_date, matches)
            return [(*match.span(), _date(match, other, forms.months)) for match in dates]
    return []


def _is_date(match: re.Match[str]) -> bool:
    """Whether there is such a day and month."""
    number = match.groupdict().get("number")
    return 1 <= int(match["day"]) <= _DAYS and (number is None or 1 <= int(number) <= _MONTHS)


_DAYS, _MONTHS = 31, 12


def _date(match: re.Match[str], way: str, months: list[str]) -> str:
    """A date as it is written in a way; in figures of two digits each."""
    named = match.groupdict()
    number = int(named["number"]) if named.get("number") else months.index(named["month"]) + 1
    day = int(named["day"])
    figures = "{number}" in way
    return way.format(
        day=f"{day:02}" if figures else day,
        month=months[number - 1],
        number=f"{number:02}",
        year=named["year"],
    )
