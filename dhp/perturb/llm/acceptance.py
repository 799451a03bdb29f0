"""Checks that a language model made the requested damage, with reasons for the next attempt."""

import re
from collections.abc import Callable, Sequence

from dhp.core.english import SHORT, looks_english
from dhp.core.refusals import is_refusal
from dhp.perturb.llm.prompts import REFUSED
from dhp.perturb.llm.rephrasing import insertion_fault
from dhp.perturb.llm.word_diff import Change, Word, bare, carries_meaning, changes, is_form, is_spelt, words

EMPTY = "there is no text"
UNCHANGED = "the text is unchanged"
ANOTHER = "this is another text of the task and not the revised one"
LANGUAGE = "the text is in another language; keep that of the original"
TOO_LONG = "the text is much too long; give the revised text alone"
TOO_SHORT = "the text is much too short; keep all that is not to be changed"
LEFT_OUT = "words are left out; put a fictional counterpart in the place of the entity and keep all others"
ADDED = "words are added; put a fictional counterpart in the place of the entity and add nothing"
NO_ENTITY = (
    "words that are no entity are changed; replace names, numbers or technical terms and keep all others"
)
SAME_ENTITY = "an entity is only written in another way; replace it by a fictional one"
MANY_ENTITIES = "more entities are replaced than asked for; keep the others as they are"
FEW_ENTITIES = "fewer entities are replaced than asked for"
REWRITTEN = "too much of the text is changed; replace the entities alone"
NO_GRAMMAR = (
    "words with a meaning of their own are exchanged, added or left out; change grammatical forms alone"
)
MISSPELT = "a word is misspelt; make errors of grammar with words that exist"
FEW_ERRORS = "there are fewer errors than asked for"
MANY_ERRORS = "far more is changed than the errors asked for"

_LENGTHS = {
    "fictional_named_entities": (0.75, 1.35),
    "grammatical_errors": (0.8, 1.2),
    "rewriting_insertion": (0.95, 3.0),
}
"""Least and most words of the revised text, as a share of those of the original."""
_ANY_LENGTH = (0.3, 3.0)
_SLACK = 4
"""Words by which a text may be shorter or longer in any case."""

_LINKS = ("of", "the", "de", "la", "del", "du", "di", "von", "van", "der", "den")
"""Words that may be part of a name."""
_AGREEING = frozenset("a an the he she it they him her them his hers its their theirs who which that".split())
"""What may have to agree with a replaced entity."""


def fault(
    perturber: str,
    original: str,
    revised: str,
    count: int | str,
    others: Sequence[str] = (),
    language: str | None = None,
) -> str | None:
    """Why a revised text is not the original with this kind of damage; None if it is.

    `count` is the number of changes asked for, or "all"; `others` are texts that the request showed beside
    the original; `language` is the declared one, None where none was. A perturber that is not known here gets
    the checks that hold for all. What needs a dictionary is checked in declared English alone.
    """
    english = language == "en" and looks_english(original)
    if reason := _general_fault(perturber, original, revised, others, english):
        return reason
    check = _CHECKS.get(perturber)
    return check(original, revised, count, english) if check else None


def _general_fault(
    perturber: str, original: str, revised: str, others: Sequence[str], english: bool
) -> str | None:
    if not bare(revised):
        return EMPTY
    if is_refusal(revised) and not is_refusal(original):
        return REFUSED
    if bare(revised) == bare(original):
        return UNCHANGED
    if bare(revised) in map(bare, others):
        return ANOTHER
    if _script(revised) != _script(original) or _in_another(original, revised, english):
        return LANGUAGE
    least, most = _LENGTHS.get(perturber, _ANY_LENGTH)
    before, after = len(words(original)), len(words(revised))
    if after > most * before + _SLACK:
        return TOO_LONG
    return TOO_SHORT if after < max(least * before - _SLACK, _ANY_LENGTH[0] * before) else None


def _in_another(original: str, revised: str, english: bool) -> bool:
    """Whether English became another language, or another language English, as far as words tell."""
    if english:
        return not looks_english(revised)
    told = min(len(words(original)), len(words(revised))) >= SHORT
    return told and looks_english(revised) != looks_english(original)


def _script(text: str) -> str:
    """The script that most of the letters are of, e.g. `LATIN`; empty without letters."""
    import unicodedata

    names = [unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()]
    return max(sorted(set(names)), key=names.count, default="")


# Fictional named entities -------------------------------------------------------------------------------


def _entities_fault(original: str, revised: str, count: int | str, english: bool) -> str | None:
    before = words(original)
    made = changes(before, words(revised), case=True, bridged=_bridged)
    if sum(len(change.old) for change in made) > max(0.5 * len(before), 4):
        return REWRITTEN
    if not english:
        return None
    replaced: list[Change] = []
    reasons: list[str] = []
    for change in made:
        if reason := _replacement_fault(change, before):
            reasons.append(reason)
        elif not _agrees(change):
            replaced.append(change)
    if reasons and (count != "all" or len(reasons) > len(made) // 3):
        return reasons[0]
    if not replaced:
        return NO_ENTITY
    entities, there = _entities(replaced), _entities(_runs(before))
    if count != "all" and entities > int(count):
        return MANY_ENTITIES
    wanted = min(2 if count == "all" else int(count), there)
    return FEW_ENTITIES if entities < wanted else None


def _bridged(before: Word, between: Word, after: Word) -> bool:
    """Whether a word between two changed ones is part of the same entity, as `to` in `9 to 4`."""
    if before.is_number and after.is_number:
        return between.base in ("to", "and", "point")
    return between.base in _LINKS or between.is_number


def _agrees(change: Change) -> bool:
    """Whether it only makes an article or pronoun agree with a replaced entity."""
    return all(word.base in _AGREEING for word in (*change.old, *change.new))


def _replacement_fault(change: Change, original: Sequence[Word]) -> str | None:
    """Why a change neither replaces an entity by one that is new to the original nor makes a word agree.

    Where the original has no entity at all, a noun counts as one.
    """
    old, new = change.old, change.new
    if _agrees(change):
        return None
    if not new:
        return LEFT_OUT
    if not old:
        return ADDED
    if _plain(old) == _plain(new):
        return SAME_ENTITY
    known = {word.base for word in original}
    nouns = not any(word.is_entity for word in original)
    entities = [word for word in new if word.is_entity or (nouns and word.is_noun)]
    common = [word for word in new if not (word in entities or word.joins or word.base in known)]
    if not any(word.is_number or word.base not in known for word in entities):
        return NO_ENTITY
    if not any(word.is_noun for word in old) or len(common) > 2 or len(old) > 8 or len(new) > len(old) + 4:
        return NO_ENTITY
    return None


def _plain(side: Sequence[Word]) -> str:
    return " ".join(re.sub(r"e?s$", "", word.base) for word in side)


def _runs(text: Sequence[Word]) -> list[Change]:
    """The entities of a text: words of that kind in a row."""
    runs: list[list[Word]] = [[]]
    for word in text:
        if word.is_entity:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [Change(tuple(run), ()) for run in runs if run]


def _entities(mentions: Sequence[Change]) -> int:
    """How many different entities are mentioned; mentions that share a word or its stem are of one."""
    groups: list[set[str]] = []
    for mention in mentions:
        group = {word.base for word in mention.old if word.is_entity} or {
            w.base for w in mention.old if not w.joins
        }
        for same in [g for g in groups if any(_akin(a, b) for a in g for b in group)]:
            groups.remove(same)
            group |= same
        groups.append(group)
    return len(groups)


def _akin(one: str, other: str) -> bool:
    return one == other or (one[:4] == other[:4] and len(one) >= 4 and not one[0].isdigit())


# Grammatical errors -------------------------------------------------------------------------------------


def _grammar_fault(original: str, revised: str, count: int | str, english: bool) -> str | None:
    before, after = words(original, marks=True), words(revised, marks=True)
    made = changes(before, after, case=False)
    if english:
        meant = {word.base for word in before}
        new = [word for change in made for word in change.new if word.base not in meant]
        if any(not word.named and not is_spelt(word.base, meant) for word in new):
            return MISSPELT
        if not _same_content(before, made):
            return NO_GRAMMAR
    errors = sum(max(len(change.old), len(change.new)) for change in made)
    least = 3 if count == "all" else int(count)
    if errors < least:
        return FEW_ERRORS
    most = 2 * least if least < 3 else max(len(before) // 2, least + 1)  # minor stays below major
    return MANY_ERRORS if errors > most else None


def _same_content(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether words that carry meaning stand where they stood, in some form, but for a few cut off."""
    lost: list[Word] = []
    for change in made:
        gone = [word for word in change.old if carries_meaning(word)]
        for word in filter(carries_meaning, change.new):
            same = next((old for old in gone if is_form(word.base, old.base)), None)
            if same is None:
                return False
            gone.remove(same)
        lost += gone
    return len(lost) <= 1 + sum(map(carries_meaning, before)) // 25 and not any(
        word.is_entity for word in lost
    )


_CHECKS: dict[str, Callable[[str, str, int | str, bool], str | None]] = {
    "fictional_named_entities": _entities_fault,
    "grammatical_errors": _grammar_fault,
    "rewriting_insertion": insertion_fault,
}
