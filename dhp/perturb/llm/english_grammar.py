"""Whether a change of an English text breaks its grammar, by closed lists and a dictionary, without a parser.

The original is taken to be right. So a verb whose number changes no longer agrees with its subject, and a
pronoun whose case changes no longer fits its place. What may be right again, such as another tense, is no
error.

`broken_words` goes through the changes of a text, and `_Text.is_broken` parts them by what happened. A new or
lost full stop may leave half a sentence (`_is_fragment`). Words may be exchanged (`_is_wrong`, which goes on
by the class of the word: pronoun, determiner, preposition, auxiliary, else `_is_wrong_form`), added
(`_is_wrongly_added`) or lost (`_is_wrongly_lost`), or stand in another order (`_is_misplaced`, `_moved`).
Methods of `_Text` that find the word which a form depends on stand first.

Each rule is needed by errors or correct sentences of tests/perturb/acceptance.yaml, scripted_answers.yaml
or perturbations/authored.
"""

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from dhp.content.catalog import read_list
from dhp.core.specs import Spec
from dhp.perturb.llm.any_language import Words
from dhp.perturb.llm.words import MARKS, Change, Word, forms, lemmas

Tags = frozenset[str]
_TAGS = ("VB", "VBZ", "VBD", "VBN", "VBG")
"""Forms of a verb in the Penn Treebank: base, third person, past, participle, -ing."""
_AUXILIARIES: Mapping[str, tuple[str, str]] = {
    "am": ("singular", "present"),
    "is": ("singular", "present"),
    "are": ("plural", "present"),
    "was": ("singular", "past"),
    "were": ("plural", "past"),
    "has": ("singular", "present"),
    "have": ("plural", "present"),
    "had": ("", "past"),
    "does": ("singular", "present"),
    "do": ("plural", "present"),
    "did": ("", "past"),
}
"""Finite form -> number, if it has one, and tense."""
_FAMILY: Mapping[str, str] = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "being"), "be"),
    **dict.fromkeys(("has", "have", "had", "having"), "have"),
    **dict.fromkeys(("does", "do", "did", "doing", "done"), "do"),
}
"""Any form of an auxiliary -> its base."""
_THIRD_PERSONS = {2, 3, 4, 6}
"""Rows of the list of pronouns: he, she, it, they."""
_SCANNED = 4
"""Words that are looked at before or behind a change."""


class EnglishGrammar(Spec):
    """Closed lists of English words."""

    pronouns: list[str]
    """A row for each person: subject, object, before a noun, alone, reflexive."""
    relatives: list[Words]
    """Of each row one may stand for another."""
    confused: list[Words]
    """Of each row none may stand for another."""
    singular_determiners: Words
    plural_determiners: Words
    any_determiners: Words
    mass_nouns: Words
    """Stand without an article, and have no plural."""
    collective_nouns: Words
    """Both numbers of a verb are right with them."""
    prepositions: Words
    like_prepositions: list[Words]
    """Of each row one may stand for another."""
    modals: Words
    conjunctions: Words
    subordinators: Words
    """Begin a clause that is no sentence by itself."""
    same_tense: Words
    """Begin a clause with the tense of the main clause."""
    past_times: Words
    dropped_before: Words
    """Before them a preposition may be left out."""

    @cached_property
    def persons(self) -> Mapping[str, frozenset[tuple[int, int]]]:
        """Pronoun -> the persons and cases that it may be of, by their places in the list."""
        known: dict[str, set[tuple[int, int]]] = {}
        for person, row in enumerate(self.pronouns):
            for case, word in enumerate(row.split()):
                known.setdefault(word, set()).add((person, case))
        return {word: frozenset(places) for word, places in known.items()}

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Pronouns in the case of a subject."""
        return frozenset(row.split()[0] for row in self.pronouns)

    @cached_property
    def determiners(self) -> frozenset[str]:
        """Those of either number."""
        return self.singular_determiners | self.plural_determiners | self.any_determiners

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Words of all classes that have a list."""
        classes = self.determiners | self.prepositions | self.modals | self.conjunctions | self.subordinators
        return classes.union(self.persons, _FAMILY, *self.relatives, ("not", "to"))


def _lists() -> EnglishGrammar:
    lists: EnglishGrammar = read_list("english_grammar", EnglishGrammar)
    return lists


def _share_row(rows: Sequence[frozenset[str]], one: str, other: str) -> bool:
    return any(one in row and other in row for row in rows)


def broken_words(made: Sequence[Change], before: Sequence[Word], after: Sequence[Word]) -> int:
    """How many words of the changes break the grammar of the text; `after` are its words and marks now."""
    text = _Text([_plain(word) for word in after], [_plain(word) for word in before])
    moved = _moved(made)
    count = 0
    for change in made:
        if id(change) in moved or text.is_broken(change):
            count += max(len(change.old), len(change.new))
    return count


def _plain(word: Word) -> str:
    return word.text.lower().replace("’", "'")


def _moved(made: Sequence[Change]) -> set[int]:
    """The changes by which a word, but no adverb, went to another place near by."""
    lost = [change for change in made if len(change.old) == 1 and not change.new]
    added = [change for change in made if len(change.new) == 1 and not change.old]
    ids: set[int] = set()
    for one, other in itertools.product(lost, added):
        word = _plain(one.old[0])
        is_near = abs(one.new_start - other.new_start) <= _SCANNED
        if is_near and word == _plain(other.new[0]) and not _is_adverb(word):
            ids |= {id(one), id(other)}
    return ids


def _is_adverb(word: str) -> bool:
    """Whether a word may stand at several places of a clause, as between an auxiliary and its verb."""
    # The dictionary has these three as nouns or adjectives, too.
    return word.endswith("ly") or set(forms(word)) == {"ADV"} or word in ("just", "now", "only")


@functools.lru_cache(1 << 14)
def _tags_by_verb(word: str) -> Mapping[str, Tags]:
    """Verb -> the forms of it that a word may be."""
    import lemminflect

    tags_of = {}
    for lemma in forms(word).get("VERB", ()):
        tags = {tag for tag in _TAGS if word in lemminflect.getInflection(lemma, tag)}
        if tags:
            tags_of[lemma] = frozenset(tags)
    return tags_of


def _tags(word: str) -> Tags:
    """The forms of any verb that a word may be."""
    return frozenset().union(*_tags_by_verb(word).values())


@functools.lru_cache(1 << 14)
def _noun_number(word: str) -> str:
    """`singular` or `plural`, if the word may be a noun of one of these alone; else empty."""
    nouns = forms(word).get("NOUN", ())
    if not nouns:
        return ""
    return "singular" if word in nouns else "plural"


def _may_be_noun(word: str) -> bool:
    return "NOUN" in forms(word) and word not in _lists().function_words


def _number_of_verb(word: str) -> str:
    """The number of the subject that a verb goes with; empty if both do, or if it may be no verb."""
    if word in _AUXILIARIES:
        return _AUXILIARIES[word][0]
    tags = _tags(word)
    if not tags or {"VBD", "VBN"} & tags or _may_be_noun(word):
        return ""
    return "singular" if "VBZ" in tags else "plural"


class _Text:
    """The words of a text now, in small letters and with marks, and those before."""

    def __init__(self, now: Sequence[str], then: Sequence[str]) -> None:
        self.now, self.then = now, then

    def is_broken(self, change: Change) -> bool:
        """Whether a change breaks the grammar where it stands."""
        old, new = [_plain(w) for w in change.old], [_plain(w) for w in change.new]
        if MARKS & {*old, *new}:
            return self._is_fragment(change, old, new)
        if sorted(old) == sorted(new):
            return self._is_misplaced(old)
        if not old and len(new) == 1:
            return self._is_wrongly_added(new[0], change.new_start)
        if not new and len(old) == 1:
            return self._is_wrongly_lost(old[0], change.new_start, change.start)

        # Which words stand for each other is told from the end, as in `carry` for `has carried`.
        pairs = zip(reversed(old), reversed(new), strict=False)
        for steps, (one, other) in enumerate(pairs, 1):
            at, then = change.new_start + len(new) - steps, change.start + len(old) - steps
            if one != other and self._is_wrong(one, other, at, then):
                return True
        return False

    # What stands around a change ---------------------------------------------------------------------------
    # A place `at` is one in the text now, and `then` one in the original.

    def _before(self, at: int) -> Sequence[str]:
        """The words of the sentence before a place, the nearest first."""
        start = at
        while start > 0 and self.now[start - 1] not in MARKS:
            start -= 1
        return self.now[start:at][::-1]

    def _behind(self, at: int) -> Sequence[str]:
        """The words of the sentence behind a place."""
        end = at + 1
        while end < len(self.now) and self.now[end] not in MARKS:
            end += 1
        return self.now[at + 1 : end]

    def _next(self, at: int) -> str:
        """The word or mark behind a place; empty at the end."""
        return self.now[at + 1] if at + 1 < len(self.now) else ""

    def _wanted_by_auxiliary(self, at: int) -> Tags:
        """The forms that a verb at this place has by what stands before it; empty if it is finite."""
        for word in self._before(at):
            family = _FAMILY.get(word.removesuffix("n't"))
            if word in _lists().modals or family == "do" or word == "to":
                return frozenset({"VB"})
            if family == "have":
                return frozenset({"VBN"})
            if family == "be":
                return frozenset({"VBN", "VBG"})
            if not _is_adverb(word):
                break
        return frozenset()

    def _head(self, at: int) -> str:
        """The noun that a determiner at this place belongs to; empty if none is found."""
        words = self._behind(at)[:_SCANNED]
        for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
            if word in _lists().function_words:
                return ""
            # Of "school library" the last one is the head, but "library closes" has a verb behind it.
            goes_on = _may_be_noun(following) and not _tags(following)
            if _may_be_noun(word) and not goes_on:
                return word
        return ""

    def _determiner(self, at: int) -> str:
        """What determines the noun at this place: a determiner, or one that a number stands for, or a name
        with 's; empty if there is none."""
        lists = _lists()
        for word in self._before(at):
            if word in lists.determiners or "'s" in word:
                return word
            if word[0].isdigit():
                return "this" if word == "1" else "these"
            if word in lists.function_words or not {"ADJ", "NOUN"} & set(forms(word)):
                break
        return ""

    def _is_noun_then(self, then: int) -> bool:
        """Whether a word of the original is a noun, as a determiner stands before it or its adjectives."""
        for word in reversed(self.then[max(then - _SCANNED, 0) : then]):
            if word in _lists().determiners or word[0].isdigit():
                return True
            if "ADJ" not in forms(word):
                return False
        return False

    def _number_of_subject(self, at: int) -> str:
        """Of a pronoun before a verb, or of the first noun before a preposition; empty if unsure."""
        lists = _lists()
        clause: list[str] = []
        for word in self._before(at):
            if word in lists.subordinators:
                break
            clause.insert(0, word)
            if word in lists.subjects:
                break
        if not clause or "and" in clause:
            return ""
        if clause[0] in lists.subjects and len(clause) <= 2:  # "they" or "they often"
            return "singular" if clause[0] in ("he", "she", "it") else "plural"

        # "the results of the study": what stands behind a preposition is not the subject.
        prepositions = [place for place, word in enumerate(clause) if word in lists.prepositions and place]
        subject = clause[: prepositions[0]] if prepositions else clause
        nouns = [word for word in subject if word not in lists.function_words and not _is_adverb(word)]
        if not nouns or (forms(nouns[-1]) and not _may_be_noun(nouns[-1])):
            return ""
        return _noun_number(nouns[-1]) or "singular"  # what no dictionary has is a name

    def _is_either(self, at: int) -> bool:
        """Whether both numbers of the verb at this place are right, as behind `the team`."""
        lists = _lists()
        before = self._before(at)[:_SCANNED]
        return lists.singular_determiners.isdisjoint(before) and not lists.collective_nouns.isdisjoint(before)

    # One word for another ----------------------------------------------------------------------------------

    def _is_wrong(self, old: str, new: str, at: int, then: int) -> bool:
        lists = _lists()
        if _share_row(lists.confused, old, new):
            return True
        if old in lists.persons and new in lists.persons:
            return self._is_wrong_pronoun(old, new)
        if old == "as" and "as" in self._behind(at)[:_SCANNED]:  # "as hard as" -> "more hard as"
            return True
        relatives = frozenset().union(*lists.relatives)
        if old in relatives and new in relatives:
            return not _share_row(lists.relatives, old, new)
        if old in lists.determiners and new in lists.determiners:
            return self._is_wrong_determiner(new, at)
        if old in lists.prepositions and new in lists.prepositions:
            return not _share_row(lists.like_prepositions, old, new)
        if old.removesuffix("n't") in _FAMILY or new.removesuffix("n't") in _FAMILY or new in lists.modals:
            return self._is_wrong_auxiliary(old.removesuffix("n't"), new.removesuffix("n't"), at)
        if old in lists.function_words or new in lists.function_words:
            return False  # of another class, so that the sentence is built in another way
        return self._is_wrong_form(old, new, at, then)

    @staticmethod
    def _is_wrong_pronoun(old: str, new: str) -> bool:
        """Another case, or another third person; `we` for `they` is right again."""
        one, other = _lists().persons[old], _lists().persons[new]
        if not {case for _, case in one} & {case for _, case in other}:
            return True
        persons, new_persons = {person for person, _ in one}, {person for person, _ in other}
        return bool(persons & _THIRD_PERSONS) and bool(new_persons & _THIRD_PERSONS)

    def _is_wrong_determiner(self, new: str, at: int) -> bool:
        """An article that the sound behind it does not fit, or one of the other number than its noun."""
        lists = _lists()
        if new in ("a", "an") and _wants_an(self._next(at)) != (new == "an"):
            return True
        head = self._head(at)
        number = _noun_number(head)
        if new in ("a", "an") and head in lists.mass_nouns:
            return True
        if new in lists.singular_determiners:
            return number == "plural"
        return new in lists.plural_determiners and number == "singular"

    def _is_wrong_auxiliary(self, old: str, new: str, at: int) -> bool:
        """Another number, or a form that is not finite where a finite one stood."""
        if (old in _AUXILIARIES or old in _lists().modals) and new in _FAMILY and new not in _AUXILIARIES:
            wanted = self._wanted_by_auxiliary(at)
            return not wanted & _tags(new)  # "will be" and "has been" are right
        if old in _AUXILIARIES and new in _AUXILIARIES:
            number, new_number = _AUXILIARIES[old][0], _AUXILIARIES[new][0]
            if number and new_number and number != new_number and not self._is_either(at):
                return True
        return self._is_other_time(old, new, at)

    def _is_wrong_form(self, old: str, new: str, at: int, then: int) -> bool:
        """Whether another form of a verb, noun or adjective no longer fits its place."""
        if not forms(new):
            return True  # regular where the language is not, as `goed`: other words are misspelt
        short, long = sorted((old, new), key=len)
        if long in (f"{short}ly", f"{short[:-1]}ily"):
            return True
        if _degrees(old) & _degrees(new) and "VERB" not in forms(new):
            # "harder" or "hard" in the place of the other.
            return "than" in self._behind(at)[:3] or self.now[at - 1] in ("more", "most", "as", "very")

        is_noun = _noun_number(old) and self._is_noun_then(then)
        of_old, of_new = _tags_by_verb(old), _tags_by_verb(new)
        verbs = [verb for verb in of_old if verb in of_new]
        if verbs and not is_noun:
            if self._is_wrong_verb(of_old[verbs[0]], of_new[verbs[0]], at):
                return True
            return not self._wanted_by_auxiliary(at) and self._is_other_time(old, new, at)
        number, new_number = _noun_number(old), _noun_number(new)
        if number and new_number and number != new_number:
            return self._is_wrong_number(new, new_number, at)
        return False

    def _is_wrong_verb(self, old: Tags, new: Tags, at: int) -> bool:
        """Whether a verb of the forms `new` no longer fits its auxiliary or its subject."""
        wanted = self._wanted_by_auxiliary(at)
        if wanted:
            return bool(wanted & old) and not wanted & new
        if "VBG" in old:
            # "the hall, losing money" may become "lost", but "for losing" may not.
            before = self._before(at)[:1]
            return "VBD" not in new or not _lists().prepositions.isdisjoint(before)
        if "VBG" in new or (new == {"VBN"} and "VBD" in old):
            return True

        if ("VBZ" in old and "VB" in new) or ("VB" in old and "VBD" not in old and "VBZ" in new):
            return not self._is_either(at)
        if "VBD" in old and "VBD" not in new:  # a past that became a present
            number = self._number_of_subject(at)
            return ("VBZ" in new and number == "plural") or ("VB" in new and number == "singular")
        return False

    def _is_wrong_number(self, new: str, number: str, at: int) -> bool:
        """Whether a noun of this number no longer fits its determiner, its verb or a name behind it."""
        lists = _lists()
        determiner, following = self._determiner(at), self._next(at)
        if number == "plural" and determiner in lists.singular_determiners:
            return True
        if number == "singular" and determiner in lists.plural_determiners:
            return True
        if number == "singular" and determiner in ("all", "most", "such"):
            return new not in lists.mass_nouns

        of_verb = _number_of_verb(following)
        if of_verb:
            return of_verb != number and not self._is_either(at + 1)
        if number == "plural":
            # "The chemists Oren Valdis": what no dictionary has is a name.
            return bool(following) and not forms(following) and following not in lists.function_words
        return not determiner and new not in lists.mass_nouns

    def _is_other_time(self, old: str, new: str, at: int) -> bool:
        """Whether the tense of a verb no longer goes with a time or with another verb of its sentence."""
        lists = _lists()
        tense, new_tense = _tense(old), _tense(new)
        if not tense or not new_tense or tense == new_tense:
            return False
        others = [*self._before(at), *self._behind(at)]
        if new_tense == "present" and (lists.past_times & set(others) or self._has_past_year(at)):
            return True
        if lists.same_tense.isdisjoint(others):
            return False
        tenses = {_tense(word) for word in others}
        return tense in tenses and new_tense not in tenses

    def _has_past_year(self, at: int) -> bool:
        """Whether the sentence has a year before 2020, as in `in 1987`."""
        sentence = [*reversed(self._before(at)), self.now[at], *self._behind(at)]
        return re.search(r"\bin (?:1\d{3}|20[01]\d)\b", " ".join(sentence)) is not None

    # Words that come, go or change places ------------------------------------------------------------------

    def _is_misplaced(self, words: Sequence[str]) -> bool:
        """Words in another order, but adverbs and what `and` joins."""
        return _lists().conjunctions.isdisjoint(words) and not any(map(_is_adverb, words))

    def _is_fragment(self, change: Change, old: Sequence[str], new: Sequence[str]) -> bool:
        """Whether a mark that came leaves a clause alone, or one that went runs two sentences together."""
        added = [place for place, word in enumerate(new) if word in MARKS]
        if not added:
            return not MARKS.isdisjoint(old)
        behind = self._behind(change.new_start + added[-1])
        opens = bool(behind) and behind[0] in _lists().subordinators
        return opens or not any(map(_may_be_finite, behind))

    def _is_wrongly_added(self, new: str, at: int) -> bool:
        lists = _lists()
        before, following = self.now[max(at - 1, 0) : at], self._next(at)
        if new in (*before, following) and new not in ("had", "that"):  # which may stand twice
            return True
        if new in lists.determiners:
            is_determined = following in lists.function_words or bool(self._determiner(at))
            return is_determined or self._is_wrong_determiner(new, at)
        if new in ("more", "most"):
            return following.endswith(("er", "est"))
        if new in lists.prepositions:
            return following not in lists.dropped_before and not following[:1].isdigit()
        if new in _AUXILIARIES or new in lists.modals:
            tags = _tags(following)
            return bool(tags) and not tags & self._wanted_by_auxiliary(at + 1)
        return False

    def _is_wrongly_lost(self, old: str, at: int, then: int) -> bool:
        """`at` is the word behind the gap."""
        lists = _lists()
        following = self.now[at] if at < len(self.now) else ""
        if old in ("a", "an", "the"):
            head = self._head(at - 1)
            return _noun_number(head) == "singular" and head not in lists.mass_nouns
        if old in lists.prepositions:
            return following not in lists.dropped_before and following not in MARKS
        if old in lists.subjects:  # "and she left" may become "and left"
            return lists.conjunctions.isdisjoint(self.then[max(then - 1, 0) : then])
        if old in _AUXILIARIES or old in lists.modals:
            tags = _tags(following)
            is_plural = "VB" in tags and self._number_of_subject(at) == "plural"  # "they will go", "they go"
            return not tags & {"VBD", "VBZ"} and not is_plural
        return old in lists.conjunctions


def _degrees(word: str) -> frozenset[str]:
    """The adjectives and adverbs that a word may be a form of."""
    if {"ADJ", "ADV"}.isdisjoint(forms(word)):
        return frozenset()
    return lemmas(word)


def _may_be_finite(word: str) -> bool:
    is_auxiliary = word in _AUXILIARIES or word in _lists().modals or "n't" in word
    return is_auxiliary or not _tags(word).isdisjoint(("VBZ", "VBD", "VB"))


def _tense(word: str) -> str:
    """`past` or `present` of a word that may be nothing else; empty of others."""
    if word in _AUXILIARIES:
        return _AUXILIARIES[word][1]
    tags = _tags(word)
    if "VBD" in tags and tags <= {"VBD", "VBN"}:
        return "past"
    return "present" if tags and tags <= {"VB", "VBZ"} else ""


_VOWEL_SOUND = re.compile(
    r"(?!one\b|once\b|eu|u(?:ni(?![nm])|se|sual|bi|ti))[aeiou]"  # not "a one", "a unit", "a use"
    r"|hour|honest|honou?r|heir"
    r"|8|1[18](?!\d)"  # "an 8", "an 11", "an 18th"
)


def _wants_an(word: str) -> bool:
    """Whether `an` stands before a word, and not `a`."""
    return _VOWEL_SOUND.match(word) is not None
