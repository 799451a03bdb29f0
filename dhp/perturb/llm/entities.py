"""Checks that a language model replaced entities by others, as many as asked for, and nothing else."""

import re
from collections.abc import Sequence, Set

from dhp.content.catalog import read_list
from dhp.core.english import SHORT
from dhp.core.language import HAN
from dhp.core.words import word_frequency, zipf
from dhp.perturb.facts.lists import LANGUAGES, FactLists
from dhp.perturb.llm.any_language import is_slip
from dhp.perturb.llm.values import values
from dhp.perturb.llm.words import Change, Word, changes, words

LEFT_OUT = "words are left out; put a fictional counterpart in the place of the entity and keep all others"
ADDED = "words are added; put a fictional counterpart in the place of the entity and add nothing"
NO_ENTITY = (
    "words that are no entity are changed; replace names, numbers or technical terms and keep all others"
)
SAME_ENTITY = "an entity is only written in another way; replace it by a fictional one"
MISSPELT_ENTITY = "an entity is only misspelt; replace it by a fictional one"
DESCRIBED = "an entity is described in place of being replaced; put a fictional name in its place"
MANY_ENTITIES = "more entities are replaced than asked for; keep the others as they are"
FEW_ENTITIES = "fewer entities are replaced than asked for"
REWRITTEN = "too much of the text is changed; replace the entities alone"
_LINKS = ("of", "the", "de", "la", "del", "du", "di", "von", "van", "der", "den")
"""Words that may be part of a name."""
_AGREEING = frozenset("a an the he she it they him her them his hers its their theirs who which that".split())
"""What may have to agree with a replaced entity."""


def entities_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    before = words(original)
    made = changes(before, words(revised), case=True, bridged=_bridged)
    if sum(len(change.old) for change in made) > max(0.5 * len(before), 4):
        return REWRITTEN
    slips = sum(_is_slip(change) and _plain(change.old) != _plain(change.new) for change in made)
    if slips > (len(made) // 3 if count == "all" else 0):
        return MISSPELT_ENTITY
    same = sum(_is_the_same(change.old, change.new, language) for change in made if change.old and change.new)
    if same > (len(made) // 3 if count == "all" else 0):
        return SAME_ENTITY
    if language is None:  # a term in small letters may be an entity there, as in English
        return None
    if language != "en":
        return _entities_fault_in_any_language(before, made, count, language)
    replaced: list[Change] = []
    reasons: list[str] = []
    for change in made:
        reason = _replacement_fault(change, before)
        if reason:
            reasons.append(reason)
        elif not _agrees(change):
            replaced.append(change)
    if reasons and (count != "all" or len(reasons) > len(made) // 3):
        return reasons[0]
    if not replaced:
        return NO_ENTITY
    entities, before_entities = _entities(replaced), _entities(_runs(before))
    if count != "all" and entities > int(count):
        return MANY_ENTITIES
    wanted = min(2 if count == "all" else int(count), before_entities)
    if entities < wanted:
        return FEW_ENTITIES
    return FEW_ENTITIES if count == "all" and _are_left(before, made) else None


def _are_left(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether more than half of the names and numbers are as they were."""
    sure = [word for word in before if word.named or word.is_number]
    changed = sum(word.named or word.is_number for change in made for word in change.old)
    return changed < (1 - _MOST_LEFT) * len(sure)


_MOST_LEFT = 0.5
"""Share of the names and numbers that may stay where all are to be replaced: some are no entity, such as the
number of a step."""


def _is_slip(change: Change) -> bool:
    """Whether a change only misspells a name; two frequent words, such as June and July, are no such pair."""
    pairs = zip(change.old, change.new, strict=False)
    return len(change.old) == len(change.new) and all(
        is_slip(old.text, new.text) and zipf(old.base) < _FREQUENT for old, new in pairs
    )


_FREQUENT = 4.5


def _entities_fault_in_any_language(
    before: Sequence[Word], made: Sequence[Change], count: int | str, language: str
) -> str | None:
    """Why changes replace no entity, as far as capital letters, figures and frequent words tell."""
    cased = any(word.text != word.text.lower() for word in before)
    replaced = [change for change in made if change.old and change.new and not _agrees(change)]
    if any(_plain(change.old) == _plain(change.new) for change in replaced):
        return SAME_ENTITY
    if cased:
        replaced = [change for change in replaced if any(map(_is_marked, change.old))]
        if any(not any(map(_is_marked, change.new)) for change in replaced):
            return DESCRIBED
    elif any(_is_no_name(change.old, language) and _is_no_name(change.new, language) for change in replaced):
        return NO_ENTITY
    if not replaced:
        return NO_ENTITY
    different = _different(replaced)
    if count != "all":
        return MANY_ENTITIES if different > int(count) else None
    if sum(_has_digit(word) for word in before) > 1 and _digits_left(before, made):
        return FEW_ENTITIES
    return FEW_ENTITIES if different < 2 and len(before) > SHORT else None


def _is_marked(word: Word) -> bool:
    """Whether a capital or a figure tells that a word may be an entity, in any language."""
    return word.text != word.text.lower() or word.is_number


_COMMON = 1e-4
"""Share of all Chinese words from which on a word is no name, unless it is a listed place."""
_INFLECTED = re.compile(f"[{HAN}][\u3040-\u309f]+")


def _is_no_name(side: Sequence[Word], language: str) -> bool:
    """Whether characters are a verb or an adjective of Japanese, or a frequent word of Chinese."""
    text = "".join(word.text for word in side)
    if language != "zh" or any(map(str.isdigit, text)):
        return _INFLECTED.fullmatch(text) is not None
    return word_frequency(text, "zh") >= _COMMON and text not in read_list("facts_zh", FactLists).place_names


def _different(replaced: Sequence[Change]) -> int:
    """How many different entities were replaced; mentions that share a word are of one."""
    groups: list[set[str]] = []
    for change in replaced:
        group = {word.base for word in change.old if len(word.base) > 1 or not word.base.isalpha()}
        for same in [other for other in groups if other & group]:
            groups.remove(same)
            group |= same
        groups.append(group)
    return len(groups)


def _digits_left(before: Sequence[Word], made: Sequence[Change]) -> bool:
    with_digits = sum(_has_digit(word) for word in before)
    changed = sum(_has_digit(word) for change in made for word in change.old)
    return changed < (1 - _MOST_LEFT) * with_digits


def _has_digit(word: Word) -> bool:
    return any(map(str.isdigit, word.text))


def _bridged(before: Word, between: Word, after: Word) -> bool:
    """Whether a word between two changed ones is part of the same entity, as `to` in `9 to 4`."""
    if before.is_number and after.is_number:
        return between.base in ("to", "and", "point", "年", "月")
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
    described = [word for word in old if not (word.named or word.joins)]
    if len(common) > len(described) and any(word.named for word in old):
        return DESCRIBED
    if not any(word.is_noun for word in old) or len(common) > 2 or len(old) > 8 or len(new) > len(old) + 4:
        return NO_ENTITY
    return None


def _is_the_same(old: Sequence[Word], new: Sequence[Word], language: str | None) -> bool:
    """Whether two sides are one thing in two ways of writing, as `12 March` and `March 12`, or initials."""
    before = values([word.base for word in old], language or "en")
    after = values([word.base for word in new], language or "en")
    if sorted(before) == sorted(after):
        return True
    short, long = sorted((old, new), key=len)
    initials = "".join(word.text[0] for word in long if word.text[0].isupper())
    if len(short) != 1:
        return False
    return (len(initials) > 1 and short[0].text == initials) or _is_short_for(short[0], long[0], language)


def _is_short_for(one: Word, other: Word, language: str | None) -> bool:
    """Whether two words are a month or weekday and its abbreviation."""
    short, long = sorted((one.base, other.base), key=len)
    dates = read_list(f"facts_{language if language in LANGUAGES else 'en'}", FactLists).proper
    return long in dates and len(short) > 1 and long.startswith(short)


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
        for same in [other for other in groups if _share_a_stem(other, group)]:
            groups.remove(same)
            group |= same
        groups.append(group)
    return len(groups)


def _share_a_stem(some: Set[str], others: Set[str]) -> bool:
    return any(_akin(a, b) for a in some for b in others)


def _akin(one: str, other: str) -> bool:
    return one == other or (one[:4] == other[:4] and len(one) >= 4 and not one[0].isdigit())
