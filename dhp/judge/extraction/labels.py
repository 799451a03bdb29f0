"""Which of the user's own labels an answer gives: `pass`, `partially correct`, ...

A label counts in the JSON of an answer, in a sentence that states it (`clauses`), and where it opens or ends
the answer. All of these must agree, and nothing behind one may take it back: labels are ordinary words, so
what follows is looked at more closely than behind a number (`_goes_on`).
"""

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
"""Behind a label: `passed.` is `pass`; `passable`, `A+`, `A-level`, `good. 4` are none."""


@functools.lru_cache(maxsize=64)
def _grammar(labels: tuple[str, ...]) -> Grammar:
    """How the labels are written: the longer one of two that begin alike is meant."""
    in_order = [(plain(label), float(number)) for number, label in enumerate(labels, start=1)]
    longest_first = sorted(in_order, key=lambda each: -len(each[0]))
    patterns: list[tuple[re.Pattern[str], float]] = []
    for label, number in longest_first:
        patterns.append((re.compile(re.escape(label) + _NOT_LONGER, re.I), number))

    def read(text: str, start: int) -> Value | None:
        for pattern, number in patterns:
            match = pattern.match(text, start)
            if match is not None:
                return Value(number, match.end())
        return None

    any_label = "|".join(re.escape(label) for label, _ in longest_first)
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

    # What the JSON of the answer and its sentences state, and the labels with which lines begin.
    in_objects: list[Statement] = []
    for value in answers:
        in_objects += _of_object(value, labels, grammar)
    every = statements(words, grammar)
    named = [s for s in every if s.kind == NAMED]
    stated = [s for s in every if s.kind != NAMED]
    finals = [s for s in stated if s.kind == FINAL]
    opening = [] if cut_off else _of_lines(words, grammar)

    # What gives the label: what is stated, else one that opens or ends the answer, else one behind a name.
    agreeing = in_objects + (finals or stated)
    if not agreeing:
        agreeing = [s for s in opening if _is_alone(s, words)]
    if not agreeing and not cut_off and len(named) == 1 and len(grammar.begins.findall(words)) == 1:
        agreeing = named  # `Consistency: pass`, and no other label in the answer

    # No other label stands at the beginning of a line, and nothing takes one back.
    in_words = [s for s in [*agreeing, *opening] if s.start != _IN_OBJECT]
    if len(distinct([*agreeing, *in_words])) > 1:
        return UNPARSED
    if any(_goes_on(words, s, grammar) for s in in_words):
        return UNPARSED
    if not agreeing:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    last = max((s.value_end for s in in_words), default=0)
    if goes_on(words, last, agreeing[0].number, grammar):
        return UNPARSED
    return Extracted("scored", agreeing[0].number, "label")


_IN_OBJECT = -1
"""`Statement.start` of what an object states, which has no place in the words."""
_KEYS = objects.SCORE_KEYS | frozenset("class classification decision outcome category correctness".split())
"""Words of keys that hold a label."""
_TRUE, _FALSE = frozenset("yes true 1 y".split()), frozenset("no false never 0 n".split())
"""What may stand behind a label that is the key: `{"pass": true}`."""


def _of_object(value: object, labels: Sequence[str], grammar: Grammar) -> list[Statement]:
    """The labels that an object gives: behind the name of a rating, or by yes and no behind a label."""
    stated = []
    for text in objects.of_rating(value, (), _KEYS):
        statement = bare(plain(text), 0, grammar)
        if statement is not None:
            stated.append(statement._replace(start=_IN_OBJECT))
    if not isinstance(value, dict):
        return stated
    for key, inner in value.items():
        number = _label_of(str(key), labels)
        if number is None:
            continue
        truth = str(objects.as_text(inner)).lower()
        if truth in _FALSE and len(labels) == 2:  # no to one is yes to the other
            number = 3 - number
        elif truth not in _TRUE:
            continue
        stated.append(Statement(BARE, float(number), _IN_OBJECT, 0, 0, "label"))
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
"""What follows in the same sentence."""
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
"""The label is stated of a part, or under a condition: `pass for style`, `pass with two exceptions`; not that
of `pass in all points`."""
_ALONE = re.compile(r"(?! ?\w)| (?:in|on|for|at|as)\b")
"""Behind a label that counts nothing, as the `no` of `no errors` does."""


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
        if _ALONE.match(behind, other.end):
            return True
        if behind[: match.start()].strip() in (":", "="):  # `Yes: no errors`
            return True
    return False
