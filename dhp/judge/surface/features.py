"""What the surface judge looks at: small functions from a case to [0, 1].

A feature returns None where it has nothing to go by, and higher is always better.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise

from dhp.judge.surface.document import RELATED_LETTERS, Text, Word
from dhp.judge.surface.lexicon import (
    ARTICLES,
    AUXILIARIES,
    CONJUNCTIONS,
    CONNECTIVES,
    MODALS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    letters_look_english,
    rarity,
    well_spelt,
    zipf,
)

_MISSPELT_LIMIT = 0.3
"""A text with this share of misspelt words cannot be read any more."""
_FORM_LIMIT = 0.2
"""Faults of form per word that make a text look broken all over."""
_GRAMMAR_LIMIT = 0.1
"""Impossible word pairs per word that make a text unreadable: most damage to grammar shows in no pair."""
_NAME_TRUST = 0.7
"""What a capital inside a sentence says for an unlisted word: names stand in no word list."""
_NAME_WEIGHT = 3.0
"""A foreign name or number is a worse error than a foreign word."""
_RELATED = 0.7
"""What a merely related word is worth as evidence."""
_STEP = 0.15
"""Part of the source by which two sentences must differ in place before their order is beyond doubt."""
_FOCUS = 3
"""Power of the overlap with a source sentence: the best evidence counts far more than the rest."""
_LAST = 2
"""Sentences at the end of a story from which an ending takes up."""
_EARLIER = 0.8
"""What a tie with an earlier sentence is worth to an ending, against one with the last."""
_TOPICS = 20
"""Topic words of a source that a short text can be expected to touch."""
_UNCOMMON_ZIPF = 4.0
"""A capitalised word as common as this is a word of English (October, German), no name to be kept."""
_NAME_LETTERS = 4
"""First letters by which a name is recognised in another language (Kieler, Kiel)."""
_LATIN_GROWTH = 1.05
"""English letters per letter of a European source: upper quartile of the WMT22 de-en references."""
_CJK_GROWTH = 4.4
"""English letters per Chinese character: upper quartile of the WMT22 zh-en references."""
_TOO_LONG = 1.6
"""Times the full length from which a translation must have added something."""


@dataclass(frozen=True)
class Case:
    """A text under judgement with all that may be known about it."""

    text: Text
    source: Text
    question: Text
    """Empty where the task has no question."""
    vocabulary: frozenset[str]
    """Lower-case words of all English sources of the dataset."""


def _lift(share: float) -> float:
    """Concave: to say half of it in other words is no error, to share nothing is."""
    return float(share**0.5)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# Language ---------------------------------------------------------------------------------------------


def spelling(case: Case) -> float:
    """1 if every word is trusted, 0 if a share of `_MISSPELT_LIMIT` is misspelt."""
    doubt = 0.0
    for sentence in case.text.sentences:
        doubt += sum(1 - _trust(word, place > 0, case) for place, word in enumerate(sentence))
    return max(0.0, 1 - doubt / (_MISSPELT_LIMIT * max(1, len(case.text.words))))


def _trust(word: Word, inside: bool, case: Case) -> float:
    bare = word.lower.removesuffix("'s")
    if bare[0].isdigit() or "." in bare:
        return 1.0  # a number, or initials such as e.g. and U.S.
    if bare in case.vocabulary or word.lower in case.vocabulary:
        return 1.0
    if word.form[0].isupper() and word.lower in case.source.lowers | case.question.lowers:
        return 1.0  # a name in both languages
    if len(bare) == 1:
        return float(bare in "aio" or word.form.isupper())
    trust = max(well_spelt(bare), well_spelt(word.lower))
    if word.form[0].isupper() and inside:
        trust = max(trust, _NAME_TRUST + (1 - _NAME_TRUST) * letters_look_english(bare))
    return trust


_FAULTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\S  +\S",  # a doubled space
        r"\w [,.;:!?)]",  # a space before a mark
        r"[^\W\d_][,;:!?](?=[^\W\d_])",  # no space after a mark
        r"([^\W\d_])\1\1",  # a letter three times
        r"([,;:!?])\1",  # a doubled mark
        r"\b\d+[^\W\d_]{3,}|\b[^\W\d_]{2,}\d+[^\W\d_]",  # digits inside a word
        r"\b[a-z][A-Z]",  # a capital second
    )
)
_END = re.compile(r"[.!?。！？…][\"'”’)\s\]]*$")
_BRACKETS = (("(", ")"), ("[", "]"), ("“", "”"))


def form(case: Case) -> float:
    """1 without faults of form; a habit of the source (a space before marks) is no fault of the text."""
    text, source = case.text.plain, case.source.plain
    faults = 0
    for fault in _FAULTS:
        found = {match.group() for match in fault.finditer(text)}
        if found and not fault.search(source):
            faults += len(found)
    if case.source.cased or not case.source.english:
        faults += sum(sentence[0].form[0].islower() for sentence in case.text.sentences)
    faults += not _END.search(text)
    faults += sum(text.count(left) != text.count(right) for left, right in _BRACKETS)
    faults += text.count('"') % 2
    return max(0.0, 1 - faults / (_FORM_LIMIT * max(1, len(case.text.words))))


_DETERMINERS = ARTICLES | POSSESSIVES
_SUBJECTS = frozenset("he she they we i".split())
_NEVER = (
    (_DETERMINERS, _DETERMINERS | PREPOSITIONS - {"under", "over"} | CONJUNCTIONS | AUXILIARIES | _SUBJECTS),
    (PREPOSITIONS - {"to", "in", "on", "over", "by", "about"}, AUXILIARIES | _SUBJECTS),
    (MODALS - {"may", "will", "might", "can"}, AUXILIARIES | PREPOSITIONS),
    (_SUBJECTS, ARTICLES | frozenset({"of", "from", "into"})),
    (AUXILIARIES | frozenset({"to"}), AUXILIARIES),
)
"""(first words, second words) that English does not put side by side."""
_NEVER_LAST = _DETERMINERS | frozenset("of from into than".split())
"""Words that need another after them, even before a comma; a conjunction needs one before a full stop."""
_SPOKEN_WITH_CONSONANT = ("one", "once", "eu", "ouija")
"""Beginnings that stand after `a` although they are written with a vowel."""
_MAY_REPEAT = frozenset("had that very so".split())


def word_order(case: Case) -> float:
    """1 if no two neighbouring words are impossible side by side and no phrase breaks off.

    A pair that the source has too is no fault.
    """
    faults = sum(_impossible(*pair) for pair in case.text.pairs if pair not in case.source.pairs)
    return max(0.0, 1 - faults / (_GRAMMAR_LIMIT * max(1, len(case.text.words))))


def _impossible(left: str, right: str) -> bool:
    if not right[0].isalnum():
        return left in _NEVER_LAST if right in ",:" else left in _NEVER_LAST | CONJUNCTIONS
    if left == right:
        return left.isalpha() and left not in _MAY_REPEAT
    if left == "a" and right[0] in "aeio" and not right.startswith(_SPOKEN_WITH_CONSONANT):
        return True
    return any(left in first and right in second for first, second in _NEVER)


# Agreement with the source ----------------------------------------------------------------------------


def _evidence(stem: str, source: Text) -> float:
    if stem in source.stems:
        return 1.0
    if len(stem) >= RELATED_LETTERS and stem[:RELATED_LETTERS] in source.prefixes:
        return _RELATED
    return 0.0


def support(case: Case) -> float | None:
    """The share of what the text says that stands in the source: names and numbers first, rare words next."""
    found = total = 0.0
    for word in {word.stem: word for word in case.text.words if word.content}.values():
        weight = rarity(word.lower) * (_NAME_WEIGHT if word.name else 1)
        found += weight * _evidence(word.stem, case.source)
        total += weight
    for number in case.text.digits:
        found += _NAME_WEIGHT * (number in case.source.numbers)
        total += _NAME_WEIGHT
    share = _ratio(found, total)
    return None if share is None else _lift(share)


def facts(case: Case) -> float | None:
    """The share of the text's names and numbers that the source has."""
    names = {word.stem for word in case.text.words if word.name}
    found = sum(name in case.source.stems for name in names)
    found += sum(number in case.source.numbers for number in case.text.digits)
    return _ratio(found, len(names) + len(case.text.digits))


def pronouns(case: Case) -> float | None:
    """The share of the kinds of persons that the text refers to (he, she, they, I) and the source too."""
    return _ratio(len(case.text.pronouns & case.source.pronouns), len(case.text.pronouns))


def question_tie(case: Case) -> float | None:
    """How much of the question's topic words the answer takes up."""
    asked = case.question.stems
    share = _ratio(
        sum(weight for stem, weight in asked.items() if stem in case.text.stems), sum(asked.values())
    )
    return None if share is None else _lift(share)


# Agreement with a source in another language ----------------------------------------------------------


def _significant(number: str) -> str:
    """Digits alone, so that 1.200, 1,200 and 12万 (with 120,000) are one: scale words differ by language."""
    return re.sub(r"\D", "", number).strip("0") or "0"


def numbers_kept(case: Case) -> float | None:
    """Agreement of the two sets of numbers (Dice's coefficient), by their significant digits."""
    ours, theirs = set(map(_significant, case.text.digits)), set(map(_significant, case.source.digits))
    ours_spelt = {*ours, *map(_significant, case.text.numbers)}
    found = len(ours & theirs) + len(ours_spelt & theirs)
    return _ratio(found, len(ours) + len(theirs))


def names_kept(case: Case) -> float | None:
    """The share of names in Latin script that stand in both texts."""
    ours = {w.lower for w in case.text.words if w.name and zipf(w.lower) < _UNCOMMON_ZIPF}
    if case.source.cjk_letters:
        theirs = {run.lower() for run in re.findall(r"[A-Za-z]{2,}", case.source.plain)}
        return _ratio(len(theirs & case.text.lowers), len(theirs))
    starts = {lower[:_NAME_LETTERS] for lower in case.source.lowers}
    return _ratio(sum(name[:_NAME_LETTERS] in starts for name in ours), len(ours))


def completeness(case: Case) -> float | None:
    """1 at the length of a full translation, less in proportion to what is missing or far too much."""
    cjk = case.source.cjk_letters
    full = _CJK_GROWTH * cjk + _LATIN_GROWTH * (case.source.letters - cjk)
    length = _ratio(case.text.letters, full)
    if length is None:
        return None
    return min(1.0, length) if length <= _TOO_LONG else _TOO_LONG / length


# Build and choice -------------------------------------------------------------------------------------


def _place(stems: Iterable[str], source: Text) -> float | None:
    """Where in the source (0 first sentence, 1 last) the evidence for these stems lies."""
    overlap: dict[int, float] = {}
    for stem in stems:
        for place in source.places.get(stem, ()):
            overlap[place] = overlap.get(place, 0.0) + source.stems[stem]
    weights = {place: shared**_FOCUS for place, shared in overlap.items()}
    whole = sum(place * weight for place, weight in weights.items())
    mean = _ratio(whole, sum(weights.values()))
    return None if mean is None else mean / max(1, len(source.sentences) - 1)


def source_order(case: Case) -> float | None:
    """1 if the sentences follow the order of the source, 0 if they run backwards."""
    places = [_place(stems, case.source) for stems in case.text.sentence_stems]
    known = [place for place in places if place is not None]
    steps = [max(-1.0, min(1.0, (b - a) / _STEP)) for a, b in combinations(known, 2)]
    mean = _ratio(sum(steps), len(steps))
    return None if mean is None else (1 + mean) / 2


def ties(case: Case) -> float | None:
    """The share of sentences after the first that take up the one before, by a word or by a reference."""
    linked = 0
    for before, after in pairwise(case.text.sentences):
        shared = {w.stem for w in before if w.content} & {w.stem for w in after if w.content}
        linked += bool(shared) or any(w.lower in PRONOUNS or w.lower in CONNECTIVES for w in after[:3])
    return _ratio(linked, len(case.text.sentences) - 1) if case.text.sentences else None


def introduction(case: Case) -> float | None:
    """1 if several sentences introduce things before they refer to them, less with each that is not.

    The antecedents of a single sentence may stand in the source.
    """
    if len(case.text.sentences) < 2:
        return None
    faults = 0
    names: set[str] = set()
    definite: set[str] = set()
    for number, sentence in enumerate(case.text.sentences):
        first = sentence[0].lower
        faults += number == 0 and (first in CONNECTIVES or PRONOUNS.get(first, "i") != "i")
        for left, right in pairwise(sentence):
            if left.capital and right.name:  # a full name after the short one
                faults += right.stem in names and left.stem not in names
            if left.lower in ("a", "an"):  # "a plan" after "the plan"
                faults += right.stem in definite
        names.update(word.stem for word in sentence if word.capital)
        definite.update(right.stem for left, right in pairwise(sentence) if left.lower == "the")
    return 1 / (1 + faults)


def opening(case: Case) -> float | None:
    """Whether the first sentence names the topic: its share in it against that of an average sentence."""
    salience = case.source.salience
    shares = [sum(salience.get(stem, 0.0) for stem in stems) for stems in case.text.sentence_stems]
    if len(shares) < 2:
        return None
    return _ratio(shares[0], shares[0] + sum(shares[1:]) / (len(shares) - 1))


def continuation(case: Case) -> float | None:
    """For a text of one sentence: how far it takes up the source, its last sentences above all."""
    if len(case.text.sentences) != 1:
        return None
    late = frozenset().union(*case.source.sentence_stems[-_LAST:])
    found = total = 0.0
    for stem, weight in case.text.stems.items():
        found += weight * (1.0 if stem in late else _EARLIER * _evidence(stem, case.source))
        total += weight
    share = _ratio(found, total)
    return None if share is None else _lift(share)


def coverage(case: Case) -> float | None:
    """How much of the source's main topic words the text holds."""
    topics = sorted(case.source.salience.items(), key=lambda item: (-item[1], item[0]))[:_TOPICS]
    share = _ratio(sum(w for stem, w in topics if stem in case.text.stems), sum(w for _, w in topics))
    return None if share is None else _lift(share)


def no_repetition(case: Case) -> float | None:
    """The share of pairs of neighbouring content words that the text uses only once."""
    stems = [word.stem for word in case.text.words if word.content]
    pairs = list(pairwise(stems))
    return _ratio(len(set(pairs)), len(pairs))
