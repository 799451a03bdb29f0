"""Checks that a language model made errors of grammar, as many as asked for, and changed nothing else."""

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
    """Code of a language -> rows of words, with `/` between words of one place."""

    def rows(self, language: str | None) -> Sequence[Sequence[Sequence[str]]]:
        """Rows of places of words."""
        return [_places(row) for row in self.languages.get(language or "", ())]


def _places(row: str) -> Sequence[Sequence[str]]:
    return [place.split("/") for place in row.split()]


_UNKNOWN = 5
"""Of so many errors one may be of a kind that the lists do not know."""


def grammar_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    before, after = words(original, marks=True), words(revised, marks=True)
    made = changes(before, after, case=False)
    if language != "en":
        reason = _grammar_fault_in_any_language(before, made, language)
        if reason:
            return reason
    else:
        meant = {word.base for word in before}
        new = [word for change in made for word in change.new if word.base not in meant]
        if any(not word.named and not is_spelt(word.base, meant) for word in new):
            return MISSPELT
        if not _same_content(before, made):
            return NO_GRAMMAR
    if language in WITHOUT_SPACES:  # there words are characters
        changed = len(made)
    else:
        changed = sum(max(len(change.old), len(change.new)) for change in made)
    least = 3 if count == "all" else int(count)
    if changed < least:
        return FEW_ERRORS
    broken = broken_words(made, before, after) if language == "en" else changed - _fitting(made, language)
    if broken < least - least // _UNKNOWN:
        return CORRECT
    most = 2 * least if least < 3 else max(len(before) // 2, least + 1)  # minor stays below major
    return MANY_ERRORS if changed > most else None


def _fitting(made: Sequence[Change], language: str | None) -> int:
    """How many words are only other articles that fit the same nouns, as `eine` for `die`."""
    lists: Articles = read_list("articles", Articles)
    rows = lists.rows(language)
    return sum(
        len(change.new) == len(change.old) == 1 and _fits(change.old[0].base, change.new[0].base, rows)
        for change in made
    )


def _fits(old: str, new: str, rows: Sequence[Sequence[Sequence[str]]]) -> bool:
    one: set[int] = set()
    other: set[int] = set()
    for row in rows:
        of_old = {i for i, words in enumerate(row) if old in words}
        of_new = {i for i, words in enumerate(row) if new in words}
        if of_old and of_new:
            return False
        one |= of_old
        other |= of_new
    return bool(one & other)


def _grammar_fault_in_any_language(
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
    new = [(change, word) for change in made for word in change.new if word.base not in known]
    if any(word.text not in MARKS and not is_word(word.base, language) for _, word in new):
        return MISSPELT
    for change, word in new:
        is_short = len(word.base) <= SHORT_WORD and word.text.islower()
        is_content = not is_short and not is_frequent(word.base, language)
        if is_content and not is_akin(word.base, [old.base for old in change.old]):
            return NO_GRAMMAR
    return None


def _same_content(before: Sequence[Word], made: Sequence[Change]) -> bool:
    """Whether words that carry meaning stand where they stood, in some form, but for a few cut off.

    A word may also go to a place near by.
    """
    lost: list[tuple[int, Word]] = []
    added: list[tuple[int, Word]] = []
    for change in made:
        gone = [word for word in change.old if carries_meaning(word)]
        for word in filter(carries_meaning, change.new):
            same = next((old for old in gone if is_form(word.base, old.base)), None)
            if same is None:
                added.append((change.start, word))
            else:
                gone.remove(same)
        lost += [(change.start, word) for word in gone]
    for place, word in added:
        near = [(at, old) for at, old in lost if old.base == word.base and abs(at - place) <= _NEAR]
        if not near:
            return False
        lost.remove(near[0])
    cut_off = [word for _, word in lost]
    return len(cut_off) <= 1 + sum(map(carries_meaning, before)) // 25 and not any(
        word.is_entity for word in cut_off
    )


_NEAR = 4
"""Words by which one may go to another place."""
