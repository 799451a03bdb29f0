"""Whether a change of an English text breaks its grammar, by closed lists and a dictionary, without a parser.

The original is taken to be right. So a verb whose number changes no longer agrees with its subject, and a
pronoun whose case changes no longer fits its place; what may be right again, such as another tense, is no
error.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dhp.content.catalog import read_list
from dhp.core.specs import Spec
from dhp.perturb.fluency import FunctionWords
from dhp.perturb.llm.words import MARKS, Change, Word, forms, lemmas

Tags = frozenset[str]
_TAGS = ("VB", "VBZ", "VBD", "VBN", "VBG")
"""Forms of a verb in the Penn Treebank: base, third person, past, participle, -ing."""
_BE: Mapping[str, tuple[str, str]] = {
    "am": ("first person", "present"),
    "is": ("singular", "present"),
    "are": ("plural", "present"),
    "was": ("singular", "past"),
    "were": ("plural", "past"),
}
_AUXILIARIES: Mapping[str, tuple[str, str]] = {
    **_BE,
    "has": ("singular", "present"),
    "have": ("plural", "present"),
    "had": ("", "past"),
    "does": ("singular", "present"),
    "do": ("plural", "present"),
    "did": ("", "past"),
}
"""Finite form -> number, if it has one, and tense."""
_FAMILY = dict.fromkeys((*_BE, "be", "been", "being"), "be") | {
    **dict.fromkeys(("has", "have", "had", "having"), "have"),
    **dict.fromkeys(("does", "do", "did", "doing", "done"), "do"),
}
_SCANNED = 4
"""Words that are looked at before or behind a change."""


class EnglishGrammar(Spec):
    """Closed lists of English words; words of a line are separated by spaces."""

    pronouns: list[str]
    """Forms of a person: subject, object, before a noun, alone, reflexive."""
    wrong_pronouns: str
    relatives: list[str]
    """Of each row one may stand for another."""
    confused: list[str]
    """Of each row none may stand for another."""
    singular_determiners: str
    plural_determiners: str
    any_determiners: str
    mass_nouns: str
    """Stand without an article, and have no plural."""
    collective_nouns: str
    """Both numbers of a verb are right with them."""
    prepositions: str
    like_prepositions: list[str]
    """Of each row one may stand for another."""
    modals: str
    conjunctions: str
    subordinators: str
    """Begin a clause that is no sentence by itself."""
    same_tense: str
    """Begin a clause with the tense of the main clause."""
    past_times: str
    future_times: str
    dropped_before: str
    """Before them a preposition may be left out."""


@dataclass(frozen=True)
class _Lists:
    spec: EnglishGrammar

    @cached_property
    def pronouns(self) -> Mapping[str, frozenset[tuple[int, int]]]:
        """Pronoun -> the persons and cases that it may be of, by their places in the list."""
        known: dict[str, set[tuple[int, int]]] = {}
        for person, row in enumerate(self.spec.pronouns):
            for case, word in enumerate(row.split()):
                known.setdefault(word, set()).add((person, case))
        return {word: frozenset(some) for word, some in known.items()}

    @cached_property
    def subjects(self) -> frozenset[str]:
        return frozenset(row.split()[0] for row in self.spec.pronouns)

    @cached_property
    def singular(self) -> frozenset[str]:
        return frozenset(self.spec.singular_determiners.split())

    @cached_property
    def plural(self) -> frozenset[str]:
        return frozenset(self.spec.plural_determiners.split())

    @cached_property
    def determiners(self) -> frozenset[str]:
        return self.singular | self.plural | frozenset(self.spec.any_determiners.split())

    @cached_property
    def prepositions(self) -> frozenset[str]:
        return frozenset(self.spec.prepositions.split())

    @cached_property
    def modals(self) -> frozenset[str]:
        return frozenset(self.spec.modals.split())

    @cached_property
    def function_words(self) -> frozenset[str]:
        relatives = " ".join((*self.spec.relatives, self.spec.conjunctions, self.spec.subordinators)).split()
        return (
            self.determiners
            | self.prepositions
            | self.modals
            | frozenset((*self.pronouns, *_FAMILY, *relatives, "not", "to"))
        )

    def share_row(self, rows: Sequence[str], one: str, other: str) -> bool:
        """Whether two words stand in one row."""
        return any(one in row.split() and other in row.split() for row in rows)

    def in_rows(self, rows: Sequence[str], word: str) -> bool:
        return any(word in row.split() for row in rows)


@functools.cache
def _lists() -> _Lists:
    return _Lists(read_list("english_grammar", EnglishGrammar))


def broken_words(made: Sequence[Change], before: Sequence[Word], after: Sequence[Word]) -> int:
    """How many words of the changes break the grammar of the text; `after` are its words and marks now."""
    text = _Text([_plain(word) for word in after], [_plain(word) for word in before])
    moved = _moved(made)
    return sum(
        max(len(change.old), len(change.new))
        for change in made
        if id(change) in moved or text.is_broken(change)
    )


def _plain(word: Word) -> str:
    return word.text.lower().replace("’", "'")


def _moved(made: Sequence[Change]) -> set[int]:
    """The changes by which a word went to another place near by, but adverbs and what `and` joins."""
    ids: set[int] = set()
    for one in made:
        for other in made:
            if one.new or other.old or len(one.old) != 1:
                continue
            word = _plain(one.old[0])
            is_near = abs(one.new_start - other.new_start) <= _SCANNED
            if is_near and word == " ".join(map(_plain, other.new)) and not _is_adverb(word):
                ids |= {id(one), id(other)}
    return ids


def _is_adverb(word: str) -> bool:
    return (
        word.endswith("ly") or set(forms(word)) == {"ADV"} or word in ("also", "only", "now", "then", "not")
    )


@functools.lru_cache(1 << 14)
def _tags(word: str) -> Mapping[str, Tags]:
    """Verb -> the forms of it that a word may be."""
    import lemminflect

    tags_of = {}
    for lemma in forms(word).get("VERB", ()):
        tags = {tag for tag in _TAGS if word in lemminflect.getInflection(lemma, tag)}
        if tags:
            tags_of[lemma] = frozenset(tags)
    return tags_of


@functools.lru_cache(1 << 14)
def _noun_number(word: str) -> str:
    """`singular` or `plural`, if the word may be a noun of one of these alone; else empty."""
    nouns = forms(word).get("NOUN", ())
    if not nouns:
        return ""
    return "singular" if word in nouns else "plural"


def _may_be_noun(word: str) -> bool:
    return "NOUN" in forms(word) and word not in _lists().function_words


class _Text:
    """The words of a text now, in small letters and with marks, and those before."""

    def __init__(self, now: Sequence[str], then: Sequence[str]) -> None:
        self.now, self.then = now, then

    def is_broken(self, change: Change) -> bool:
        """Whether a change breaks the grammar where it stands."""
        old, new = [_plain(w) for w in change.old], [_plain(w) for w in change.new]
        if MARKS & {*old, *new}:
            return self._is_fragment(change, old, new)
        if len(old) == len(new):
            if len(old) > 1 and sorted(old) == sorted(new):
                return self._is_misplaced(old, new)
            pairs = zip(old, new, strict=True)
            return any(
                self._is_wrong(one, other, change, i) for i, (one, other) in enumerate(pairs) if one != other
            )
        return self._cannot_meet(change) or self._is_lost_or_added(change, old, new)

    # What stands around a change ---------------------------------------------------------------------------

    def _before(self, at: int) -> Iterator[str]:
        """The words of the clause before a place in the text now, the nearest first."""
        for i in range(at - 1, -1, -1):
            if self.now[i] in MARKS:
                return
            yield self.now[i]

    def _behind(self, at: int) -> Sequence[str]:
        """The words of the sentence behind a place in the text now."""
        end = next((i for i in range(at + 1, len(self.now)) if self.now[i] in MARKS), len(self.now))
        return self.now[at + 1 : end]

    def _sentence(self, at: int) -> Sequence[str]:
        return [*reversed(list(self._before(at))), self.now[at], *self._behind(at)]

    def _wanted_by_auxiliary(self, at: int) -> Tags:
        """The forms that a verb at this place has by what stands before it; empty if it is finite."""
        lists = _lists()
        for step, word in enumerate(self._before(at)):
            if step == _SCANNED - 1:
                break
            if word in lists.modals or word in (
                "do",
                "does",
                "did",
                "don't",
                "doesn't",
                "didn't",
                "to",
                "cannot",
            ):
                return frozenset({"VB"})
            if _FAMILY.get(word.removesuffix("n't")) == "have":
                return frozenset({"VBN"})
            if _FAMILY.get(word.removesuffix("n't")) == "be":
                return frozenset({"VBN", "VBG"})
            if not (
                _is_adverb(word) or word in ("not", "never", "always", "often", "soon", "already", "just")
            ):
                break
        return frozenset()

    def _head(self, at: int) -> str:
        """The noun that a determiner at this place belongs to; empty if none is found."""
        words = self._behind(at)[:_SCANNED]
        for i, word in enumerate(words):
            following = words[i + 1] if i + 1 < len(words) else ""
            if word in _lists().function_words:
                return ""
            if _may_be_noun(word) and not (_may_be_noun(following) and not _tags(following)):
                return word
        return ""

    def _determiner(self, at: int) -> str:
        """What determines the noun at this place: a determiner, `number`, or empty if there is none."""
        lists = _lists()
        for step, word in enumerate(self._before(at)):
            if word in lists.determiners or "'s" in word or word in lists.pronouns:
                return word
            if word[0].isdigit():
                return "these" if word.replace(",", "") != "1" else "this"
            if step == _SCANNED - 1 or word in lists.function_words or not {"ADJ", "NOUN"} & set(forms(word)):
                break
        return ""

    # One word for another ----------------------------------------------------------------------------------

    def _is_wrong(self, old: str, new: str, change: Change, i: int) -> bool:
        at = change.new_start + i
        lists = _lists()
        spec = lists.spec
        if new in spec.wrong_pronouns.split() or lists.share_row(spec.confused, old, new):
            return True
        if self.now[at - 1 : at] == [new] and new not in ("had", "that"):
            return True
        if old in lists.pronouns and new in lists.pronouns:
            return self._is_wrong_pronoun(old, new)
        if old == "as" and "as" in self._behind(at)[:_SCANNED]:
            return True
        if lists.in_rows(spec.relatives, old) and lists.in_rows(spec.relatives, new) and old != new:
            return not lists.share_row(spec.relatives, old, new)
        if new in lists.determiners and (old in lists.determiners or old in lists.pronouns):
            return self._is_wrong_determiner(new, at)
        if old in lists.prepositions and new in lists.prepositions:
            return not lists.share_row(spec.like_prepositions, old, new)
        if old.removesuffix("n't") in _FAMILY or new.removesuffix("n't") in _FAMILY or new in lists.modals:
            return self._is_wrong_auxiliary(old, new, at)
        if new in lists.function_words or old in lists.function_words:
            return self._cannot_meet(change)
        return self._is_wrong_form(old, new, at, change.start + i)

    @staticmethod
    def _is_wrong_pronoun(old: str, new: str) -> bool:
        """Another case, or another third person; `we` for `they` is right again."""
        persons = _lists().pronouns
        one, other = persons[old], persons[new]
        if not {case for _, case in one} & {case for _, case in other}:
            return True
        third = {2, 3, 4, 6}
        return any(person in third for person, _ in one) and any(person in third for person, _ in other)

    def _is_wrong_determiner(self, new: str, at: int) -> bool:
        lists = _lists()
        following = self.now[at + 1] if at + 1 < len(self.now) else ""
        wants_an = _wants_an(following) if following else None
        if new in ("a", "an") and wants_an is not None and wants_an != (new == "an"):
            return True
        head = self._head(at)
        number = _noun_number(head)
        if new in lists.singular and new not in ("much", "one"):
            return number == "plural" or (new in ("a", "an") and head in lists.spec.mass_nouns.split())
        return new in lists.plural and number == "singular"

    def _is_wrong_auxiliary(self, old: str, new: str, at: int) -> bool:
        """Another number, a form that is not finite, or one that the verb behind it does not fit."""
        one, other = old.removesuffix("n't"), new.removesuffix("n't")
        if new == "ain't":
            return True
        finite = one in _AUXILIARIES or one in _lists().modals
        wanted = self._wanted_by_auxiliary(at)
        if finite and other in _FAMILY and other not in _AUXILIARIES:
            made = frozenset().union(*_tags(other).values())
            return not wanted & made  # "will be" and "has been" are right
        if wanted and other in _AUXILIARIES and one not in _AUXILIARIES:
            return not (other == "do" or (other in ("have", "had")))
        if one in _AUXILIARIES and other in _AUXILIARIES:
            numbers = [_AUXILIARIES[word][0] for word in (one, other)]
            if all(numbers) and numbers[0] != numbers[1] and not self._is_either(at):
                return True
        verb = next((w for w in self._behind(at)[:3] if not (_is_adverb(w) or w in ("not", "been"))), "")
        tags = frozenset().union(*_tags(verb).values()) if verb else frozenset()
        fits = self._wanted_by_auxiliary(at + 1)
        if tags and fits and _FAMILY.get(one) != _FAMILY.get(other) and not tags & fits:
            return set(forms(verb)) == {"VERB"} or one in _lists().modals
        return self._is_other_time(old, new, at)

    def _is_either(self, at: int) -> bool:
        """Whether both numbers of the verb at this place are right."""
        before = list(self._before(at))
        collective = _lists().spec.collective_nouns.split()
        if _lists().singular & set(before[:_SCANNED]):
            return False
        return any(word in collective or word in ("if", "wish", "there") for word in before[:_SCANNED])

    def _is_wrong_form(self, old: str, new: str, at: int, then: int) -> bool:
        lists = _lists()
        if not forms(new):
            return True  # regular where the language is not, as `goed`: other words are misspelt
        if (old + "ly" == new or new + "ly" == old) or (old[:-1] + "ily" == new or new[:-1] + "ily" == old):
            return True
        degrees = {"ADJ", "ADV"} & set(forms(old)) and {"ADJ", "ADV"} & set(forms(new))
        if degrees and lemmas(old) & lemmas(new) and "VERB" not in forms(new):
            return "than" in self._behind(at)[:3] or self.now[at - 1] in ("more", "most", "as", "very")
        before = self.then[then - 1] if then else ""
        determined = before in lists.determiners or before in lists.prepositions or before[:1].isdigit()
        shared = [lemma for lemma in _tags(old) if lemma in _tags(new)]
        is_verb = shared and not (determined and before != "to" and _noun_number(old) and _noun_number(new))
        if is_verb and not (_noun_number(old) and self._is_noun_then(then)):
            return self._is_wrong_verb(_tags(old)[shared[0]], _tags(new)[shared[0]], at, old, new)
        numbers = [_noun_number(word) for word in (old, new)]
        if all(numbers) and numbers[0] != numbers[1]:
            return self._is_wrong_number(new, numbers[1], at)
        return False

    def _is_noun_then(self, then: int) -> bool:
        """Whether a word of the original is a noun, as a determiner stands before it or its adjectives."""
        lists = _lists()
        for i in range(then - 1, max(then - _SCANNED, -1), -1):
            word = self.then[i]
            if word in lists.determiners or word[0].isdigit():
                return True
            if "ADJ" not in forms(word):
                return False
        return False

    def _is_wrong_verb(self, old: Tags, new: Tags, at: int, one: str, other: str) -> bool:
        wanted = self._wanted_by_auxiliary(at)
        if wanted:
            return bool(wanted & old) and not wanted & new
        before = next(self._before(at), "")
        if "VBG" in old:
            is_past_again = "VBD" in new and before not in _lists().prepositions
            return not is_past_again
        if "VBG" in new or (new == {"VBN"} and "VBD" in old):
            return True
        number = self._number_of_subject(at)
        if "VBZ" in old and "VB" in new and "VBD" not in new:
            return number != "plural" and not self._is_either(at)
        if "VB" in old and "VBD" not in old and "VBZ" in new:
            return number != "singular" and not self._is_either(at)
        if "VBD" in old and "VBD" not in new:
            if "VBZ" in new and number == "plural":
                return True
            if "VB" in new and "VBZ" not in new and number == "singular":
                return True
        return self._is_other_time(one, other, at)

    def _number_of_subject(self, at: int) -> str:
        """Of a pronoun before a verb, or of the first noun before a preposition; empty if unsure."""
        lists = _lists()
        clause: list[str] = []
        for word in self._before(at):
            if word in lists.spec.subordinators.split() and word != "and":
                break
            if word in _FAMILY or word in lists.modals:
                break
            clause.append(word)
            if word in lists.subjects:
                break
        clause.reverse()
        if not clause:
            return ""
        if clause[0] in lists.subjects and len(clause) <= 2:
            return "singular" if clause[0] in ("he", "she", "it") else "plural"
        if "and" in clause:
            return ""
        first = next((i for i, word in enumerate(clause) if word in lists.prepositions and i), len(clause))
        head = [word for word in clause[:first] if word not in lists.function_words and not _is_adverb(word)]
        if not head:
            return ""
        if forms(head[-1]) and not _may_be_noun(head[-1]):
            return ""
        return _noun_number(head[-1]) or "singular"  # what no dictionary has is a name

    def _is_wrong_number(self, new: str, number: str, at: int) -> bool:
        """Whether a noun of this number no longer fits its determiner, its verb or a name behind it."""
        lists = _lists()
        determiner = self._determiner(at)
        if number == "plural" and determiner in lists.singular:
            return True
        if number == "singular" and (determiner in lists.plural or determiner in ("all", "most", "such")):
            return determiner == "these" or new not in lists.spec.mass_nouns.split()
        following = self.now[at + 1] if at + 1 < len(self.now) else ""
        if following in _AUXILIARIES and _AUXILIARIES[following][0] and not self._is_either(at + 1):
            return _AUXILIARIES[following][0] != number
        tags = frozenset().union(*_tags(following).values()) if following else frozenset()
        if tags and "VBD" not in tags and "VBN" not in tags and not _may_be_noun(following):
            return ("VBZ" in tags) == (number == "plural")
        if (
            number == "plural"
            and following
            and not forms(following)
            and following not in lists.function_words
        ):
            return True  # "The chemists Oren Valdis"
        return number == "singular" and not determiner and new not in lists.spec.mass_nouns.split()

    def _is_other_time(self, old: str, new: str, at: int) -> bool:
        """Whether the tense of a verb no longer goes with a time or with another verb of its sentence."""
        lists = _lists()
        tenses = [_tense(word) for word in (old, new)]
        if not all(tenses) or tenses[0] == tenses[1]:
            return False
        sentence = self._sentence(at)
        pairs = set(itertools.pairwise(sentence))
        past = set(lists.spec.past_times.split()) & set(sentence) or any(a == "last" for a, _ in pairs)
        past = past or any(a == "in" and re.fullmatch(r"1\d{3}|20[01]\d", b) for a, b in pairs)
        if tenses[1] == "present" and past:
            return True
        if tenses[1] == "past" and (set(lists.spec.future_times.split()) & set(sentence)):
            return True
        if not set(lists.spec.same_tense.split()) & set(sentence):
            return False
        others = [_tense(word) for i, word in enumerate(sentence) if word != new]
        return tenses[0] in others and tenses[1] not in others

    # Words that come, go or change places ------------------------------------------------------------------

    def _is_misplaced(self, old: Sequence[str], new: Sequence[str]) -> bool:
        """Words in another order, but adverbs and what `and` joins."""
        conjunctions = set(_lists().spec.conjunctions.split())
        return not (conjunctions & set(old) or any(_is_adverb(word) for word in old))

    def _cannot_meet(self, change: Change) -> bool:
        """Whether words now stand side by side that cannot, by the lists of function words."""
        fluency = read_list("function_words", FunctionWords).known["en"]
        start, end = change.new_start, change.new_start + len(change.new)
        for i in range(max(start - 1, 0), min(end + 1, len(self.now)) - 1):
            left, right = (word if word not in MARKS else None for word in self.now[i : i + 2])
            if (left or right) and fluency.breaks(left, right):
                return True
        return False

    def _is_fragment(self, change: Change, old: Sequence[str], new: Sequence[str]) -> bool:
        """Whether a mark that came leaves a clause alone, or one that went runs two sentences together."""
        added = [i for i, word in enumerate(new) if word in MARKS]
        if not added:
            return bool(MARKS & set(old))
        end = change.new_start + added[-1]
        behind = self._behind(end)
        opens = behind[:1] and (
            behind[0] in _lists().spec.subordinators.split()
            or behind[0] in _lists().prepositions
            or (_tags(behind[0]).keys() and all({"VBG", "VBN"} & tags for tags in _tags(behind[0]).values()))
        )
        return bool(opens) or self._has_no_verb(behind)

    @staticmethod
    def _has_no_verb(words: Sequence[str]) -> bool:
        return not any(_may_be_finite(word) for word in words)

    def _is_lost_or_added(self, change: Change, old: Sequence[str], new: Sequence[str]) -> bool:
        at = change.new_start
        if len(new) == 1 and not old:
            return self._is_wrongly_added(new[0], at)
        if len(old) == 1 and not new:
            return self._is_wrongly_lost(old[0], at, change.start)
        # Words of both sides that stand for each other, the last ones first, as in `carry` for `has carried`.
        return bool(new) and any(
            self._is_wrong(one, other, change, len(new) - 1 - i)
            for i, (one, other) in enumerate(zip(reversed(old), reversed(new), strict=False))
            if one != other
        )

    def _is_wrongly_added(self, new: str, at: int) -> bool:
        lists = _lists()
        near = (*self.now[max(at - 1, 0) : at], *self.now[at + 1 : at + 2])
        if new in near and new not in ("had", "that"):
            return True
        following = self.now[at + 1] if at + 1 < len(self.now) else ""
        if new in ("a", "an"):
            is_bare = following in lists.function_words or self._determiner(at)
            return bool(is_bare) or self._is_wrong_determiner(new, at)
        if new in lists.determiners:
            return following in lists.determiners or following in lists.subjects
        if new in lists.subjects:
            return bool(_tags(following)) or following in _AUXILIARIES
        if new in ("more", "most"):
            return any(following.endswith(end) for end in ("er", "est"))
        if new in lists.prepositions:
            return following not in lists.spec.dropped_before.split() and not following[:1].isdigit()
        if new in _AUXILIARIES or new in lists.modals:
            wanted = self._wanted_by_auxiliary(at + 1)
            tags = frozenset().union(*_tags(following).values()) if following else frozenset()
            return bool(wanted and tags and not wanted & tags)
        return False

    def _is_wrongly_lost(self, old: str, at: int, then: int) -> bool:
        """`at` is the word behind the gap."""
        lists = _lists()
        following = self.now[at] if at < len(self.now) else ""
        if old in ("a", "an", "the"):
            head = self._head(at - 1)
            if old != "the":
                return following not in ("few", "little", "lot", "bit")
            bare = set(lists.spec.mass_nouns.split())
            return _noun_number(head) == "singular" and head not in bare
        if old in lists.prepositions and old != "to":
            return following not in lists.spec.dropped_before.split() and following not in MARKS
        if old == "to":
            return True
        if old in lists.subjects:
            return self.then[then - 1 : then] not in (["and"], ["but"], ["or"])
        if old in _AUXILIARIES or old in lists.modals:
            tags = frozenset().union(*_tags(following).values()) if following else frozenset()
            if not tags:
                return True
            return not tags & {"VBD", "VBZ"} and not (
                "VB" in tags and self._number_of_subject(at) == "plural"
            )
        if old in lists.spec.conjunctions.split():
            return True
        is_verb = set(forms(old)) == {"VERB"}
        return is_verb and bool({"VBZ", "VBD"} & frozenset().union(*_tags(old).values()))


def _may_be_finite(word: str) -> bool:
    if word in _AUXILIARIES or word in _lists().modals or "n't" in word:
        return True
    return any({"VBZ", "VBD", "VB"} & tags for tags in _tags(word).values())


def _tense(word: str) -> str:
    """`past` or `present` of a word that may be nothing else; empty of others."""
    if word in _AUXILIARIES:
        return _AUXILIARIES[word][1]
    if "VERB" not in forms(word):
        return ""
    tags = frozenset().union(*_tags(word).values())
    if tags and tags <= {"VBD", "VBN"} and "VBD" in tags:
        return "past"
    return "present" if tags and tags <= {"VB", "VBZ"} else ""


_VOWEL_SOUND = re.compile(r"(?!one\b|once\b|uni|use|usual|euro|eu|ubi|uti)[aeiou]|hour|honest|honou?r|heir")
_CONSONANT_SOUND = re.compile(
    r"[bcdfgjklmnpqrstvwxyz]|h(?!our|onest|onou?r|eir)|one\b|once\b|uni(?!n|m)|use|usual|euro"
)


def _wants_an(word: str) -> bool | None:
    """Whether `an` stands before a word; None if that is not sure, as of figures."""
    if word[0].isdigit():
        return None if word[0] in "18" else False
    if _VOWEL_SOUND.match(word):
        return True
    return False if _CONSONANT_SOUND.match(word) else None
