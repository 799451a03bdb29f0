"""The sentences of a text that say something of their own: no greeting, signature, header or line of a poem.

Without one of the others, or with it elsewhere, a text is hardly worse.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from dhp.content.catalog import read_list
from dhp.core.errors import NotApplicable
from dhp.core.language import WITHOUT_SPACES
from dhp.core.markdown import columns, mark_length
from dhp.core.sentences import Span, sentence_spans
from dhp.core.specs import Spec


class Courtesies(Spec):
    """The list `courtesies`: beginnings of sentences that greet, thank, introduce or take leave."""

    languages: dict[str, str]
    """Code of a language -> beginnings in small letters, with a semicolon between them."""

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """Code of a language -> what such a sentence begins with."""
        return {code: _beginning(code, listed.split("; ")) for code, listed in self.languages.items()}


def _beginning(language: str, phrases: list[str]) -> re.Pattern[str]:
    end = "" if language in WITHOUT_SPACES else r"(?!\w)"
    return re.compile(rf"\W*(?:{'|'.join(map(re.escape, phrases))}){end}", re.I)


# Bounds without another source were chosen.
_CLOSING = "\"'”’»」』）)]*_ \t\n"
_FINAL = (".", "!", "?", "…", "。", "！", "？", "।", "؟", "።")
_COURTEOUS = 80
"""Columns of the longest sentence that is taken for a courtesy by its beginning."""
_VERSE = 50
"""Columns of the longest line of a poem."""
_LEAST_VERSE = 3
"""Lines of a poem that stand right before another one, at least."""
_SIGN_OFF = 30
"""Columns of a line behind which the name of the writer stands."""
_FEW = 4
"""Pieces of a text from which it is told whether they are lines or sentences; most lines of a signature."""


def whole_sentences(text: str, language: str | None) -> list[Span]:
    """The sentences that may be missing or elsewhere, with the marks of lists before them.

    Items of lists are among them, whatever they say. In a text of several lines a line without a full stop at
    its end is none, as headers and what introduces a list. Raises `NotApplicable` if most lines of a text are
    of that kind, or stand below each other as in a poem.
    """
    spans = sentence_spans(text, language)
    has_lines = "\n" in text.strip()
    if has_lines and _is_verse(text, spans):
        raise NotApplicable("the text is made of lines, as a poem is")
    whole = list[Span]()
    for start, end in _without_signature(text, spans, language):
        sentence = text[start:end]
        is_whole = (_is_finished(sentence) or not has_lines) and not _is_courtesy(sentence, language)
        if is_whole or mark_length(text, start):
            whole.append((start, end))
    if len(spans) >= _FEW and 2 * len(whole) < len(spans):
        raise NotApplicable("most lines are no whole sentences")
    return whole


def _is_verse(text: str, spans: Sequence[Span]) -> bool:
    """Whether most sentences are short lines right below each other, but no items of a list."""
    below = 0
    for (start, end), (next_start, next_end) in pairwise(spans):
        is_below = text[end:next_start].strip(" \t") == "\n" and not mark_length(text, next_start)
        are_short = max(columns(text[start:end]), columns(text[next_start:next_end])) <= _VERSE
        if is_below and are_short:
            below += 1
    return below >= _LEAST_VERSE and 2 * below >= len(spans)


def _without_signature(text: str, spans: Sequence[Span], language: str | None) -> Sequence[Span]:
    """The sentences before the line that takes leave, if a few at most stand behind it."""
    for i in range(max(1, len(spans) - _FEW), len(spans)):
        start, end = spans[i]
        alone = text[:start].rstrip(" \t").endswith("\n") and text[end:].lstrip(" \t")[:1] in ("", "\n")
        if alone and columns(text[start:end]) <= _SIGN_OFF and _is_courtesy(text[start:end], language):
            return spans[:i]
    return spans


def _is_courtesy(sentence: str, language: str | None) -> bool:
    pattern = read_list("courtesies", Courtesies).patterns.get(language or "en")
    return pattern is not None and columns(sentence) <= _COURTEOUS and pattern.match(sentence) is not None


def _is_finished(sentence: str) -> bool:
    return sentence.rstrip(_CLOSING).endswith(_FINAL)
