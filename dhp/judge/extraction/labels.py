"""The one of the user's own words that an answer gives: `pass`, `partially correct`, ..."""

import functools
import re
from collections.abc import Sequence

from dhp.core.text import holds_refusal
from dhp.judge.extraction import objects
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.plain import plain, readable, unquoted
from dhp.judge.extraction.statements import (
    Grammar,
    Statement,
    bare,
    boxed_at_end,
    distinct,
    labelled,
    last_sentence,
    stated_label,
)
from dhp.judge.extraction.values import ReadValue, Value


@functools.lru_cache(maxsize=64)
def _reader(labels: tuple[str, ...]) -> ReadValue:
    longest_first = sorted(range(len(labels)), key=lambda i: -len(labels[i]))
    patterns = [
        (re.compile(rf"{re.escape(plain(labels[i]))}(?![\w+]|-(?=\w)|'(?=\w)|\.\w|\. \d)", re.I), i + 1.0)
        for i in longest_first
    ]

    def read(text: str, start: int) -> Value | None:
        for pattern, number in patterns:
            if match := pattern.match(text, start):
                return Value(number, match.end())
        return None

    return read


def read_label(text: str, labels: Sequence[str], *, cut_off: bool = False) -> Extracted:
    """The label that an answer gives, as its place in the list, from 1; labels are listed with the worst
    first.

    The answer opens or ends with the label, or a line or sentence begins with a name of verdicts and the
    label. A label inside a sentence is none, and two different ones are unparsed. Where the answer was cut
    off at the token limit only a labelled verdict counts.
    """
    shown = readable(text)
    if isinstance(shown, Extracted):
        return shown
    grammar = Grammar(_reader(tuple(labels)))
    parts = objects.objects(shown)
    words = unquoted(plain(objects.without_objects(shown, parts)))
    named: set[str] = set()
    for value in objects.own_objects(shown, parts):
        named |= objects.of_rating(value, (), _KEYS)
    statements = [s for each in named if (s := bare(plain(each), 0, grammar))]
    statements += [s for s in labelled(words, grammar) if s.kind != "named"]
    if not cut_off and not statements:
        statements = _at_the_ends(words, grammar)
    elif not cut_off and (opening := bare(words, 0, grammar)):
        statements.append(opening)
    if len(distinct(statements)) != 1:
        return Extracted("refused") if not statements and holds_refusal(words) else UNPARSED
    return Extracted("scored", statements[0].number, "label")


_KEYS = objects.SCORE_KEYS | frozenset("class classification decision outcome category correctness".split())


def _at_the_ends(words: str, grammar: Grammar) -> list[Statement]:
    """Where an answer opens with a label, has one for its last line, or says that the text is one."""
    line = words.rfind("\n") + 1
    opening = bare(words, 0, grammar)
    if opening is None:
        opening = stated_label(words, 0, grammar)
    last = bare(words, line, grammar) if line else None
    if last is not None and words[last.value_end :].strip(" .!)\"'"):
        last = None
    if opening is None and last is None:
        sentence = last_sentence(words)
        last = (
            bare(words, sentence, grammar)
            or stated_label(words, sentence, grammar)
            or boxed_at_end(words, sentence, grammar)
        )
    return [each for each in (opening, last) if each is not None]
