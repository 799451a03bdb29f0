"""Perturbers of facts: what a text states is made wrong, by rules, and without giving itself away.

English, German, Spanish, French and Chinese texts; the language of undeclared ones is told by their function
words. What is put in comes from the text, its source or the other texts of the table (`dhp.perturb.facts`).
"""

from collections.abc import Mapping, Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited, Perturber, asked_edits, perturber
from dhp.perturb.edits import Edit
from dhp.perturb.facts import kinds
from dhp.perturb.facts.kinds import Change, Kind
from dhp.perturb.facts.table import in_table
from dhp.perturb.facts.text import Lists

# Degrees were chosen. Three wrong facts are enough of kinds that a text may have many of.
_ONE_OR_ALL: Mapping[str, Mapping[str, object]] = {"minor": {"k": 1}, "major": {"share": 1.0}}
_ONE_OR_THREE: Mapping[str, Mapping[str, object]] = {"minor": {"k": 1}, "major": {"k": 3}}


def _stated_wrong(name: str, kind: Kind, degrees: Mapping[str, Mapping[str, object]]) -> Perturber:
    """The perturber that makes `k` changes of a kind, or a `share` of those that are possible."""

    def state_wrong(
        text: str,
        rng: Random,
        *,
        example: Example,
        others: Sequence[Example],
        lists: Lists,
        k: int | None = None,
        share: float | None = None,
    ) -> Edited:
        asked_edits(k, share, 1)  # a faulty dose is refused before anything else
        stated, table = in_table(text, example, others, lists)
        changes = kind(stated, table, rng)
        return _changed(text, changes, asked_edits(k, share, len(changes)))

    state_wrong.__name__, state_wrong.__doc__ = name, kind.__doc__
    return perturber(name=name, level="word", degrees=degrees)(state_wrong)


wrong_names = _stated_wrong("wrong_names", kinds.wrong_names, _ONE_OR_ALL)
exchanged_names = _stated_wrong("exchanged_names", kinds.exchanged_names, _ONE_OR_ALL)
wrong_dates = _stated_wrong("wrong_dates", kinds.wrong_dates, _ONE_OR_ALL)
negation = _stated_wrong("negation", kinds.denials, _ONE_OR_THREE)
opposites = _stated_wrong("opposites", kinds.opposites, _ONE_OR_THREE)
wrong_entities = _stated_wrong("wrong_entities", kinds.wrong_entities, _ONE_OR_ALL)
wrong_facts = _stated_wrong("wrong_facts", kinds.wrong_facts, _ONE_OR_THREE)


@perturber(name="wrong_numbers", level="word", degrees={"minor": {"k": 1}, "major": {"k": 3, "far": True}})
def wrong_numbers(
    text: str,
    rng: Random,
    *,
    example: Example,
    others: Sequence[Example],
    lists: Lists,
    k: int | None = None,
    share: float | None = None,
    far: bool = False,
) -> Edited:
    """Numbers in digits or words get another value that is as long and as round.

    It lies within a fifth of the old one, or more than half away with `far`. Numbers that the source has are
    changed; all may be, if it has none. Words are those of the languages with lists. Those of a smaller dose
    are among those of a larger one.
    """
    asked_edits(k, share, 1)
    # Digits need no list of words, so a number may be wrong in a text of any language.
    stated, table = in_table(text, example, others, lists, any_language=True)
    changes = kinds.wrong_numbers(stated, table, rng, is_far=far)
    return _changed(text, changes, asked_edits(k, share, len(changes)))


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits overlap, or change words side by side: "less cheap" is "more expensive" again."""
    # Two characters: words side by side have one space between them. Names and numbers may stand so.
    beside = 2 if one[2][:1].islower() and other[2][:1].islower() else 0
    return one[0] < other[1] + beside and other[0] < one[1] + beside


def _changed(text: str, changes: Sequence[Change], asked: int) -> Edited:
    """The text with the first changes that do not touch each other."""
    made, edits = 0, list[Edit]()
    for change in changes:
        if made == asked:
            break
        if not any(_touch(one, other) for one in change for other in edits):
            edits += change
            made += 1
    # From the end to the beginning, so that the positions of the edits still to be made stay right.
    result = text
    for start, stop, new in sorted(edits, reverse=True):
        result = result[:start] + new + result[stop:]
    if result == text:
        raise NotApplicable("no change would show")
    return Edited(result, asked, made)
