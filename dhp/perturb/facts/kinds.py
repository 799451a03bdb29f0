"""The kinds of wrong facts: each yields the changes that state something else in a text.

A change is one fact, with all edits that it takes: a name is wrong wherever it stands. The changes come in
random order; those of a smaller dose are the first of a larger one.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.seeding import shuffled
from dhp.perturb.edits import Edit
from dhp.perturb.facts.names import distinct
from dhp.perturb.facts.table import FactTable
from dhp.perturb.facts.text import DIGITS, FactText
from dhp.perturb.facts.values import Meaning, in_order, other_number
from dhp.perturb.facts.words import beside

Change = tuple[Edit, ...]
"""The edits of one wrong fact."""
Kind = Callable[[FactText, FactTable, Random], Sequence[Change]]
"""Raises `NotApplicable` for a text without a change: it has no such fact, its source has it not, or the
change would stand out."""


def _needed(changes: Iterable[Change], reason: str) -> Sequence[Change]:
    """The changes that edit anything; raises `NotApplicable` if there is none."""
    real = [change for change in changes if change]
    if not real:
        raise NotApplicable(reason)
    return real


def wrong_names(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """Names that the source has become names of another text, wherever they stand.

    Those of a smaller dose are among those of a larger one.
    """
    names = table.names
    written = distinct(names.of(text.prose))
    stated = [name for name in written if text.states_name(name)]
    if not stated:
        raise NotApplicable("no name that the source has" if written else "no name")

    # A borrowed name that the source, the text or an earlier change has would not be wrong.
    taken = f"{text.evidence_in_small_letters}\n{text.text.lower()}"
    changes = list[Change]()
    for old in shuffled(stated, rng):
        new = names.borrowed(old, text.text, taken, rng)
        if new is not None:
            taken = f"{taken}\n{new.lower()}"
            changes.append(names.renaming(text.prose, {old: new}))
    return _needed(changes, "no other text has a name of that kind")


def exchanged_names(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """Two names of a kind change places, or one becomes another name of the source.

    Both are in the source, and a sentence holds only one of them. If there are none, "he" is "she"
    throughout, or "she" "he", in a text that speaks of one sex alone, by other words as well. Those of a
    smaller dose are among those of a larger one.
    """
    names, changes, used = table.names, list[Change](), set[str]()
    stated = [name for name in distinct(names.of(text.prose)) if text.states_name(name)]
    of_a_kind = [name for name in stated if names.kind(name)]
    left = shuffled(of_a_kind, rng)

    def other_of(old: str, candidates: Iterable[str]) -> list[str]:
        kind = names.kind(old)
        alike = list[str]()
        for name in candidates:
            if name not in used and names.kind(name) == kind and not _share(name, [old]):
                alike.append(name)
        return alike

    # First pairs of names that are both in the text.
    for place, old in enumerate(left):
        if old in used:
            continue
        for other in other_of(old, left[place + 1 :]):
            if _stand_apart(text.text, old, other):
                used |= {old, other}
                changes.append(names.renaming(text.prose, {old: other, other: old}))
                break

    # A name that is left over becomes one that only the source has.
    for old in left:
        if old in used:
            continue
        free = list[str]()
        for name in other_of(old, table.source_names(text)):
            is_new = name not in text.text and not _share(name, stated)
            if is_new and not _belong(text.evidence, old, name):
                free.append(name)
        if free:
            other = free[int(rng.random() * len(free))]
            used |= {old, other}
            changes.append(names.renaming(text.prose, {old: other}))

    if not changes and table.persons.chosen(text.persons, rng):
        changes = [text.other_sex]
    reason = "no name that the source has" if names.of(text.prose) else "no name"
    return _needed(changes, "no two names of a kind in text and source" if stated else reason)


_BESIDE = 8
"""Characters between two names that belong together, at most."""
# "Lyon, France", "Anna Miller of Leeds", "Smith (Labour"
_BETWEEN = re.compile(r"\W{1,3}(?:(?:in|of|as|for|and) )?")


def _share(name: str, others: Iterable[str]) -> bool:
    """Whether a name has a word in common with others."""
    return any(not set(name.split()).isdisjoint(other.split()) for other in others)


def _belong(evidence: str, one: str, other: str) -> bool:
    """Whether two names stand beside each other in a source, as in "Lyon, France": both may be right."""
    for first, second in ((one, other), (other, one)):
        at = evidence.find(first)
        while at >= 0:
            end = at + len(first)
            following = evidence.find(second, end, end + _BESIDE + len(second))
            if following >= 0 and _BETWEEN.fullmatch(evidence, end, following):
                return True
            at = evidence.find(first, end)
    return False


def _stand_apart(text: str, one: str, other: str) -> bool:
    """Whether a sentence holds only one of both: "A and B left" says the same when they are exchanged."""
    sentences = re.split(r"(?<=[.!?。！？])\s*", text)
    return any((one in sentence) != (other in sentence) for sentence in sentences)


_FEW = 2
"""Numbers put in before one from which it differs: "1, 9, 9, 9" shows."""


def wrong_numbers(text: FactText, table: FactTable, rng: Random, *, is_far: bool = False) -> Sequence[Change]:
    """Numbers that the source has, in digits and words; if it has none at all, those of the text.

    They become others within a fifth of their value, or more than half away with `is_far`. What no source
    contradicts is wrong only if it is far from the truth.
    """
    changes, in_digits = list[Change](), text.stated_numbers
    months, far_away = text.lists.months.split(), is_far or text.has_no_digits
    for number in in_digits:
        meaning = Meaning.of(number, months, is_far=far_away)
        # Neither a number that stands near nor one that was just put in: "from 4 to 4" shows.
        near = DIGITS.findall(beside(text.prose, *number.span()))
        made = [change[-1][2] for change in changes[-_FEW:]]
        within = in_order(number)
        new = other_number(number[0], table.numbers, rng, meaning, taken=[*near, *made], within=within)
        if new is not None:
            changes.append(((*number.span(), new),))

    # Numbers in words are in a list; what stands in the text in digits decides which reason is given.
    in_words, reason = _exchanged(text, table, rng, ("numbers",), "number")
    if in_digits:
        reason = "no number whose change would not stand out"
    elif text.numbers:
        reason = "no number that the source has"
    return _needed(shuffled([*changes, *in_words], rng), reason)


def wrong_dates(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """Weekdays, months, times of day, spans of time and units that the source has become others.

    Those of a smaller dose are among those of a larger one.
    """
    listed = ("weekdays", "months", "times")
    return _needed(*_exchanged(text, table, rng, listed, "date, time or unit"))


def opposites(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """Words of a list say the opposite, another quantity or another certainty.

    "more" and "less", "before" and "after", "must" and "may"; attributes such as "large" and "small" only
    where the source has the word. Those of a smaller dose are among those of a larger one.
    """
    listed = ("opposites", "described")
    return _needed(*_exchanged(text, table, rng, listed, "word with an opposite"))


def _exchanged(
    text: FactText, table: FactTable, rng: Random, listed: tuple[str, ...], what: str
) -> tuple[list[Change], str]:
    """Words of lists with another one of their group in their place, and why there is none."""
    if not any(word.of in listed for word in text.words):
        return [], f"no {what}"

    places = text.places(listed)
    reason = f"no {what} whose change would not stand out" if places else f"no {what} that the source has"
    return [(edit,) for edit in table.words(listed).chosen(places, rng)], reason


def denials(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """Clauses are denied that were stated, or the other way round.

    Over the table negations of each form are put in as often as they are taken out, so that none shows
    anything. Those of a smaller dose are among those of a larger one.
    """
    places = text.denials
    reason = "no negation that would not stand out" if places else "no clause to deny"
    # The apostrophe of "isn't" is that of the text, or of the table if the text has none.
    apostrophe = table.apostrophe
    for mark in ("'", "’"):
        if mark in text.text:
            apostrophe = mark

    changes = list[Change]()
    for start, end, new in table.denials.chosen(places, rng):
        changes.append(((start, end, new.replace("'", apostrophe)),))
    return _needed(changes, reason)


KINDS: Mapping[str, Kind] = {
    "wrong_names": wrong_names,
    "exchanged_names": exchanged_names,
    "wrong_numbers": wrong_numbers,
    "wrong_dates": wrong_dates,
    "negation": denials,
    "opposites": opposites,
}
"""Perturber -> the wrong facts that it makes."""


def wrong_entities(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """`k` names, numbers, dates or units, or a `share` of them, are others than in the source, names first.

    Names are borrowed from another text. Those of a smaller dose are among those of a larger one.
    """
    changes = list[Change]()
    for of_kind in _by_kind(text, table, rng, (wrong_names, wrong_numbers, wrong_dates)):
        changes += of_kind
    return _needed(changes, "no name, number, date or unit that could be changed")


def wrong_facts(text: FactText, table: FactTable, rng: Random) -> Sequence[Change]:
    """`k` facts of a text are wrong, or a `share` of them, of as many kinds as it has.

    Names, numbers, dates, negation and opposites. Those of a smaller dose are among those of a larger one.
    """
    # One change of each kind in turn, in a random order of kinds, so that small doses have several kinds.
    changes = list[Change]()
    for turn in zip_longest(*_by_kind(text, table, rng, shuffled(KINDS.values(), rng))):
        changes += [change for change in turn if change is not None]
    return _needed(changes, "no fact of any kind that could be changed")


def _by_kind(text: FactText, table: FactTable, rng: Random, kinds: Iterable[Kind]) -> list[Sequence[Change]]:
    """The changes of each kind that the text allows."""
    of_kinds = list[Sequence[Change]]()
    for kind in kinds:
        try:
            of_kinds.append(kind(text, table, rng))
        except NotApplicable:
            continue  # a text without names may have numbers
    return of_kinds


CONTENT = frozenset([*KINDS, "wrong_entities", "wrong_facts", "foreign_facts", "fictional_named_entities"])
"""Perturbers that change what a text says, never its spelling: their copies must not be told from originals
without the source."""
