"""The names in the texts of a table, and of what kind they are.

A name has a capital within sentences and (next to) never a small letter in the table itself, as no list of
words knows capitals. Its kind is told by a published list of given names, by what stands before it, and by
its last word. In languages that write all nouns with capitals, or none, names are those of lists alone.

`Names` reads the table twice: first every word with a capital is counted (`capitals`), by which `is_name`
knows a name; then the names are joined from their words and what stands before them is counted, by which
`kind` knows what they name. A wrong name is drawn (`borrowed`) from the names of its kind.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import NamedTuple

from dhp.core.words import zipf
from dhp.perturb.edits import Edit
from dhp.perturb.facts.lists import LETTERS, WORD, FactLists
from dhp.perturb.facts.words import sound_alike, starts

_UPPER = "A-ZÀ-ÖØ-Þ"
_SHAPE = re.compile(
    rf"(?:[{_UPPER}]['’])?(?:Ma?c)?[{_UPPER}][^\W\d_{_UPPER}]+(?:-[{_UPPER}][^\W\d_{_UPPER}]+)*"
)
"""Not all in capitals, no capital inside but behind a hyphen, O' or Mc."""
_CAPITAL = re.compile(rf"[{_UPPER}](?<![\w@#./'’&-].)[^\W\d_]*+(?:[-'’][^\W\d_]++)*+(?![\w@]|[./]\w)")
"""A word with a capital that is no part of a code, an address or a file name."""
_ADDRESS = re.compile(r"\S+@\S+")
"""One has the names of persons in small letters."""
# What stands right before a name; each ends with the space before it (`\Z`).
_ARTICLE = re.compile(r"\b[Tt]he \Z")  # "the Orlando Magic"
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.? \Z")  # the full stop of "Mr. Smith" ends no sentence
# English, Spanish, French and German prepositions of places: "in Leeds", "desde Lima".
_IN_PLACE = re.compile(r"\b(?:in|at|from|near|across|around|en|desde|à|nach|aus) \Z")
_NOUN = re.compile(
    r"\b(?:der|die|das|dem|den|des|dies\w+|(?:k?ein|mein|sein|ihr|unser)\w*|im|zum|zur|beim|ins|am|als|mit|viel"
    r"|\w+e[mnrs]) ([A-ZÄÖÜ][\w-]+)"
)
"""A German word that takes an article or an adjective."""
_STARTS = frozenset(".!?:;\"“‘«„(\n*>•-–—|[/¿¡'`")
"""Behind these a word has a capital as at the beginning of a sentence."""
_LEAD = re.compile(
    r"\b(?:New|North|South|West|East|Great|Saint|San|Los|Las|El|La|Le|De|Real|Sri|The) \Z"
    r"|\b[A-Z]\w+ (?:In|Of|At|On|And|To) \Z"
)
"""Words with which a longer name or a title begins."""
_LEAST_INSIDE = 0.1
"""Small letters at most so many times as often as capitals within sentences."""
_TAIL = re.compile(r" (?:del? |d[ue] )?(?:Norte|Sur|Este|Oeste|Nord|Sud|Est|Ouest)\b")
"""Behind these a name is a part of one, as in "Irlanda del Norte"."""
_FREQUENT = 5.5
"""Zipf frequency of English words such as "new" that are no name alone."""
_COMMON = 4.5
"""Of words such as "resources": "in Human Resources" is no place."""
_TITLE_LENGTH = 200
"""Characters of a line that can be a title."""
_TITLE_CAPITALS = 3
"""Capitals that a title has at least, as it has four long words or more: few lines are looked at further."""
_LONG, _SMALL = 400, 1_000
"""Characters of a text, and for each capital in it, from which on its names seem to have none."""
_LONGEST = 3
"""Words of the name of a person."""
_TRIES = 12
"""Names that are drawn before it is said that none fits."""
_SIGHT = 8
"""Characters before a name by which its kind is told."""
_LEADING = 24
"""Characters before a name in which a word that leads a longer one is looked for."""
_REMEMBERED = 10_000
"""Texts, sources and sentences whose names are remembered, as each kind of fact looks at them."""


class Capital(NamedTuple):
    """A word that has the shape of a name's."""

    start: int
    end: int
    word: str
    begins: bool
    """Whether it may have its capital as the first word of a sentence."""


class Name(NamedTuple):
    """A name as it stands in a text."""

    start: int
    end: int
    text: str


def capitals(text: str) -> list[Capital]:
    """The words of a text that have the shape of a name's, outside lines of titles."""
    titles = _titles(text)
    words = list[Capital]()
    for match in _CAPITAL.finditer(text):
        word, start = match[0], match.start()
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        is_plain = word.isalpha() and word[1:].islower()  # most are, which is told faster than by the pattern
        if not (is_plain or _SHAPE.fullmatch(word)):
            continue
        if any(begin <= start < end for begin, end in titles):
            continue
        before = text[max(start - 6, 0) : start]
        ended = before.rstrip(" \t")[-1:]
        begins = (not ended or ended in _STARTS) and not _TITLE.search(before)
        words.append(Capital(start, start + len(word), word, begins))
    return words


def _titles(text: str) -> list[tuple[int, int]]:
    """The lines in which most words have a capital, though they are no sentence."""
    start, spans = 0, list[tuple[int, int]]()
    for line in text.split("\n"):
        can_be_one = len(line) <= _TITLE_LENGTH and not line.rstrip().endswith((".", "!", "?"))
        if can_be_one and sum(map(str.isupper, line)) >= _TITLE_CAPITALS:
            # Short words, such as "of" and "the", have small letters in titles, too.
            long = [word for word in WORD.findall(line) if len(word) > 3]
            with_capital = [word for word in long if word[0].isupper()]
            if len(long) > 3 and len(with_capital) > 0.6 * len(long):
                spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def is_in_small_letters(text: str, words: Sequence[Capital]) -> bool:
    """Whether a text of some length has no capitals but at the beginning of sentences."""
    inside = [each for each in words if not each.begins]
    return len(text) >= _LONG and len(inside) * _SMALL < len(text)


class Names:
    """The names that the texts of a table hold."""

    def __init__(self, texts: Sequence[tuple[str, str]], lists: FactLists) -> None:
        """`texts` are outputs, each with what its writer had."""
        self._lists = lists
        self._no_names = frozenset(lists.no_names.split())
        self._organisations = frozenset(lists.organisations.split())
        self._sites = frozenset(lists.sites.split())
        # Words with a capital within sentences, and all words as they are written.
        self._inside, self._words = Counter[str](), Counter[str]()
        self._surnames: dict[str, str] = {}  # surname -> the sex of a person who has it
        # Names, how often they stand at all, behind "in" and the like, behind "à", behind "the".
        self._in_place, self._all = Counter[str](), Counter[str]()
        self._at_town, self._with_article = Counter[str](), Counter[str]()
        self._pool: dict[tuple[str, int], list[str]] = {}  # kind -> its names, as often as outputs have them
        self.is_name: Callable[[str], bool] = functools.cache(self._is_name)
        """Whether a word that has a capital is (a part of) a name."""
        self.kind: Callable[[str], tuple[str, int] | None] = functools.cache(self._kind)
        """What a name names, as far as it is known, and its number of words; None if not."""
        self._known: dict[str, list[Name]] = {}
        self._of_others = functools.lru_cache(_REMEMBERED)(self._found)
        read = self._count_words(texts)
        if lists.names == "words":
            self._learn_surnames(read)
        self._read_names(read)

    def _count_words(self, texts: Sequence[tuple[str, str]]) -> list[tuple[str, list[Capital]]]:
        """Each output, then its source, with its words with a capital; these and all words are counted."""
        words_of: dict[str, list[Capital]] = {}  # many outputs may have one source, which is read once
        read = list[tuple[str, list[Capital]]]()
        for pair in texts:
            for text in pair:
                if text not in words_of:
                    words_of[text] = capitals(text) if self._lists.is_spaced else []
                read.append((text, words_of[text]))

        for text, words in read:
            self._inside.update(each.word for each in words if not each.begins)
            # A text without capitals would make a common word of each name.
            if not is_in_small_letters(text, words):
                without_addresses = _ADDRESS.sub(" ", text) if "@" in text else text
                self._words.update(LETTERS.findall(without_addresses))
        return read

    def _read_names(self, read: Sequence[tuple[str, Sequence[Capital]]]) -> None:
        """Remember the names of each text, and by kind those of the outputs."""
        outputs = list[str]()
        for number, (text, words) in enumerate(read):
            names = list(self._joined(text, words))
            for name in names:
                self._see(text, name)
            if number % 2 == 0:  # outputs and sources take turns
                outputs += [name.text for name in names]
            self._known[text] = self._whole(text, names)

        # Only now, as the kind of a name depends on all places where it stands.
        for output in outputs:
            kind = self.kind(output)
            if kind is not None:
                self._pool.setdefault(kind, []).append(output)

    def of(self, text: str) -> list[Name]:
        """The names of a text, in order; none that is a part of something longer."""
        return self._known[text] if text in self._known else self._of_others(text)

    def _see(self, text: str, name: Name) -> None:
        """Count what tells the kind of a name."""
        self._all[name.text] += 1
        before = text[max(name.start - _SIGHT, 0) : name.start]
        if before.endswith(" "):
            self._in_place[name.text] += _IN_PLACE.search(before) is not None
            self._at_town[name.text] += before.endswith("à ")
            self._with_article[name.text] += _ARTICLE.search(before) is not None
        # "Anna Miller" makes "Miller" a surname, but "Lincoln Park" does not make "Park" one.
        words, sexes = name.text.split(), self._lists.sexes
        if len(words) == 2 and self._is_given(words[0]) and words[1] not in self._organisations | self._sites:
            self._surnames.setdefault(words[1], sexes[words[0]])

    def _learn_surnames(self, texts: Sequence[tuple[str, Sequence[Capital]]]) -> None:
        """A word with a capital right behind a given name is a surname, unless it takes articles."""
        nouns = set(self._no_names)
        for text, _ in texts:
            nouns.update(_NOUN.findall(text))
        for _, words in texts:
            for one, other in pairwise(words):
                beside = other.start == one.end + 1 and other.word not in nouns
                if one.word in self._lists.sexes and beside and not self._is_listed(other.word):
                    self._surnames.setdefault(other.word, self._lists.sexes[one.word])

    def _is_given(self, word: str) -> bool:
        """Whether a word is a given name, and no word of the table in small letters, too, as "Summer" is."""
        if word not in self._lists.sexes or zipf(word.lower()) > _FREQUENT:
            return False
        return self._words[word.lower()] <= _LEAST_INSIDE * self._words[word]

    def _is_listed(self, word: str) -> bool:
        """Whether a word is a given name or a place of the lists."""
        return word in self._lists.sexes or word in self._lists.place_names

    def _is_name(self, word: str) -> bool:
        """As `is_name`, which remembers the answer."""
        if word in self._no_names:
            return False
        if self._lists.names == "words":
            return self._is_listed(word) or word in self._surnames
        # It has to stand within a sentence, and hardly ever without its capital.
        if self._inside[word] == 0 or zipf(word.lower()) > _FREQUENT:
            return False
        return self._words[word.lower()] <= _LEAST_INSIDE * self._inside[word]

    def _found(self, text: str) -> list[Name]:
        """The names of a text that is not of the table."""
        words = capitals(text) if self._lists.is_spaced else []
        return self._whole(text, self._joined(text, words))

    def _whole(self, text: str, names: Iterable[Name]) -> list[Name]:
        """The names that are no part of something longer."""
        if not self._lists.is_spaced:
            return list(names)
        return [name for name in names if _is_whole(text, name)]

    @cached_property
    def _long_places(self) -> Mapping[str, re.Pattern[str]]:
        """Listed places of several words, in the order of the list."""
        patterns = dict[str, re.Pattern[str]]()
        for name in self._lists.place_names:
            if " " in name:
                patterns[name] = re.compile(rf"\b{re.escape(name)}\b")
        return patterns

    def _spans_of_long_places(self, text: str) -> list[tuple[int, int]]:
        """Where they stand; one that begins another one ("United States of America") counts before it."""
        spans = list[tuple[int, int]]()
        for name, pattern in self._long_places.items():
            if name in text:  # few texts have one: this is faster than one pattern for all
                spans += (match.span() for match in pattern.finditer(text))
        spans.sort(key=lambda span: span[0])

        apart = spans[:1]
        for before, span in pairwise(spans):
            if span[0] >= before[1]:
                apart.append(span)
        return apart

    @cached_property
    def _listed_places(self) -> re.Pattern[str]:
        """Any of the places, in a language without spaces."""
        # The longest first. "新" makes another place of it ("New England"); what may not follow makes a
        # language, a religion, a treaty or an ocean of it.
        names = "|".join(sorted(self._lists.place_names, key=len, reverse=True))
        return re.compile(f"(?<!新)(?:{names})(?!语|語|教|天主|条约|條約|洋)")

    def _joined(self, text: str, words: Iterable[Capital]) -> Iterator[Name]:
        """Words of names side by side are one."""
        if not self._lists.is_spaced:
            for match in self._listed_places.finditer(text):
                yield Name(*match.span(), match[0])
            return

        # Listed places of several words first; no word of theirs counts again.
        places = self._spans_of_long_places(text)
        for a, b in places:
            yield Name(a, b, text[a:b])

        start = end = -1  # of the name that grows word by word; -1: there is none
        for each in self._parts(words):
            if any(a <= each.start < b for a, b in places):
                continue
            beside = end >= 0 and text[end : each.start] == " "
            if beside and text[start:end] not in self._lists.place_names:  # "In Leeds Anna spoke": two
                end = each.end
                continue
            if end >= 0:
                yield Name(start, end, text[start:end])
            start, end = each.start, each.end
        if end >= 0:
            yield Name(start, end, text[start:end])

    def _parts(self, words: Iterable[Capital]) -> Iterator[Capital]:
        """The words that are parts of names: also a given name that begins a sentence, right before one."""
        before: Capital | None = None
        for each in words:
            if not self.is_name(each.word):
                before = each if self._is_given(each.word) else None
                continue
            if before is not None and before.end + 1 == each.start:
                yield before
            before = None
            yield each

    def _kind(self, name: str) -> tuple[str, int] | None:
        """As `kind`, which remembers the answer; the surest signs first."""
        words = name.split()
        if name in self._lists.place_names:
            return f"place {self._lists.place_names[name]}", len(words)
        if words[-1] in self._organisations:
            return ("organisation", len(words)) if len(words) > 1 else None
        if words[-1] in self._sites:
            return ("site", len(words)) if len(words) > 1 else None
        if 2 * self._with_article[name] > self._all[name]:  # "the Summer Olympics", "the Orlando Magic"
            return None
        is_given = self._is_given(words[0])
        if 2 * self._in_place[name] > self._all[name] and not (len(words) > 1 and is_given):
            if all(zipf(word.lower()) > _COMMON for word in words):
                return None
            is_town = 2 * self._at_town[name] > self._in_place[name]  # French: "à Lyon", but "en France"
            return "town" if is_town else "place", len(words)
        if is_given and len(words) <= _LONGEST:
            return f"person {self._lists.sexes[words[0]]}", len(words)
        if name in self._surnames:
            return f"surname {self._surnames[name]}", 1
        return None

    def borrowed(self, old: str, text: str, taken: str, rng: Random) -> str | None:
        """A name of the same kind, drawn as often as it stands in the table; no word of it is in `taken`.

        That is all that the text must not speak of, in small letters.
        """
        kind = self.kind(old)
        group = self._pool.get(kind, []) if kind else []
        places = list(starts(old, text, is_spaced=self._lists.is_spaced))
        for _ in range(_TRIES if group else 0):
            new = group[int(rng.random() * len(group))]
            fits = all(sound_alike(old, new, text, place) for place in places)
            if fits and not any(word in taken for word in new.lower().split()):
                return new
        return None

    def renaming(self, prose: str, new_names: Mapping[str, str]) -> tuple[Edit, ...]:
        """The edits that give names others wherever they stand; parts of one that stand alone follow it."""
        # "Anna Miller" becomes "Tom Baker", so "Miller" alone becomes "Baker".
        whole = dict(new_names)
        alone = {name.text for name in self.of(prose)}
        for old, new in new_names.items():
            old_parts, new_parts = old.split(), new.split()
            if len(old_parts) == len(new_parts) > 1:
                for one, other in zip(old_parts, new_parts, strict=True):
                    if one in alone:
                        whole.setdefault(one, other)
        if not self._lists.is_spaced:
            return tuple((*name[:2], whole[name.text]) for name in self.of(prose) if name.text in whole)

        # The longest first: within its places a shorter name is a part of it.
        edits = list[Edit]()
        for name in sorted(whole, key=len, reverse=True):
            for start in starts(name, prose, is_spaced=True):
                end = start + len(name)
                if not any(start < b and a < end for a, b, _ in edits):
                    edits.append((start, end, whole[name]))
        return tuple(sorted(edits))


def _is_whole(text: str, name: Name) -> bool:
    """Whether it is no part of something longer, such as "New Zealand Act" or "Smith-type"."""
    before, after = text[max(name.start - 2, 0) : name.start], text[name.end : name.end + 2]
    if _LEAD.search(text[max(name.start - _LEADING, 0) : name.start]) and " " not in name.text:
        return False
    if _TAIL.match(text, name.end):
        return False
    if before.endswith(("-", "&", "/")) or after.startswith(("-", "&", "/")):
        return False
    return not (after[:1] == " " and after[1:].isupper())  # a further word with a capital


def distinct(names: Iterable[Name]) -> list[str]:
    """The names, each once; none that is a word of another."""
    texts = list(dict.fromkeys(name.text for name in names))
    parts = set[str]()
    for text in texts:
        if " " in text:
            parts.update(text.split())
    return [text for text in texts if text not in parts]
