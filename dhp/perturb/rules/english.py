"""Rules that know English words from lists, without a parser: other names, forms that grammar forbids."""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from pydantic import Field

from dhp.core.errors import NotApplicable
from dhp.core.language import sentence_spans
from dhp.core.markdown import masked
from dhp.core.seeding import shuffled
from dhp.core.specs import Spec
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.perturb.rules.words import number_changes

_WORD = re.compile(r"(?<![\w@#./'’-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@-]|[./]\w)")
_OWNERS = re.compile(r"['’]s?$")
_APOSTROPHE = re.compile("['’]")
_OPENING = re.compile(r"[\"“‘'(:]\s*$")
"""Behind these a word has a capital as at the beginning of a sentence."""


class EnglishErrors(Spec):
    """What is put instead of English words."""

    errors: dict[str, str] = Field(min_length=1)
    """Word -> a form that grammar does not allow where the word stands."""
    no_names: list[str]
    """Words with a capital that are no name."""
    names: list[str] = Field(min_length=1)
    """Invented names."""


Lists = Callable[[str, type[EnglishErrors]], EnglishErrors]


@perturber(
    name="name_changes", level="word", degrees={"minor": {"k": 1}, "major": {"share": 1.0}}, languages=("en",)
)
def name_changes(
    text: str, rng: Random, *, lists: Lists, k: int | None = None, share: float | None = None
) -> Edited:
    """Give `k` of the names, or a `share` of them, invented ones; in a text without names change numbers.

    A name is the last of several words in a row that have a capital within a sentence. It is changed wherever
    it stands. The changes of a smaller dose are among those of a larger one.
    """
    known, prose = lists("english_errors", EnglishErrors), masked(text).text
    names = shuffled(dict.fromkeys(_names(prose, known.no_names)), rng)
    if not names:
        try:
            changed = number_changes(text, rng, k=k, share=share)
        except NotApplicable:
            raise NotApplicable("neither a name nor a number in digits") from None
        assert isinstance(changed, Edited)
        return changed
    asked = asked_edits(k, share, len(names))
    invented = [name for name in shuffled(known.names, rng) if name not in text]
    made = 0
    for old in names[:asked]:
        # After the same article, "a" or "an".
        fitting = (name for name in invented if (name[0] in "AEIOU") == (old[0] in "AEIOU"))
        if (new := next(fitting, None)) is None:
            break
        invented.remove(new)
        for start in reversed([m.start() for m in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", prose)]):
            text = text[:start] + new + text[start + len(old) :]
            prose = prose[:start] + new + prose[start + len(old) :]
        made += 1
    return Edited(text, asked, made)


def _names(prose: str, no_names: Sequence[str]) -> Iterator[str]:
    """The last word of each run of words with a capital within a sentence, without a possessive ending."""
    for start, end in sentence_spans(prose, "en"):
        run, before = "", start
        for index, match in enumerate(_WORD.finditer(prose, start, end)):
            word, gap = _OWNERS.sub("", match[0]), prose[before : match.start()]
            capital = word[:1].isupper() and len(word) > 1 and _APOSTROPHE.split(word)[0] not in no_names
            if run and not (capital and gap == " "):
                yield run
                run = ""
            if capital and (run or (index and not _OPENING.search(gap))):
                run = word
            before = match.end()
        if run:
            yield run


@perturber(
    name="grammar_slips", level="word", degrees={"minor": {"k": 2}, "major": {"k": 5}}, languages=("en",)
)
def grammar_slips(
    text: str, rng: Random, *, lists: Lists, k: int | None = None, share: float | None = None
) -> Edited:
    """Give `k` words, or a `share` of those in a list, a form that grammar does not allow in their place.

    The list has verbs that agree with their subject, determiners, articles, pronouns, participles and
    prepositions. The errors of a smaller dose are among those of a larger one.
    """
    errors = lists("english_errors", EnglishErrors).errors
    places = [(m.start(), m[0]) for m in _WORD.finditer(masked(text).text) if _wrong(m[0], errors)]
    asked = asked_edits(k, share, len(places))
    if not places:
        raise NotApplicable("no word whose wrong form is in the list")
    for start, word in sorted(shuffled(places, rng)[:asked], reverse=True):
        text = text[:start] + _wrong(word, errors) + text[start + len(word) :]
    return Edited(text, asked, min(asked, len(places)))


def _wrong(word: str, errors: dict[str, str]) -> str:
    """The wrong form of a word, in its case; empty for other words and for those in capitals, as `A`."""
    wrong = errors.get(word.lower().replace("’", "'"), "")
    if wrong and "’" in word:
        wrong = wrong.replace("'", "’")
    if word.islower():
        return wrong
    return wrong.capitalize() if len(word) > 1 and word == word.capitalize() else ""
