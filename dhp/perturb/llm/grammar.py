"""Checks that a language model made errors of grammar, as many as asked for, and changed nothing else.

`grammar_fault` finds where the words of two texts differ. First it refuses changes that are no other forms of
the same words: in English by a dictionary (`_fault_in_english`), elsewhere by the letters that two words have
in common (`_fault_in_any_language`). Then it counts the changed words, without those that are right again:
in English by the rules of `english_grammar`, elsewhere by lists of articles that fit the same noun.

Bounds were chosen so that the labelled answers in tests/perturb/acceptance.yaml and scripted_answers.yaml are
judged rightly.
"""

from collections.abc import Sequence

from dhp.content.catalog import read_list
from dhp.core.language import WITHOUT_SPACES
from dhp.core.specs import Spec
from dhp.perturb.llm.any_language import SHORT_WORD, adds_content, is_akin, is_frequent, is_word
from dhp.perturb.llm.english_grammar import broken_words
from dhp.perturb.llm.words import MARKS, Change, Word, carries_meaning, changes, is_form, is_spelt, words

NO_GRAMMAR = (
    "words with a meaning of their own are exchanged, added or left out; change grammatical forms alone"
)
MISSPELT = "a word is misspelt; make errors of grammar with words that exist"
CORRECT = (
    "what is changed is still correct; break agreement, a tense, a case, an article or the order of words"
)
FEW_ERRORS = "there are fewer errors than asked for"
MANY_ERRORS = "far more is changed than the errors asked for"


class Articles(Spec):
    """Articles and the like of languages."""

    languages: dict[str, list[str]]
    """Code of a language -> rows of words, such as `un une des`, with `/` between words of one place."""

    def rows(self, language: str | None) -> Sequence[Sequence[Sequence[str]]]:
        """The rows, each as its places, and a place as its words."""
        return [_places(row) for row in self.languages.get(language or "", ())]


def _places(row: str) -> Sequence[Sequence[str]]:
    return [place.split("/") for place in row.split()]


_UNKNOWN = 5
"""Of so many errors one may be of a kind that the lists do not know."""
_WANTED_OF_ALL = 3
"""Errors that there must be at least if all of the text is to be full of them."""
_NEAR = 4
"""Words by which one may go to another place."""
_CUT_OFF = 25
"""Of so many words that carry meaning one more may be lost, beside a first one."""


def grammar_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text is not the original with errors of grammar; None if it is. See `acceptance.fault`."""
    before, after = words(original, marks=True), words(revised, marks=True)
    made = changes(before, after, case=False)
    if language == "en":
        reason = _fault_in_english(before, made)
    else:
        reason = _fault_in_any_language(before, made, language)
    if reason:
        return reason

    if language in WITHOUT_SPACES:  # there each character counts as a word, so that a change may have many
        changed = len(made)
    else:
        changed = sum(max(len(change.old), len(change.new)) for change in made)
    least = _WANTED_OF_ALL if count == "all" else int(count)
    if changed < least:
        return FEW_ERRORS
    broken = broken_words(made, before, after) if language == "en" else changed - _fitting(made, language)
    if broken < least - least // _UNKNOWN:
        return CORRECT
    most = 2 * least if least < 3 else max(len(before) // 2, least + 1)  # minor stays below major
    return MANY_ERRORS if changed > most else None


def _fault_in_english(before: Sequence[Word], made: Sequence[Change]) -> str | None:
    """Why changed words are misspelt, or no other forms of the words that stood there."""
    meant = {word.base for word in before}
    for change in made:
        for word in change.new:
            if word.base not in meant and not word.named and not is_spelt(word.base, meant):
                return MISSPELT
    return None if _same_content(before, made) else NO_GRAMMAR


def _same_content(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether words that carry meaning stand where they stood, in some form, but for a few cut off.

    A word may also go to a place near by.
    """
    # (words of the original before the change, the word)
    lost: list[tuple[int, Word]] = []
    added: list[tuple[int, Word]] = []
    for change in made:
        gone = list(filter(carries_meaning, change.old))
        for word in filter(carries_meaning, change.new):
            old_form = _form_among(gone, word)
            if old_form is None:
                added.append((change.start, word))
            else:
                gone.remove(old_form)
        lost += [(change.start, word) for word in gone]

    # What was added must have gone from a place near by.
    for place, word in added:
        near = [(at, old) for at, old in lost if old.base == word.base and abs(at - place) <= _NEAR]
        if not near:
            return False
        lost.remove(near[0])
    if any(word.is_entity for _, word in lost):
        return False
    meaningful = len(list(filter(carries_meaning, before)))
    return len(lost) <= 1 + meaningful // _CUT_OFF


def _form_among(some: Sequence[Word], word: Word) -> Word | None:
    """The first of some words of which another is a form."""
    for each in some:
        if is_form(word.base, each.base):
            return each
    return None


def _fault_in_any_language(
    before: Sequence[Word], made: Sequence[Change], language: str | None
) -> str | None:
    """Why changed words are no other forms of the words that stood there, as far as their letters tell."""
    known = {word.base for word in before}
    if language in WITHOUT_SPACES:
        for change in made:
            added = "".join(word.text for word in change.new if word.base not in known)
            if added and adds_content(added, language):
                return NO_GRAMMAR
        return None

    # A misspelt word comes first, wherever it stands: it is told with more certainty.
    for change in made:
        for word in change.new:
            if word.base not in known and word.text not in MARKS and not is_word(word.base, language):
                return MISSPELT
    for change in made:
        old = [word.base for word in change.old]
        for word in change.new:
            is_short = len(word.base) <= SHORT_WORD and word.text.islower()
            if word.base in known or is_short or is_frequent(word.base, language):
                continue
            if not is_akin(word.base, old):
                return NO_GRAMMAR
    return None


def _fitting(made: Sequence[Change], language: str | None) -> int:
    """How many words are only other articles that fit the same nouns, as `eine` for `die`."""
    lists: Articles = read_list("articles", Articles)
    rows = lists.rows(language)
    fitting = 0
    for change in made:
        is_pair = len(change.old) == len(change.new) == 1
        if is_pair and _fits(change.old[0].base, change.new[0].base, rows):
            fitting += 1
    return fitting


def _fits(old: str, new: str, rows: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Whether two articles stand at the same place of different rows, as `die` and `eine`.

    Of two articles of one row, such as `die` and `den`, one is wrong.
    """
    places_of_old: set[int] = set()
    places_of_new: set[int] = set()
    for row in rows:
        in_row_old = {i for i, words in enumerate(row) if old in words}
        in_row_new = {i for i, words in enumerate(row) if new in words}
        if in_row_old and in_row_new:
            return False
        places_of_old |= in_row_old
        places_of_new |= in_row_new
    return not places_of_old.isdisjoint(places_of_new)
