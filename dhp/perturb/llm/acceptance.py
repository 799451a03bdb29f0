"""Checks that a language model made the requested damage, with reasons for the next attempt.

`fault` first looks at what holds for every kind of damage (`_general_fault`): that there is a text, and that
it is changed, in the same language and about as long. Then come the marks and line breaks of the text
(`form`), and last the check of the kind itself: entities, grammar, rephrasings, paraphrases.

Bounds were chosen so that the labelled answers in tests/perturb/acceptance.yaml and scripted_answers.yaml are
judged rightly.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from dhp.core.english import SHORT, looks_english
from dhp.core.refusals import is_refusal
from dhp.perturb.llm.entities import entities_fault
from dhp.perturb.llm.form import form_fault, is_marked
from dhp.perturb.llm.grammar import grammar_fault
from dhp.perturb.llm.prompts import REFUSED
from dhp.perturb.llm.rephrasings import insertion_fault
from dhp.perturb.llm.values import numbers, sure_numbers
from dhp.perturb.llm.words import bare, changes, words

EMPTY = "there is no text"
UNCHANGED = "the text is unchanged"
ANOTHER = "this is another text of the task and not the revised one"
LANGUAGE = "the text is in another language; keep that of the original"
TOO_LONG = "the text is much too long; give the revised text alone"
TOO_SHORT = "the text is much too short; keep all that is not to be changed"
TOO_CLOSE = "hardly a word is changed; say all of it in other words"
LOST_NAMES = "a name or a number is missing; keep all of them"
NEW_NAMES = "a name or a number is added; add none"
_LENGTHS = {
    "fictional_named_entities": (0.75, 1.35),
    "grammatical_errors": (0.8, 1.2),
    "rewriting_insertion": (0.95, 3.0),
    "paraphrase": (0.6, 1.6),
}
"""Least and most words of the revised text, as a share of those of the original."""
_ANY_LENGTH = (0.3, 3.0)
"""The same for other kinds of damage."""
_SLACK = 4
"""Words by which a text may be shorter or longer in any case."""
_WORD_BY_WORD = ("fictional_named_entities", "grammatical_errors")
"""Kinds of damage that change words and nothing between the others."""
_KANA = 0.1
"""Share of the letters that Japanese has at least; the others may be Chinese characters."""


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
    the original; `language` is its language, None if it is not known. A perturber that is not known here
    gets the checks that hold for all. What needs a dictionary is checked in declared English alone; names,
    figures, marks and unchanged words in every language.
    """
    english = language == "en" and looks_english(original)
    reason = _general_fault(perturber, original, revised, others, english)
    if reason:
        return reason
    check = _CHECKS.get(perturber)
    if check is None:
        return is_marked(original, revised)
    if perturber in _WORD_BY_WORD:
        # An error of grammar may be a comma that is a full stop now.
        reason = form_fault(original, revised, commas_stay=perturber == "fictional_named_entities")
    else:
        reason = is_marked(original, revised)
    if reason:
        return reason
    known_language = None if language == "en" and not english else language  # "en" was declared wrongly
    return check(original, revised, count, known_language)


def is_checked(perturber: str) -> bool:
    """Whether a kind of damage has checks of its own, beside those that hold for all."""
    return perturber in _CHECKS


def _general_fault(
    perturber: str, original: str, revised: str, others: Sequence[str], english: bool
) -> str | None:
    if not bare(revised):
        return EMPTY
    if is_refusal(revised) and not is_refusal(original):
        return REFUSED
    if bare(revised) == bare(original):
        return UNCHANGED
    if bare(revised) in [bare(other) for other in others]:
        return ANOTHER
    if _script(revised) != _script(original) or _in_another(original, revised, english):
        return LANGUAGE
    least, most = _LENGTHS.get(perturber, _ANY_LENGTH)
    before, after = len(words(original)), len(words(revised))
    if after > most * before + _SLACK:
        return TOO_LONG
    # Of a short text the slack would let nothing be left.
    shortest = max(least * before - _SLACK, _ANY_LENGTH[0] * before)
    return TOO_SHORT if after < shortest else None


def _in_another(original: str, revised: str, english: bool) -> bool:
    """Whether English became another language, or another language English, as far as words tell."""
    if english:
        return not looks_english(revised)
    is_long = min(len(words(original)), len(words(revised))) >= SHORT
    return is_long and looks_english(revised) != looks_english(original)


def _script(text: str) -> str:
    """The script that most of the letters are of, e.g. `LATIN`; empty without letters."""
    import unicodedata

    # The name of a character begins with its script, as LATIN SMALL LETTER A.
    scripts = Counter(unicodedata.name(c, "?").split()[0] for c in text if c.isalpha())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana > _KANA * scripts.total():
        return "JAPANESE"
    return max(sorted(scripts), key=scripts.__getitem__, default="")  # sorted, so that a tie has one answer


# Paraphrases ----

_FEWEST_CHANGED = 0.15
"""Least share of the words that a paraphrase changes."""
_ENDINGS = ("", "n", "an", "ian", "ean", "ese", "ish", "i", "er", "s")
"""What makes of a place its people, or of a name whose something is."""
_STEM = 3
"""Letters that a name has at least in common with another made of it."""


def paraphrase_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text does not say the same in other words, with all names and numbers; see `fault`."""
    before, after = words(original), words(revised)
    changed = sum(max(len(c.old), len(c.new)) for c in changes(before, after, case=False))
    if changed < _FEWEST_CHANGED * len(before):
        return TOO_CLOSE
    if not _are_kept(original, revised, language):
        return LOST_NAMES
    return None if _are_kept(revised, original, language) else NEW_NAMES


def _are_kept(text: str, other: str, language: str | None) -> bool:
    """Whether another text has all numbers of a text, and in English its names in some form."""
    if not sure_numbers(text, language) <= numbers(other, language):
        return False
    if language != "en":  # elsewhere capital letters tell no names
        return True
    bases = {word.base for word in words(other)}
    for word in words(text):
        is_name = word.named and not any(map(str.isdigit, word.text))
        if is_name and word.base not in bases and not any(_is_of(word.base, base) for base in bases):
            return False
    return True


def _is_of(one: str, other: str) -> bool:
    """Whether one of two names is made of the other: `Chinese` of `China`, but not `Bergen` of `Berg`."""
    short, long = sorted((one, other), key=len)
    stem = short.rstrip("aeiouy")
    return len(stem) >= _STEM and long.startswith(stem) and long.removeprefix(stem) in _ENDINGS


_CHECKS: dict[str, Callable[[str, str, int | str, str | None], str | None]] = {
    "fictional_named_entities": entities_fault,
    "grammatical_errors": grammar_fault,
    "rewriting_insertion": insertion_fault,
    "paraphrase": paraphrase_fault,
}
