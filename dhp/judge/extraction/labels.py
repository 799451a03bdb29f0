"""Which of the user's own labels an answer gives: `pass`, `partially correct`, ..."""

import functools
import re
from collections.abc import Sequence

from dhp.core.refusals import holds_refusal
from dhp.judge.extraction import objects
from dhp.judge.extraction.behind import stop_of
from dhp.judge.extraction.clauses import bare, statements
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.grammar import BARE, FINAL, NAMED, Grammar, Statement, distinct, starts
from dhp.judge.extraction.plain import plain, readable
from dhp.judge.extraction.taken_back import goes_on
from dhp.judge.extraction.values import Value
from dhp.judge.extraction.words import any_of

_NOT_LONGER = r"(?:e?d(?=[.!:,;]))?(?![\w+]|-(?=\w)|'(?=\w)|\.\w|\. \d)"


@functools.lru_cache(maxsize=64)
def _grammar(labels: tuple[str, ...]) -> Grammar:
    """How the labels are written: the longer one of two that begin alike is meant."""
    longest_first = sorted(range(len(labels)), key=lambda i: -len(labels[i]))
    patterns = [(re.compile(re.escape(plain(labels[i])) + _NOT_LONGER, re.I), i + 1.0) for i in longest_first]

    def read(text: str, start: int) -> Value | None:
        for pattern, number in patterns:
            match = pattern.match(text, start)
            if match is not None:
                return Value(number, match.end())
        return None

    any_label = "|".join(re.escape(plain(labels[i])) for i in longest_first)
    return Grammar(read, stop_of, re.compile(rf"(?<![\w'-])(?:{any_label})", re.I), chooses=True)


def read_label(text: str, labels: Sequence[str], *, cut_off: bool = False) -> Extracted:
    """The label that an answer gives, as its place in the list, from 1 for the worst.

    The answer opens or ends with the label, or a line or sentence begins with a name of verdicts and the
    label, or says that the text is so. A label inside a sentence does not count, and an answer with two
    different ones is unparsed. If the answer was cut off at the token limit, only a labelled verdict counts.
    """
    shown = readable(text)
    if isinstance(shown, Extracted):
        return shown
    grammar = _grammar(tuple(labels))
    answers, words = objects.split(shown)
    in_objects: list[Statement] = []
    for value in answers:
        in_objects += _of_object(value, labels, grammar)
    every = statements(words, grammar)
    named = [s for s in every if s.kind == NAMED]
    stated = [s for s in every if s.kind != NAMED]
    finals = [s for s in stated if s.kind == FINAL]
    opening = [] if cut_off else _of_lines(words, grammar)
    agreeing = in_objects + (finals or stated)
    if not agreeing:
        agreeing = [s for s in opening if _is_alone(s, words)]
    if not agreeing and not cut_off and len(named) == 1 and len(grammar.begins.findall(words)) == 1:
        agreeing = named  # `Consistency: pass`, and no other label in the answer
    in_words = [s for s in [*agreeing, *opening] if s.start >= 0]
    if len(distinct([*agreeing, *in_words])) > 1 or any(_goes_on(words, s, grammar) for s in in_words):
        return UNPARSED
    last = max((s.value_end for s in in_words), default=0)
    if agreeing and goes_on(words, last, agreeing[0].number, grammar):
        return UNPARSED
    if not agreeing:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    return Extracted("scored", agreeing[0].number, "label")


_KEYS = objects.SCORE_KEYS | frozenset("class classification decision outcome category correctness".split())
_TRUE, _FALSE = frozenset("yes true 1 y".split()), frozenset("no false never 0 n".split())


def _of_object(value: object, labels: Sequence[str], grammar: Grammar) -> list[Statement]:
    """The labels that an object gives: behind the name of a rating, or by yes and no behind a label."""
    stated = []
    for text in objects.of_rating(value, (), _KEYS):
        statement = bare(plain(text), 0, grammar)
        if statement is not None:
            stated.append(statement._replace(start=-1))
    for key, inner in value.items() if isinstance(value, dict) else ():
        number, truth = _label_of(str(key), labels), str(objects.as_text(inner)).lower()
        if number is None:
            continue
        if truth in _FALSE and len(labels) == 2:  # no to one is yes to the other
            number, truth = 3 - number, "yes"
        if truth in _TRUE:
            stated.append(Statement(BARE, float(number), -1, 0, 0, "label"))
    return stated


def _label_of(key: str, labels: Sequence[str]) -> int | None:
    """The place of the label that a key names, `passed` of `pass`, too."""
    small = " ".join(objects.key_words(key))
    for number, label in enumerate(labels, start=1):
        if plain(label).lower() in (small, small.removesuffix("ed")):
            return number
    return None


def _of_lines(words: str, grammar: Grammar) -> list[Statement]:
    """The labels with which lines and sentences begin."""
    openings = [bare(words, start, grammar) for start in starts(words)]
    return [opening for opening in openings if opening is not None]


def _is_alone(opening: Statement, words: str) -> bool:
    """Whether an answer opens with a label, or ends with it."""
    return opening.start == 0 or not words[opening.value_end :].strip(" .!)\"'")


_REST = re.compile(r"[^\n.!?]*")
_AS_A_KEY = re.compile(
    rf" ?[:=?] ?{any_of('as_a_key')}| ?[(,:=-] ?\d"
    r"| ?[:=?] ?[\w'-]+[ .!]*\Z|\?|,? let\b",
    re.I,
)
"""Something else is stated of what the label names: `Acceptable: never`, `Pass? No.`, `Faithful (3 of 4)`."""
_IN_PART = re.compile(
    r" (?:in|on|for|at|when|as to|with)\b(?! (?:all|every|any|both|general|my|the whole|balance)\b)"
    rf"|.*{any_of('conditions')}",
    re.I,
)
"""The label is stated of a part, or under a condition."""


_ALONE = re.compile(r"(?! ?\w)| (?:in|on|for|at|as)\b")
"""Behind a label that counts nothing, as that of `no errors` does."""


def _goes_on(words: str, statement: Statement, grammar: Grammar) -> bool:
    """Whether the sentence of a label goes on in a way that takes something of it back."""
    rest = _REST.match(words, statement.value_end)
    assert rest is not None, "as it may be empty"
    behind = words[statement.value_end : rest.end() + 1]
    if _AS_A_KEY.match(behind) or _IN_PART.match(behind):
        return True
    for match in grammar.begins.finditer(behind):
        other = grammar.read(behind, match.start())
        if other is None or other.number == statement.number:
            continue
        if _ALONE.match(behind, other.end) or behind[: match.start()].strip() in (":", "="):
            return True
    return False
