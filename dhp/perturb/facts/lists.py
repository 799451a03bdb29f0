"""The words of a language by which facts are recognised, and which of them take each other's place.

`FactLists` is the form of a file `perturbations/lists/facts_<code>.yaml`; what rules need of it is a cached
property, so that a list is split once. `matches` finds the words of all lists in a text, `fits` says whether
one means there what the list says. `fact_language` tells which of the files a text needs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from pydantic import Field

from dhp.core.english import looks_english
from dhp.core.language import language_name, text_language
from dhp.core.specs import Spec
from dhp.perturb.fluency import FunctionWords

LANGUAGES = ("en", "de", "es", "fr", "zh")
"""Those for which there are lists, `perturbations/lists/facts_<code>.yaml`."""
LETTERS = re.compile(r"[^\W\d_]+")
"""A run of letters; of "d'une" there are two."""
_LEAST = 0.1
"""Share of function words from which a text is taken to be in a language."""
_CJK = r"\u3400-\u9fff"
WORD = re.compile(rf"(?<![\w@#./'’&-])[^\W\d_{_CJK}]+(?:[-'’][^\W\d_{_CJK}]+)*(?![\w@]|[./]\w)")
"""A word that is no part of a code, an address or a file name."""


class Contexts(Spec):
    """Beside which words a word of a list means something else, and stays."""

    behind: list[str] = Field(default=[])
    """Not right behind these."""
    before: list[str] = Field(default=[])
    """Not right before these words or marks."""
    only_behind: list[str] = Field(default=[])
    """Right behind one of these alone; all places, if it is empty."""
    only_before: list[str] = Field(default=[])
    """Right before one of these alone; all places, if it is empty."""

    @cached_property
    def _behind(self) -> re.Pattern[str]:
        return _begun(self.behind)

    @cached_property
    def _before(self) -> re.Pattern[str]:
        return _ended(self.before)

    @cached_property
    def _only_behind(self) -> re.Pattern[str]:
        return _begun(self.only_behind)

    @cached_property
    def _only_before(self) -> re.Pattern[str]:
        return _ended(self.only_before)

    def keep(self, prose: str, start: int, end: int) -> bool:
        """Whether the word at a position stays."""
        backwards = prose[max(start - _SIGHT, 0) : start][::-1]
        if self.behind and self._behind.match(backwards):
            return True
        if self.only_behind and not self._only_behind.match(backwards):
            return True
        if self.before and self._before.match(prose, end):
            return True
        return bool(self.only_before) and not self._only_before.match(prose, end)


_SIGHT = 24
"""Characters before a word that are looked at."""
_CHARACTER = re.compile(f"[{_CJK}]")
_ENDINGS = ("n't", "n’t")  # these stand at the end of a word: "isn't"


def _begun(words: Sequence[str]) -> re.Pattern[str]:
    """A text that ends with one of the words, read backwards, so that the pattern is tried in one place only.

    `^` is the beginning of the text.
    """
    patterns = list[str]()
    for word in words:
        if word == "^":
            patterns.append(r"(?:\Z|\n)")
        else:
            patterns.append(_letters(word[::-1]) + _alone(word, word[0]))
    return re.compile(rf"\s?(?:{'|'.join(patterns)})", re.I)


def _ended(words: Sequence[str]) -> re.Pattern[str]:
    """A text that begins with one of the words."""
    patterns = [_letters(word) + _alone(word, word[-1]) for word in words]
    return re.compile(rf"\s?(?:{'|'.join(patterns)})", re.I)


def _letters(word: str) -> str:
    """What is written; `*` is any letters."""
    return r"\w*".join(map(re.escape, word.split("*")))


def _alone(word: str, outermost: str) -> str:
    """No letter stands beside a word, where words have spaces between them."""
    can_go_on = _CHARACTER.match(word) or word in _ENDINGS or not outermost.isalnum()
    return "" if can_go_on else r"(?!\w)"


class Negation(Spec):
    """Forms of a language other than English that are denied or not."""

    pairs: list[str] = Field(default=[])
    """`stated | denied`: phrases that take each other's place."""
    contexts: Contexts = Contexts()
    """Where none of them changes."""


class FactLists(Spec):
    """What is known of a language. A list of words is one text, a group of them a line; `_` is a space."""

    names: Literal["capitals", "words", "characters"]
    """How names are recognised: by `capitals` within sentences; as listed `words`, where all nouns have
    capitals; as listed places, in a language whose `characters` have no capitals and no spaces."""
    months: str = ""
    weekdays: str = ""
    doubtful: str = ""
    """Months that are other words, too."""
    leads: list[str] = Field(default=[])
    """Behind these they are months."""
    times: list[str] = Field(default=[])
    """Times and units, each group in order: neighbours take each other's place."""
    numbers: list[str] = Field(default=[])
    """Numbers in words."""
    opposites: list[str] = Field(default=[])
    """Words that say the opposite, another quantity or another certainty."""
    described: list[str] = Field(default=[])
    """Opposites that count only if the source has the word."""
    contexts: Mapping[str, Contexts] = Field(default={})
    """Word of a group -> where it stays."""
    pointing: list[str] = Field(default=[])
    """Beginnings of sentences that go on from one before."""
    no_names: str = ""
    """Words with a capital that are no name."""
    organisations: str = ""
    """Last words of names of organisations."""
    sites: str = ""
    """Last words of names of places that are no town."""
    places: list[str] = Field(default=[])
    """Towns, countries and other places, each kind a line; `_` for a space in a name. Where articles tell
    countries apart, those of one article are a line."""
    verbs: str = ""
    """English: `base:past` of verbs that take "did not"."""
    male: str = ""
    """Given names of men."""
    female: str = ""
    """Given names of women."""
    either: str = ""
    """Given names of both."""
    pronouns: list[str] = Field(default=[])
    """Pronouns of a man and of a woman that take each other's place, a pair a line."""
    of_men: str = ""
    """Further words that tell the sex of a person."""
    of_women: str = ""
    negation: Negation = Negation()

    @property
    def is_spaced(self) -> bool:
        """Whether words have spaces between them."""
        return self.names != "characters"

    @cached_property
    def sexes(self) -> Mapping[str, str]:
        """Given name -> `he`, `she`, or empty for a name of both."""
        known = dict.fromkeys(self.either.split(), "")
        known |= dict.fromkeys(self.male.split(), "he")
        return known | dict.fromkeys(self.female.split(), "she")

    @cached_property
    def other_pronouns(self) -> Mapping[str, str]:
        """Pronoun -> that of the other sex."""
        others = dict[str, str]()
        for pair in self.pronouns:
            man, woman = pair.split()
            others[man], others[woman] = woman, man
        return others

    @cached_property
    def _persons(self) -> Mapping[str, str]:
        """Word that tells the sex of a person -> `he` or `she`."""
        men, women = self.of_men.split(), self.of_women.split()
        for pair in self.pronouns:
            man, woman = pair.split()
            men.append(man)
            women.append(woman)
        return dict.fromkeys(men, "he") | dict.fromkeys(women, "she")

    def sex_of(self, word: str) -> str:
        """`he` or `she` for a word that tells the sex of a person, given names among them; else empty."""
        return self._persons.get(word.lower()) or self.sexes.get(word, "")

    @cached_property
    def place_names(self) -> Mapping[str, int]:
        """Place -> the number of its line."""
        lines = dict[str, int]()
        for number, line in enumerate(self.places):
            for name in line.split():
                lines[name.replace("_", " ")] = number
        return lines

    @cached_property
    def points_back(self) -> re.Pattern[str]:
        """The beginning of a sentence that goes on from one before."""
        return _ended(self.pointing) if self.pointing else re.compile(r"(?!)")

    @cached_property
    def proper(self) -> frozenset[str]:
        """Days and months that are written with a capital, in small letters."""
        words = [*self.months.split(), *self.weekdays.split()]
        return frozenset(word.lower() for word in words if word[0].isupper())

    @cached_property
    def _lead(self) -> re.Pattern[str]:
        """What stands before a month: a word of `leads`, a figure or a comma, as in "in May", "3 May"."""
        leads = "|".join(map(re.escape, self.leads))
        return re.compile(rf"(?:(?<!\w)(?:{leads})|\d|,) \Z", re.I)

    def is_date(self, prose: str, word: re.Match[str]) -> bool:
        """Whether a weekday or month is one where it stands."""
        if word[0] not in self.doubtful.split():
            return True
        before = prose[max(word.start() - 8, 0) : word.start()]
        return self._lead.search(before) is not None

    def fits(self, word: str, prose: str, start: int, end: int) -> bool:
        """Whether a word of a list means at a place what the list says, beside what stands there."""
        context = self.contexts.get(word)
        return context is None or not context.keep(prose, start, end)

    @cached_property
    def _any(self) -> re.Pattern[str]:
        """One of the words, in a language without spaces."""
        return re.compile("|".join(sorted(self.lists_of_words, key=len, reverse=True)))

    @cached_property
    def _phrases(self) -> Mapping[str, re.Pattern[str]]:
        """What is listed and no single run of letters: "because of"."""
        patterns = dict[str, re.Pattern[str]]()
        for phrase in self.lists_of_words:
            if not phrase.isalpha():
                whole = rf"(?<!\w)(?<!\w[-'’]){re.escape(phrase)}(?!\w)"
                patterns[phrase] = re.compile(whole, re.I)
        return patterns

    def matches(self, prose: str) -> list[re.Match[str]]:
        """The words of lists in a text, in order; none within a phrase that is listed as one.

        Which words there are is told first, for the whole text: a pattern looks only where one stands.
        """
        if not self.is_spaced:
            return list(self._any.finditer(prose))

        # In small letters, but as long as before: positions in it are those of the text.
        small = prose.replace("İ", "I").lower()  # the one letter that two would become
        hits = list[re.Match[str]]()
        for phrase, pattern in self._phrases.items():
            if phrase in small:
                hits += pattern.finditer(prose)
        for word in self.lists_of_words.keys() & LETTERS.findall(small):
            at = small.find(word)
            while at >= 0:
                match = WORD.match(prose, at)
                end = at + len(word)
                if match is not None and match.end() == end:
                    hits.append(match)
                at = small.find(word, end)

        # Of those that overlap the first one stays, and of two that begin together the longer one.
        hits.sort(key=lambda match: (match.start(), -match.end()))
        matches, end = list[re.Match[str]](), 0
        for match in hits:
            if match.start() >= end:
                matches.append(match)
                end = match.end()
        return matches

    @cached_property
    def lists_of_words(self) -> Mapping[str, list[str]]:
        """Word in small letters -> the lists that have it."""
        known: dict[str, list[str]] = {}
        for name, words in self.groups.items():
            for word in words:
                known.setdefault(word, []).append(name)
        return known

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Words of lists that are written with a capital, in small letters."""
        nouns = set(self.proper)
        for line in (*self.times, *self.numbers, *self.opposites, *self.described):
            nouns.update(word.lower() for word in line.split() if word[0].isupper())
        return frozenset(nouns)

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, list[str]]]:
        """List -> word in small letters -> the words that may take its place."""
        return {
            "months": _others([self.months]),
            "weekdays": _others([self.weekdays]),
            "times": _others(self.times, reach=1),
            "numbers": _others(self.numbers),
            "opposites": _others(self.opposites),
            "described": _others(self.described),
        }


def _others(lines: Sequence[str], reach: int | None = None) -> dict[str, list[str]]:
    """Word -> those of its lines; with `reach` only those that stand at most so far away in one."""
    known: dict[str, list[str]] = {}
    for line in lines:
        words = [word.replace("_", " ") for word in line.lower().split()]
        for place, word in enumerate(words):
            near = words if reach is None else words[max(place - reach, 0) : place + reach + 1]
            # A word of several lines has the others of all of them.
            known.setdefault(word, []).extend(other for other in near if other != word)
    return known


ALLOWED = ", ".join(map(language_name, LANGUAGES))
"""The languages with lists, for messages."""


def fact_language(text: str, declared: str | None, lists: Callable[..., object]) -> str | None:
    """The language of a text, one of `LANGUAGES`; undeclared ones are told by their function words."""
    spoken = declared or text_language(text)
    # What is declared English may be another language: its rules would do nothing sensible there.
    if spoken is None:
        spoken = "en" if looks_english(text) else _by_function_words(text, lists)
    elif spoken == "en" and not looks_english(text):
        spoken = None
    return spoken if spoken in LANGUAGES else None


def _by_function_words(text: str, lists: Callable[..., object]) -> str | None:
    """The language of whose function words a text has most."""
    known = lists("function_words", FunctionWords)
    assert isinstance(known, FunctionWords)
    words = LETTERS.findall(text.lower())  # of "d'une" both parts
    shares = dict[str, int]()
    for code, fluency in known.known.items():
        shares[code] = len([word for word in words if word in fluency.all])
    best = max(shares, key=lambda code: shares[code])
    return best if words and shares[best] >= _LEAST * len(words) else None
