"""Bounds of the sentences of a text.

English: NLTK's Punkt with a list of abbreviations in place of its data. Other languages: sentencex, with
rules of our own for German ordinals and quoted speech. Why these two: docs/languages.md.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

from dhp.core.markdown import in_prose
from dhp.core.nltk_modules import nltk_module

Span = tuple[int, int]
"""(start, end)."""


def sentence_spans(text: str, language: str | None = None) -> list[Span]:
    """The bounds of the sentences of a text, without the white space between them.

    No language, and `en`, take the rules for English, which know Chinese and Japanese marks too. A piece
    without letters or digits belongs to the sentence before it, the mark of a list to the one that follows.
    Code, tables and headings are in no sentence.
    """
    if language in (None, "en"):
        return list(_english_spans(text))
    return in_prose(text, functools.partial(_spans_elsewhere, language=language))


def sentences(text: str, language: str | None = None) -> list[str]:
    """The sentences of a text; see `sentence_spans`."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def prose_sentences(text: str) -> list[str]:
    """The sentences of a text that is taken for prose as a whole, whatever its lines and marks are."""
    return [text[start:end] for start, end in _spans_in_english(text)]


# The end of a line and one or more lines that are empty, or hold nothing but spaces and tabs.
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def paragraphs(text: str) -> list[str]:
    """The parts of a text between blank lines."""
    return _BLANK_LINES.split(text.strip())


def trimmed(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans without white space at their ends; one without letters or digits joins the one before it."""
    kept: list[Span] = []
    for start, end in spans:
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        if any(c.isalnum() for c in text[start:end]):
            kept.append((start, end))
        elif kept and end > start:
            kept[-1] = (kept[-1][0], end)
    return kept


_ABBREVIATIONS = frozenset(
    (
        "dr mr mrs ms prof rev gen sen rep gov sgt capt col lt st jr sr vs etc e.g i.e fig figs ca cf al "
        "approx dept est inc ltd co corp vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m "
        "u.s u.k u.n d.c ph.d m.d b.a m.a sp spp subsp var"
    ).split()
)
_LIKELY_END = re.compile(r"[ \t\n\r]([A-Za-z][a-z]+)[.!?][ \t\n\r]+(?=[A-Z])")
"""A word and a mark that end a sentence whatever is around them, unless it is an abbreviation."""
# Any mark that can end a sentence.
_STOP = re.compile("[.!?。！？]")
# `「はい。」` up to its closing mark, or what is left without such a stop.
_CJK_STOP = re.compile(r"[^。！？]*[。！？]+[”’」』）]*|[^。！？]+$")
_GERMAN_DAY = re.compile(r"\b(?:zum|am|vom|beim|dem|den|der|des|bis|ab|seit|vor|nach)\s+\d{1,2}\.$", re.I)
_GERMAN_MONTH = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""Dates that tell German from English: "zum 1. April"."""
# `Symphony No.`, `Sonatas, Nos.`
_NUMBERED = re.compile(r"[\w,] Nos?\.$")
"""Behind it stands a number, unless it answers a question."""


@functools.lru_cache(maxsize=32)
def _english_spans(text: str) -> tuple[Span, ...]:
    """The sentences of a whole text, which is asked about again for each of its kinds of damage."""
    return tuple(in_prose(text, _spans_in_english))


def _spans_in_english(text: str) -> list[tuple[int, int]]:
    # Cut first where a sentence ends for sure: degraded copies share most pieces, which are remembered.
    ends = [end for end in _LIKELY_END.finditer(text) if end[1].lower() not in _ABBREVIATIONS]
    starts = [0, *(end.end() for end in ends)]
    spans: list[Span] = []
    for start, end in pairwise([*starts, len(text)]):
        spans += [(start + a, start + b) for a, b in _spans_of_short_piece(text[start:end])]
    return spans


@functools.lru_cache(maxsize=32_768)
def _spans_of_short_piece(text: str) -> tuple[Span, ...]:
    """The sentences of a short piece, which degraded copies of a text mostly share with it."""
    if not _STOP.search(text, 0, len(text.rstrip()) - 1):
        return tuple(trimmed(text, [(0, len(text))]))  # no sentence can end within it
    spans: list[Span] = []
    for piece in _CJK_STOP.finditer(text):  # Punkt knows no Chinese or Japanese marks
        begin = piece.start()
        spans += [(begin + start, begin + end) for start, end in _punkt().span_tokenize(piece.group())]
    whole: list[Span] = []
    for start, end in spans:
        # The end of the sentence before it is enough: `beim 31.` and `Nos.` are short.
        before = text[max(whole[-1][1] - 12, 0) : whole[-1][1]] if whole else ""
        is_day = _GERMAN_DAY.search(before) and _GERMAN_MONTH.match(text, start)
        if is_day or (_NUMBERED.search(before) and text[start].isdecimal()):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return tuple(trimmed(text, whole))


@functools.cache
def _punkt() -> Any:
    punkt = nltk_module("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types.update(_ABBREVIATIONS)
    return punkt.PunktSentenceTokenizer(parameters)


# `am 15.`, `Ludwig XIV.`
_ORDINAL = re.compile(r"(?:^|\s)(?:\d{1,3}|[IVX]+)\.$")
_GERMAN_STARTS = frozenset(
    "Aber Als Am An Auch Auf Aus Bei Bis Da Dabei Dadurch Dafür Damit Danach Dann Darauf Das Dazu Dem Den "
    "Denn Der Des Deshalb Die Dies Diese Dieser Dieses Doch Dort Du Ein Eine Einen Einer Er Es Euch Für "
    "Hier Ich  Ihr Ihre Im In Ist Jetzt Kein Keine Man Mit Nach Nun Nur Ob Oder Schon Sein Seine Seit So "
    "Sie Später Trotzdem  Um Und Unter Vom Von Vor Während Warum Was Weil Wenn Wer Wie Wir Wo Zu Zum Zur "
    "Zwar".split()
)
"""Words that begin a sentence after "am 15." and are no noun of an ordinal."""
# `「はい」`: the end of quoted speech.
_SPOKEN = re.compile(r"[」』”]$")
_SAYS = {
    "ja": re.compile(r"(?:と|って|は|が|を|の|に|で|も|、)"),
    "zh": re.compile(r"[^，。！？；：、“”\s没沒不]{0,4}(?:说|說|问|問|道|喊|叫)"),
}
"""How a sentence goes on behind quoted speech."""
# One Arabic letter with a full stop, which stands for a name.
_ARABIC_INITIAL = re.compile(r"(?:^|\s)[\u0621-\u064a]\.$")
# The languages in which pieces are cut again, by the pattern below.
_STOPPED = ("ja", "zh")
_STOP_BEFORE_LATIN = re.compile(r"[。！？](?=\s*[a-z\d])(?![^「」『』“”]{0,200}[」』”])")
"""A full stop outside quoted speech that ends a sentence though a small letter or a figure follows, as in
"します。milter は"."""


def _spans_elsewhere(text: str, language: str) -> list[Span]:
    from sentencex import segment

    spans: list[Span] = []
    start = 0
    for piece in segment(language, text):
        end = start + len(piece)
        if spans and _goes_on(text[slice(*spans[-1])].rstrip(), piece, language):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = end
    if language in _STOPPED:
        spans = list(chain.from_iterable(_at_stops(text, span) for span in spans))
    return trimmed(text, spans)


def _at_stops(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    for stop in _STOP_BEFORE_LATIN.finditer(text, start, end):
        yield start, stop.end()
        start = stop.end()
    yield start, end


def _goes_on(before: str, after: str, language: str) -> bool:
    """Whether a piece belongs to the sentence before it."""
    # A sentence hardly ever begins with a small letter: the full stop was that of an abbreviation.
    if before.endswith(".") and after[:1].islower():
        return True
    if language == "de":
        following = re.match(r"\w+", after)
        return bool(_ORDINAL.search(before) and following and following[0] not in _GERMAN_STARTS)
    if language == "ar":
        return bool(_ARABIC_INITIAL.search(before))
    if language == "ja" and before.endswith("。") and after.startswith("の"):
        return True  # a name: モーニング娘。の
    says = _SAYS.get(language)
    return bool(says and _SPOKEN.search(before) and says.match(after))
