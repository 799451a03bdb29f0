"""Whether the rest of an answer takes a rating back, or gives another one beside it.

`goes_on` looks first for words that take it back wherever they stand (`I withdraw the score`). Then it goes
through the sentences behind the value: one that takes points off or adds some (`_adds`), or gives another
value of the scale (`_changes`), makes the answer unreadable. Sentences about a criterion, a scale or a value
that was not given count for nothing.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from dhp.judge.extraction.behind import names_a_criterion
from dhp.judge.extraction.grammar import Grammar, is_of_an_item
from dhp.judge.extraction.words import WORD, any_of, phrases_of, words_of

_SENTENCE = re.compile(r"[^\n.!?。！？](?:[^\n.!?。！？]|[.!?](?!\s|\Z)){0,600}")
"""Up to a mark with a space behind it: the point of `4.5` ends none."""
_MOST_SENTENCES = 400
"""Sentences behind a value that are looked at, so that an answer of any length is read fast."""
_TAKEN_BACK = re.compile(
    rf"{any_of('taken_back')}|{any_of('takes')} (?:off )?(?:one|an?|half|two|\d)\b"
    rf"|(?<!not ){any_of('orders')} (?:of )?(?:this|that|it|my|what i|the (?:above|{any_of('ratings')}))\b"
    rf"|{any_of('ratings')}(?: above| [^.:\n]{{1,40}}(?=:))?[: ]{{1,3}}(?:could |can )?"
    rf"(?:{any_of('is_void')} )?(?:(?:only|just|merely|an?|the) )*{any_of('void', 'void_said')}",
    re.I,
)
"""`I retract`, `I'm docking half a point`, `disregard the above rating`, `the score is only a placeholder`"""


def _shortest(phrases: Iterable[str]) -> list[str]:
    """The phrases that hold no other one: a text without any of them holds none of all."""
    shortest: list[str] = []
    for phrase in sorted(phrases, key=len):
        if not any(shorter in phrase for shorter in shortest):
            shortest.append(phrase)
    return shortest


_SIGNS_OF_IT = _shortest(phrases_of("taken_back", "takes", "orders", "ratings"))
"""Without any of these nothing is taken back: looking for them is faster than the pattern."""
_VOID = re.compile(
    rf" ?[(\[] ?{any_of('void')}"
    rf"| ?[(\[-]+ ?(?:{any_of('before_not_own')} )*{any_of('not_own')}(?: only)? ?(?:[)\].]|\Z)",
    re.I,
)
"""`4 (withdrawn)`, `4 (by the author)`"""
_AMOUNT = re.compile(
    rf"\b{any_of('amounts')} (?:(?:more|full|whole|further) )*{any_of('points')}(?! clear)"
    rf"|\b(?:{any_of('orders_of_amounts')} {any_of('amounts')}|{any_of('amounts')} {any_of('further')})"
    r"(?=[.,;:!)\n]| (?:for|because|since|as|off|then)\b|\s*\Z)",
    re.I,
)
"""`a point`, `one less`, `add one`, `by one`: of a rating, if its sentence says in which direction."""
_DIRECTION = re.compile(any_of("directions"), re.I)
_SIGNED = re.compile(r"(?<![\w.()+\d-])[-+]\d(?!\d|\.\d| ?-)")
"""Points off or on, ` -1`, and no range `1-5`, no negative score `-1.5`."""
_ALREADY = re.compile(any_of("already"), re.I)
"""Words by which points are gone before the rating is given."""
_CHANGE = re.compile(rf"{any_of('change')}|{any_of('ratings')}[^.\n:]{{0,40}}:", re.I)
"""Words by which a choice at the end of a sentence is another one: `Correction: A`, `My verdict then: A`"""
_NOT_GIVEN = re.compile(rf"{any_of('not_given')}|=|\d ?- ?\d", re.I)
"""Words of a sentence behind which a value is one that was not given: `It would have been a 5`, `4 - 5`."""
_COMPARED = re.compile(rf"\bthe \Z|\b{any_of('compared')} [\"'(\[]*\Z", re.I)
"""Words behind which a choice at the end of a sentence is only compared with or spoken of: `than B`."""
_ASIDE = re.compile(
    rf"\([^()\n]{{0,120}}(?:=|\d ?(?:-|to|and) ?[+-]?\d|{any_of('aside')})[^()\n]{{0,120}}\)", re.I
)
"""What explains the scale: `(1 = poor, 5 = good)`, `(confidence 3)`"""
_BEFORE = re.compile(rf"(?P<word>{WORD})?(?P<mark> ?[^\w\s\"'(\[]?) ?[\"'(\[]*\Z")
"""The last word before a value and a mark between them: `Plot: ` of `Plot: 4`"""
_BEHIND = re.compile(rf"[ \"')\]]*(?:[^\w\s\"')\]=-]|\Z|\n|-(?= )|{any_of('after_value')})", re.I)
"""What stands behind a value that counts nothing: `a 3.`, `a 3 fits`"""
_LIST_MARK = re.compile(r"[.):] \S")
"""Behind the number of an item: `2. The ending`"""

_BEFORE_ONE = frozenset("a an to minus less by".split())
_POINTING = frozenset("the these those all of other this that no any".split())


def _is_a_number(word: str, number: float) -> bool:
    """Whether a word such as `one` is a number by the word before it: `the one`, `these two` are not."""
    return word in _BEFORE_ONE or (number > 1 and word not in _POINTING)


def goes_on(text: str, behind: int, number: float, grammar: Grammar) -> bool:
    """Whether what follows a chosen value takes it back, or gives another value of the scale.

    A number counts as a value if a mark or a word of the closed list stands before it, and behind it nothing
    that it counts: `Halo 3` and `3 errors` give no value.
    """
    if "(" in text:  # blanks of the same length, so that places stay
        text = _ASIDE.sub(lambda aside: " " * len(aside[0]), text)
    if _VOID.match(text, behind):
        return True
    small = text[behind:].lower()
    if any(sign in small for sign in _SIGNS_OF_IT) and _TAKEN_BACK.search(text, behind):
        return True

    # Most answers have neither amounts nor other values behind the first one.
    adds = not grammar.chooses and (_AMOUNT.search(text, behind) or _SIGNED.search(text, behind))
    if not adds and grammar.begins.search(text, behind) is None:
        return False
    for sentence in itertools.islice(_SENTENCE.finditer(text, behind), _MOST_SENTENCES):
        start, end = sentence.span()
        if adds and _adds(text, start, end, grammar):
            return True
        if _changes(text, start, end, start == behind, number, grammar):
            return True
    return False


def _changes(text: str, start: int, end: int, in_own: bool, number: float, grammar: Grammar) -> bool:
    """Whether a sentence, or the rest of the value's (`in_own`), gives another value."""
    places = list(_values(text, start, end, grammar))
    if not places:
        return False
    if not in_own and (is_of_an_item(text, start) or names_a_criterion(text[start:end])):
        return False  # a later sentence that rates a part, or one criterion
    only_at_end = grammar.chooses and not _CHANGE.search(text, start, end)
    for place in places:
        if _NOT_GIVEN.search(text, start, place):
            return False
        if only_at_end:  # a choice inside a sentence is spoken of; one that ends another sentence is given
            is_inside = " " in text[place:end].strip()
            if in_own or is_inside or _COMPARED.search(text, start, place):
                continue
        if _is_other(text, start, place, number, grammar):
            return True
    return False


def _adds(text: str, start: int, end: int, grammar: Grammar) -> bool:
    """Whether a sentence takes points off that were not off before, or adds some."""
    if _ALREADY.search(text, start, end):
        return False
    if grammar.low >= 0 and _SIGNED.search(text, start, end):
        return True
    return bool(_AMOUNT.search(text, start, end) and _DIRECTION.search(text, start, end))


def _values(text: str, start: int, end: int, grammar: Grammar) -> Iterator[int]:
    """Where values stand: of `4 out of 5` the first number alone."""
    for match in grammar.begins.finditer(text, start, end):
        if match.start() < start:  # inside the value before
            continue
        value = grammar.read(text, match.start())
        if value is not None:
            start = value.end
            yield match.start()


def _is_other(text: str, start: int, place: int, number: float, grammar: Grammar) -> bool:
    """Whether another value of the scale is given at a place."""
    value = grammar.read(text, place)
    if value is None or value.number == number:
        return False
    if not grammar.chooses and not grammar.low <= value.number <= grammar.high:
        return False

    # The word before it: one that is not of the list has the number as its name or its own score.
    before = _BEFORE.search(text, max(start, place - 24), place)
    word, mark = (before["word"] or "", before["mark"].strip()) if before else ("", "")
    parts_words = bool(word) and word[-1] < "\u2e80"  # not Chinese, Japanese, Korean
    if parts_words and mark in (":", "|", "") and not grammar.parts(word):  # `Plot: 4`, `Halo 3`
        label = re.findall(WORD, text[start:place].lower()) if mark == ":" else [word.lower()]
        if words_of("before_value").union(("i", "my")).isdisjoint(label):
            return False
    if not grammar.chooses and text[place].isalpha() and not _is_a_number(word.lower(), value.number):
        return False

    # What follows it: it may be the mark of an item, or count something.
    if not text[start:place].strip() and _LIST_MARK.match(text, value.end):
        return False
    return _BEHIND.match(text, value.end) is not None
