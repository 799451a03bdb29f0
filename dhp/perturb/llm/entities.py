"""Checks that a language model replaced entities by others, as many as asked for, and nothing else.

`entities_fault` finds where the words of two texts differ. In every language it refuses a text that is
rewritten and names that are only misspelt or written in another way. In English each change is then judged
by itself with a dictionary, and the different entities are counted. In other languages capital letters,
figures and frequent words tell what may be an entity; if the language is not known, nothing more is refused.

Bounds without another source were chosen so that the labelled answers in tests/perturb/acceptance.yaml and
scripted_answers.yaml are judged rightly.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence, Set

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
_MOST_CHANGED = 0.5
"""Share of the words from which a text is rewritten, with four words as the least."""
_TOLERATED = 3
"""Where all entities are to be replaced, one change of so many may be faulty."""
_FREQUENT = 4.5
"""Zipf frequency from which a word is no slip of another, as June is none of July."""
_MOST_LEFT = 0.5
"""Share of the names and numbers that may stay where all are to be replaced: some are no entity, such as the
number of a step."""
_COMMON = 1e-4
"""Share of all Chinese words from which on a word is no name, unless it is a listed place."""
_INFLECTED = re.compile(f"[{HAN}][\u3040-\u309f]+")
"""A Japanese verb or adjective: a Chinese character with hiragana behind it, as 食べる."""
_STEM = 4
"""Letters from the start by which two words are of one name, as `Brazil` and `Brazilian`."""


def entities_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text is not the original with other entities; None if it is. See `acceptance.fault`."""
    before = words(original)
    made = changes(before, words(revised), case=True, bridged=_bridged)
    reason = _fault_of_writing(before, made, count, language)
    if reason:
        return reason
    if language is None:  # a term in small letters may be an entity there, as in English
        return None
    if language == "en":
        return _fault_in_english(before, made, count)
    return _fault_in_any_language(before, made, count, language)


def _fault_of_writing(
    before: Sequence[Word], made: Sequence[Change], count: int | str, language: str | None
) -> str | None:
    """Why so much is changed, or so little of the entities, that no dictionary is needed to see it."""
    changed = sum(len(change.old) for change in made)
    if changed > max(_MOST_CHANGED * len(before), 4):
        return REWRITTEN
    misspelt = same = 0
    for change in made:
        if _is_slip(change) and _plain(change.old) != _plain(change.new):
            misspelt += 1
        if change.old and change.new and _is_the_same(change.old, change.new, language):
            same += 1
    allowed = len(made) // _TOLERATED if count == "all" else 0
    if misspelt > allowed:
        return MISSPELT_ENTITY
    if same > allowed:
        return SAME_ENTITY
    return None


# English, with a dictionary ----


def _fault_in_english(before: Sequence[Word], made: Sequence[Change], count: int | str) -> str | None:
    replaced: list[Change] = []
    reasons: list[str] = []
    for change in made:
        if _agrees(change):
            continue
        reason = _replacement_fault(change, before)
        if reason:
            reasons.append(reason)
        else:
            replaced.append(change)
    if reasons and (count != "all" or len(reasons) > len(made) // _TOLERATED):
        return reasons[0]
    if not replaced:
        return NO_ENTITY

    # Different entities count: a name that is replaced wherever it stands is one. The text may have fewer of
    # them than asked for.
    entities = _entities([change.old for change in replaced])
    if count != "all" and entities > int(count):
        return MANY_ENTITIES
    wanted = 2 if count == "all" else int(count)
    if entities < min(wanted, _entities(_runs(before))):
        return FEW_ENTITIES
    if count == "all" and _are_left(before, made, _is_name_or_number):
        return FEW_ENTITIES
    return None


def _replacement_fault(change: Change, original: Sequence[Word]) -> str | None:
    """Why a change does not replace an entity by one that is new to the original.

    Where the original has no entity at all, a noun counts as one.
    """
    old, new = change.old, change.new
    if not new:
        return LEFT_OUT
    if not old:
        return ADDED
    if _plain(old) == _plain(new):
        return SAME_ENTITY
    known = {word.base for word in original}
    is_noun_enough = not any(word.is_entity for word in original)
    has_new_entity = False
    described = 0  # new words that are neither an entity nor of the text
    for word in new:
        if word.is_entity or (is_noun_enough and word.is_noun):
            has_new_entity |= word.is_number or word.base not in known
        elif not word.joins and word.base not in known:
            described += 1
    if not has_new_entity:
        return NO_ENTITY

    # "the old library" may become "the old Lumenarium", but a name no "small town in the north".
    names = [word for word in old if word.named]
    plain = [word for word in old if not (word.named or word.joins)]
    if names and described > len(plain):
        return DESCRIBED
    is_long = len(old) > 8 or len(new) > len(old) + 4
    if described > 2 or is_long or not any(word.is_noun for word in old):
        return NO_ENTITY
    return None


def _runs(text: Sequence[Word]) -> list[list[Word]]:
    """The entities of a text: words of that kind in a row."""
    runs: list[list[Word]] = [[]]
    for word in text:
        if word.is_entity:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _entities(mentions: Iterable[Sequence[Word]]) -> int:
    """How many different entities are mentioned; mentions that share a word or its stem are of one."""
    names: list[set[str]] = []
    for mention in mentions:
        of_entities = {word.base for word in mention if word.is_entity}
        names.append(of_entities or {word.base for word in mention if not word.joins})
    return _different(names, _share_a_stem)


def _share_a_stem(some: Set[str], others: Set[str]) -> bool:
    return any(_is_of_one_name(one, other) for one, other in itertools.product(some, others))


def _is_of_one_name(one: str, other: str) -> bool:
    if one == other:
        return True
    return len(one) >= _STEM and one[:_STEM] == other[:_STEM] and not one[0].isdigit()


# Other languages, without a dictionary ----


def _fault_in_any_language(
    before: Sequence[Word], made: Sequence[Change], count: int | str, language: str
) -> str | None:
    """Why changes replace no entity, as far as capital letters, figures and frequent words tell."""
    replaced = [change for change in made if change.old and change.new and not _agrees(change)]
    for change in replaced:
        if _plain(change.old) == _plain(change.new):
            return SAME_ENTITY
    if any(_has_capital(word) for word in before):
        replaced = [change for change in replaced if _has_mark(change.old)]
        if not all(_has_mark(change.new) for change in replaced):
            return DESCRIBED
    else:
        for change in replaced:
            if _is_no_name(change.old, language) and _is_no_name(change.new, language):
                return NO_ENTITY
    if not replaced:
        return NO_ENTITY

    different = _different(map(_bases_of_name, replaced), _share_a_word)
    if count != "all":
        return MANY_ENTITIES if different > int(count) else None
    # That all are replaced shows only in figures, which every language writes alike.
    with_digits = [word for word in before if _has_digit(word)]
    if len(with_digits) > 1 and _are_left(before, made, _has_digit):
        return FEW_ENTITIES
    return FEW_ENTITIES if different < 2 and len(before) > SHORT else None


def _has_capital(word: Word) -> bool:
    return word.text != word.text.lower()


def _has_mark(side: Sequence[Word]) -> bool:
    """Whether a capital or a figure tells that words may be an entity, in any language."""
    return any(_has_capital(word) or word.is_number for word in side)


def _is_no_name(side: Sequence[Word], language: str) -> bool:
    """Whether characters are a verb or an adjective of Japanese, or a frequent word of Chinese."""
    text = "".join(word.text for word in side)
    if language != "zh" or any(map(str.isdigit, text)):
        return _INFLECTED.fullmatch(text) is not None
    return word_frequency(text, "zh") >= _COMMON and text not in read_list("facts_zh", FactLists).place_names


def _bases_of_name(change: Change) -> set[str]:
    """The words of a replaced entity, without single letters: these are of many names."""
    return {word.base for word in change.old if len(word.base) > 1 or not word.base.isalpha()}


def _share_a_word(some: Set[str], others: Set[str]) -> bool:
    return not some.isdisjoint(others)


# Any language ----


def _bridged(before: Word, between: Word, after: Word) -> bool:
    """Whether a word between two changed ones is part of the same entity, as `to` in `9 to 4`."""
    if before.is_number and after.is_number:
        return between.base in ("to", "and", "point", "年", "月")
    return between.base in _LINKS or between.is_number


def _agrees(change: Change) -> bool:
    """Whether it only makes an article or pronoun agree with a replaced entity."""
    return all(word.base in _AGREEING for word in (*change.old, *change.new))


def _is_slip(change: Change) -> bool:
    """Whether a change only misspells a name; two frequent words, such as June and July, are no such pair."""
    if len(change.old) != len(change.new):
        return False
    for old, new in zip(change.old, change.new, strict=True):
        if not is_slip(old.text, new.text) or zipf(old.base) >= _FREQUENT:
            return False
    return True


def _is_the_same(old: Sequence[Word], new: Sequence[Word], language: str | None) -> bool:
    """Whether two sides are one thing in two ways of writing, as `12 March` and `March 12`, or initials."""
    before = values([word.base for word in old], language or "en")
    after = values([word.base for word in new], language or "en")
    if sorted(before) == sorted(after):
        return True
    short, long = sorted((old, new), key=len)
    if len(short) != 1:
        return False
    capitals = [word.text[0] for word in long if word.text[0].isupper()]
    if len(capitals) > 1 and short[0].text == "".join(capitals):  # "WHO"
        return True
    return _is_short_for(short[0], long[0], language)


def _is_short_for(one: Word, other: Word, language: str | None) -> bool:
    """Whether two words are a month or weekday and its abbreviation."""
    short, long = sorted((one.base, other.base), key=len)
    dates = read_list(f"facts_{language if language in LANGUAGES else 'en'}", FactLists).proper
    return long in dates and len(short) > 1 and long.startswith(short)


def _plain(side: Sequence[Word]) -> str:
    """The words without the endings of a plural."""
    return " ".join(re.sub(r"e?s$", "", word.base) for word in side)


def _is_name_or_number(word: Word) -> bool:
    return word.named or word.is_number


def _has_digit(word: Word) -> bool:
    return any(map(str.isdigit, word.text))


def _are_left(before: Sequence[Word], made: Sequence[Change], counts: Callable[[Word], bool]) -> bool:
    """Whether more than half of the words that count are as they were."""
    changed = 0
    for change in made:
        changed += len(list(filter(counts, change.old)))
    return changed < (1 - _MOST_LEFT) * len(list(filter(counts, before)))


def _different(mentions: Iterable[Set[str]], are_one: Callable[[Set[str], Set[str]], bool]) -> int:
    """How many different things the words of mentions are of; two mentions that `are_one` are of one."""
    things: list[set[str]] = []
    for mention in mentions:
        joined, others = set(mention), []
        for thing in things:
            if are_one(thing, mention):
                joined |= thing
            else:
                others.append(thing)
        things = [*others, joined]
    return len(things)
