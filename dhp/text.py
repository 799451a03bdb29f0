"""Sentences and words, offline: NLTK's tokenisers with rules of our own instead of downloaded data."""

import functools
import re
import unicodedata
from typing import Any

_ABBREVIATIONS = (
    "dr mr mrs ms prof rev gen sen rep gov sgt capt col lt st jr sr vs etc e.g i.e fig figs ca cf al approx "
    "dept est inc ltd co corp vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k "
    "u.n d.c ph.d m.d b.a m.a sp spp subsp var"
).split()
_CJK_STOP = re.compile(r"[^。！？]*[。！？]+[”’」』）]*|[^。！？]+$")


@functools.cache
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types.update(_ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)


@functools.cache
def _treebank() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without the white space between them; Chinese and Japanese too."""
    spans = [
        (piece.start() + start, piece.start() + end)
        for piece in _CJK_STOP.finditer(text)
        for start, end in _punkt().span_tokenize(piece.group())
    ]
    trimmed = []
    for start, end in spans:
        piece = text[start:end]
        start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
        if any(c.isalnum() for c in text[start:end]):
            trimmed.append((start, end))
        elif trimmed and end > start:
            trimmed[-1] = (trimmed[-1][0], end)
    return trimmed


def sentences(text: str) -> list[str]:
    """The sentences of a text; a piece without letters or digits belongs to the sentence before it."""
    return [text[start:end] for start, end in sentence_spans(text)]


def words(text: str) -> list[str]:
    """Tokens of NLTK's word tokeniser that hold a letter or digit; punctuation marks do not count."""
    tokens = (token for sentence in sentences(text) for token in _treebank().tokenize(sentence))
    return [token for token in tokens if any(c.isalnum() for c in token)]


def printable(text: str) -> str:
    """The text on one line, control characters replaced: they could steer a terminal."""
    shown = (" " if c.isspace() and unicodedata.category(c) == "Cc" else c for c in text)
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in shown)
