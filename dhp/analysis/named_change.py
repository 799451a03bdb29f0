"""Whether a judge's reason names what was changed in a text.

It does if a sentence of it that finds fault quotes the change, or says what kind of damage it is. A reason
that merely tells the text again names nothing, nor does one that speaks well of what was changed.

`change_of` finds what quotes the change: words and runs of words that only the damaged text has.
`fault_sentences` keeps the sentences of a reason that complain. `names_change` sets both beside each other.
`with_named` does so for every row of a table of ratings, and also asks whether the reason about the undamaged
text would name the change: that is chance. The words by which faults and kinds are known are a list of the
content (`perturbations/lists/reasons.yaml`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dhp.content.catalog import descriptions, read_list, words_in_reasons
from dhp.core.rating_forms import BY_CHANCE, NAMED
from dhp.core.reasoning import without_reasoning
from dhp.core.records import ORIGINAL, parse_variant
from dhp.core.sentences import sentence_spans
from dhp.core.specs import ReasonWords
from dhp.core.tables import is_blank

if TYPE_CHECKING:
    import pandas as pd

REASON, TEXT = "reason", "text"
"""Columns of ratings from which these follow: the judge's reason, and the text that it was shown."""
_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A character of a language that is written without spaces between words: kana, Chinese, Hangul."""
_TOKEN = re.compile(rf"{_UNSPACED}|[^\W_]+(?:[.,'’:/-][^\W_]+)*")
"""A word or number with what stands inside of it: `don't`, `3.5`, `12:30`, `well-known`; or one character."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。!?])")
"""Spaces after `.`, a line break, or the place after `。`."""
# What denies a fault holds up to the next of these marks.
_CLAUSE_END = re.compile(r"[.,;:!?]")
_LETTERS = re.compile(r"[^\W\d_]+")
"""A run of letters: `score` and `low` in `score: 3 (low)`."""
_FEWEST_WORDS = 3
"""Words of an answer that is more than a rating. This and the numbers below are chosen; `scripts/reasons.py`
measures on reasons of real judges how often they name a change, and how often by accident."""
_NUMBERS_TELL = 2
"""Answers for each answer in other words from which on their numbers alone tell them apart."""
_PHRASE = 3
"""Words in a row that quote a change, if not all of them stood so in the original."""
_QUOTED = 6
"""Words in a row that quote the sentence in which something was changed."""
_SHORTEST = 3
"""Letters of a word that quotes a change alone."""
_STEM = 6
"""Letters of a word of a kind's own name by which it is known."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What quotes the change of a text, so that a reason that says it speaks of the change."""

    words: frozenset[str]
    """Words of the damaged text that the original has nowhere."""
    phrases: frozenset[Words]
    """Three words in a row that do not stand so in the original."""
    quotes: frozenset[Words]
    """Six words in a row of a sentence with a change, whether these were changed or not."""

    def is_quoted(self, words: Sequence[str]) -> bool:
        """Whether the words of a reason quote it."""
        return (
            not self.words.isdisjoint(words)
            or not self.phrases.isdisjoint(_in_a_row(words, _PHRASE))
            or not self.quotes.isdisjoint(_in_a_row(words, _QUOTED))
        )


def change_of(before: str, after: str) -> Change:
    """What quotes the change from one text to the other."""
    old, new = _words(before), _words(after)
    # A sentence that the original has word for word quotes no change, wherever it stands.
    kept = {tuple(_words(before[start:end])) for start, end in sentence_spans(before)}
    quotes: set[Words] = set()
    for start, end in sentence_spans(after):
        sentence = _words(after[start:end])
        if tuple(sentence) not in kept:
            quotes |= _in_a_row(sentence, _QUOTED)
    new_words = set(new) - set(old)
    return Change(
        words=frozenset(word for word in new_words if _tells(word)),
        phrases=frozenset(_in_a_row(new, _PHRASE) - _in_a_row(old, _PHRASE)),
        quotes=frozenset(quotes),
    )


def names_change(reason: str, variant: str, change: Change | None) -> bool:
    """Whether a reason names what was changed; if the texts are unknown, only by the kind of damage."""
    faults = fault_sentences(reason)
    perturber = parse_variant(variant).perturber
    for sentence in faults:
        if _names_kind(sentence, perturber):
            return True
    return change is not None and change.is_quoted(_words("\n".join(faults)))


def fault_sentences(reason: str) -> list[str]:
    """The sentences of a reason that find fault, without the judge's thoughts."""
    # Thoughts that never end leave no reason, and no sentence.
    sentences = _SENTENCE_END.split(without_reasoning(reason) or "")
    return [sentence for sentence in sentences if _complaint().search(sentence)]


def with_named(
    table: "pd.DataFrame", reasons: "pd.Series[str]", texts: Mapping[tuple[str, str], str]
) -> "pd.DataFrame":
    """A table of ratings with the columns `NAMED` and `BY_CHANCE`, from the reason of each row.

    `texts` are by example and variant, as far as they are known. A damaged text is set beside the reasons
    about its original by the same metric. Cells are 1, 0 or NaN, and a share beside several reasons.

    The table stays as it is if no reason says more than a rating: if none has words, or if they differ by
    their numbers alone and name no more than by chance.
    """
    import pandas as pd

    spoken = [None if is_blank(reason) else str(reason) for reason in reasons]
    if not any(map(_says_more, spoken)):
        return table
    # Twice read: first for the reasons about originals, then for those about damaged texts.
    rows = list(zip(table["example"], table["variant"], table["metric"], spoken, strict=True))
    of_originals: dict[tuple[str, str], list[str]] = {}
    for example, variant, metric, reason in rows:
        if variant == ORIGINAL and reason is not None:
            of_originals.setdefault((example, metric), []).append(reason)
    changes: dict[tuple[str, str], Change | None] = {}
    named, by_chance = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for place, (example, variant, metric, reason) in enumerate(rows):
        if variant == ORIGINAL or reason is None:
            continue
        if (example, variant) not in changes:  # once for all metrics and samples
            before, after = texts.get((example, ORIGINAL)), texts.get((example, variant))
            changes[example, variant] = change_of(before, after) if before and after else None
        change = changes[example, variant]
        named[place] = names_change(reason, variant, change)
        others = of_originals.get((example, metric), [])
        if others:
            beside = [names_change(other, variant, change) for other in others]
            by_chance[place] = beside.count(True) / len(beside)
    # Probabilities in JSON are words, too, and no reasons, unless they name more than chance does.
    if np.nansum(named) <= np.nansum(by_chance) and _numbers_differ(spoken):
        return table
    columns = {NAMED: pd.Series(named, table.index), BY_CHANCE: pd.Series(by_chance, table.index)}
    return table.assign(**columns)


def _says_more(answer: str | None) -> bool:
    """Whether an answer is more than a rating."""
    return answer is not None and len(_LETTERS.findall(answer)) >= _FEWEST_WORDS


def _numbers_differ(answers: Iterable[str | None]) -> bool:
    """Whether answers say the same of most texts, with other numbers, such as probabilities in JSON."""
    different = {answer for answer in answers if answer is not None}
    in_words = {tuple(_LETTERS.findall(answer)) for answer in different}
    return len(different) >= _NUMBERS_TELL * len(in_words)


def _words(text: str) -> list[str]:
    """The words and numbers of a text, in small letters."""
    return [word.casefold() for word in _TOKEN.findall(text)]


def _in_a_row(words: Sequence[str], count: int) -> set[Words]:
    """Every run of so many words: of `a b c` and 2 they are `a b` and `b c`."""
    return {tuple(words[start : start + count]) for start in range(len(words) - count + 1)}


def _tells(word: str) -> bool:
    """Whether a word alone shows that a reason speaks of its place: `1998` or `harbour`, and not `with`."""
    if any(letter.isdigit() for letter in word):
        return True
    return len(word) >= _SHORTEST and word not in _common()


@cache
def _common() -> frozenset[str]:
    """Words that any text has, such as `the`."""
    return frozenset(_reason_words().common.split())


def _reason_words() -> ReasonWords:
    known: ReasonWords = read_list("reasons", ReasonWords)
    return known


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def _any_of(words: Iterable[str]) -> str:
    """A pattern for words that begin so, e.g. `\\bmisspel|\\bwrong name|错字`.

    A word of a language without spaces between words may stand anywhere.
    """
    patterns = []
    for word in words:
        start = "" if re.match(_UNSPACED, word) else r"\b"
        patterns.append(start + re.escape(word))
    return "|".join(patterns)


@cache
def _complaint() -> re.Pattern[str]:
    """A word by which a sentence finds fault, such as `wrong` or `not supported`."""
    return re.compile(_any_of(_split(_reason_words().complaints)), re.IGNORECASE)


@cache
def _denial() -> re.Pattern[str]:
    """A word that denies what follows it in its clause: `no typos`, `without errors`, `isn't misspelled`."""
    words = "|".join(re.escape(word) for word in _reason_words().denied.split())
    # A denial is a word of its own; only `n't` is the end of one, as in `isn't`.
    return re.compile(rf"(?:\b|(?<=\w)(?=n't))(?:{words})\b", re.IGNORECASE)


@cache
def _kind(perturber: str) -> tuple[re.Pattern[str], ...]:
    """What names a kind of damage, all of it: a word of the list, or every word of its own name."""
    stems: list[str] = []
    for group in words_in_reasons():
        if perturber in group.of.split():
            stems += _split(group.words)
    if stems:
        return (re.compile(_any_of(stems), re.IGNORECASE),)
    if perturber in descriptions():  # a kind of ours that no words name
        return ()
    # A kind of somebody's own, known by its name: `swapped` and `dates` of `swapped_dates`.
    patterns = []
    for word in _LETTERS.findall(perturber):
        if len(word) > _SHORTEST:
            patterns.append(re.compile(_any_of([word[:_STEM]]), re.IGNORECASE))
    return tuple(patterns)


def _names_kind(sentence: str, perturber: str) -> bool:
    """Whether a sentence says that there is this kind of damage, and not that there is none."""
    patterns = _kind(perturber)
    return bool(patterns) and all(_is_stated(pattern, sentence) for pattern in patterns)


def _is_stated(pattern: re.Pattern[str], sentence: str) -> bool:
    """Whether the pattern occurs in a clause that does not deny it before."""
    for match in pattern.finditer(sentence):
        # What stands between the last mark of a clause and the word that was found.
        clause = _CLAUSE_END.split(sentence[: match.start()])[-1]
        if not _denial().search(clause):
            return True
    return False
