"""Finds the names and technical terms of an English text: by an installed spaCy pipeline, or by rules."""

import functools
import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dhp.core.english import looks_english
from dhp.core.errors import InputError
from dhp.perturb.entities.types import EntityLists, Kind, Mention, Piece, Span
from dhp.perturb.entities.words import everyday, opens, prefixed, unlisted, zipf

WORD = re.compile(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*")
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
_ROMAN = re.compile(r"[IVX]+")
_CONNECTORS = frozenset("of the de da do dos das del della di du la le van von der den bin ibn al y".split())
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|across|outside|around|towards?)\s+$", re.I)
_THE_BEFORE = re.compile(r"\bthe\s+$", re.I)
_SURNAMES_TOO = frozenset("hall hill lane park church bridge west north castle forest creek king old".split())
_VOWELLESS = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,5}")
PLURAL = re.compile(r"[^suiao]s$")
_LATIN = re.compile(r"[a-z]{3,}(?:us|um|a|is|ae|i|ens|as|os|on)")
_MIXED = re.compile(r"[a-z]+[A-Z]+[A-Za-z]*")
_ACTS = re.compile(r"\b(?:they|we|you|it|he|she|will|can|could|would|may|might|must|not)\s+$", re.I)
_SAYING = re.compile(r" (?:said|says|told|added|admits|insists|warns)\b")
_LABELS: Mapping[str, Kind] = {
    "PERSON": "first", "PER": "first", "GPE": "place", "LOC": "place", "FAC": "place", "NORP": "demonym",
    "ORG": "name", "PRODUCT": "name", "EVENT": "name", "WORK_OF_ART": "name", "LAW": "name", "MISC": "name",
}  # fmt: skip


@functools.cache
def _pipeline() -> Any:
    """The first installed English pipeline that recognises entities, by name; None without one."""
    installed = {e.name for e in importlib.metadata.entry_points(group="spacy_models")}
    if not (names := sorted(name for name in installed if name.startswith("en_"))):
        return None  # Without importing spaCy, which takes seconds.
    try:
        import spacy
    except ImportError:
        return None
    for name in names:
        try:
            pipeline = spacy.load(
                name, exclude=["parser", "tagger", "lemmatizer", "attribute_ruler", "senter"]
            )
        except (ImportError, OSError, ValueError) as e:
            reason = f"spaCy pipeline '{name}' cannot be loaded ({e}); repair or uninstall it"
            raise InputError(" ".join(reason.split())) from e
        if "ner" in pipeline.pipe_names:
            return pipeline
    return None


def finder_name() -> str:
    """By what names are found: `rules`, or name and version of a spaCy pipeline."""
    if (pipeline := _pipeline()) is None:
        return "rules"
    return f"{pipeline.meta['lang']}_{pipeline.meta['name']} {pipeline.meta['version']}"


def find_names(text: str, source: str, lists: EntityLists, taken: Sequence[Span]) -> list[Mention]:
    """Names, nationalities, acronyms and technical terms outside the spans `taken`, in the order of the text.

    `source`, what the text was written from, shows which words bear a capital inside its sentences too.
    """
    tokens = tuple(m.span() for m in WORD.finditer(text) if not overlaps(m.span(), taken))
    capitals = sum(text[start].isupper() for start, _ in tokens)
    heading = len(tokens) > 4 and capitals > 0.6 * len(tokens)
    kept = lists.organisation_words | lists.place_words | _CONNECTORS
    lower_cased = not any(c.isupper() for c in text)
    own, given = _evidence(text), _evidence(source) if looks_english(source) else _NONE
    return _Finder(text, tokens, lists, kept, lower_cased, heading, own, given).mentions()


def overlaps(span: Span, others: Iterable[Span]) -> bool:
    """Whether a span shares a character with one of the others."""
    return any(start < span[1] and span[0] < end for start, end in others)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the cases of the words of a text say."""

    inside: frozenset[str]
    """With a capital inside a sentence."""
    opening: frozenset[str]
    """With a capital where any word has one."""
    small: frozenset[str]
    """Without one."""


_NONE = _Evidence(frozenset(), frozenset(), frozenset())


@functools.lru_cache(maxsize=64)
def _evidence(text: str) -> _Evidence:
    words = [(m.group(), m.start()) for m in WORD.finditer(text)]
    capital = [(w.lower(), opens(text, start)) for w, start in words if w[0].isupper()]
    return _Evidence(
        frozenset(w for w, opening in capital if not opening),
        frozenset(w for w, opening in capital if opening),
        frozenset(w for w, _ in words if w[0].islower()),
    )


@dataclass(frozen=True, slots=True)
class _Finder:
    text: str
    tokens: tuple[Span, ...]
    lists: EntityLists
    kept: frozenset[str]
    """Type words of places and organisations, and what joins the words of a name."""
    lower_cased: bool
    heading: bool
    """Whether most words have a capital, so that a capital tells nothing."""
    own: _Evidence
    source: _Evidence

    def mentions(self) -> list[Mention]:
        found = [self._acronym(m.start(), m.end()) for m in _DOTTED.finditer(self.text)]
        for mention in (*self._single(), *self._names(), *self._terms()):
            spans = [(p.start, p.end) for known in found for p in known.pieces]
            if not any(overlaps((p.start, p.end), spans) for p in mention.pieces):
                found.append(mention)
        return sorted(found, key=lambda mention: mention.pieces[0].start)

    def _lower(self, span: Span) -> str:
        return self.text[span[0] : span[1]].lower()

    def _acronym(self, start: int, end: int) -> Mention:
        return Mention((Piece(start, end, "acronym", self._lower((start, end))),))

    def _is_acronym(self, word: str) -> bool:
        low = word.lower()
        if not 2 <= len(word) <= 6 or low in self.lists.not_names or _ROMAN.fullmatch(word):
            return False
        return word.isupper() and word.isalpha() and (low in self.lists.known_acronyms or zipf(low) < 5)

    def _single(self) -> Iterator[Mention]:
        """Nationalities and terms such as `mRNA`; in lower-cased text places and acronyms too."""
        places, acronyms = self.lists.known_places, self.lists.known_acronyms
        for i, (start, end) in enumerate(self.tokens):
            word = self._lower((start, end))
            if self.text[start].isupper() or self.lower_cased:
                for key in (word, word.removesuffix("s")):
                    if key in self.lists.known_demonyms:
                        yield Mention((Piece(start, start + len(key), "demonym", key),))
                        break
            if _MIXED.fullmatch(self.text[start:end]):
                yield Mention((Piece(start, end, "code", word),))
            if not self.lower_cased or word in self.lists.not_names:
                continue
            two = (start, self.tokens[min(i + 1, len(self.tokens) - 1)][1])
            if self._lower(two) in places and two[1] > end:
                yield Mention((Piece(*two, "place", self._lower(two)),))
            elif word in places:
                yield Mention((Piece(start, end, "place", word),))
            key = word.removesuffix("s")
            common = len(key) < 3 or zipf(key) > 5
            if (key in acronyms and not common) or (_VOWELLESS.fullmatch(key) and zipf(key) < 3.2):
                yield self._acronym(start, start + len(key))

    def _names(self) -> Iterator[Mention]:
        if (pipeline := _pipeline()) is not None:
            for entity in pipeline(self.text).ents:
                span = [t for t in self.tokens if entity.start_char <= t[0] and t[1] <= entity.end_char]
                if entity.label_ in _LABELS and (mention := self._named(span, _LABELS[entity.label_])):
                    yield mention
            return
        i = 0
        while i < len(self.tokens):
            length = self._length(i)
            if species := self._species(i) if length == 1 else None:
                yield species
            elif length and (mention := self._named(self.tokens[i : i + length])):
                yield mention
            i += max(length, 1)

    def _species(self, i: int) -> Mention | None:
        """The Latin name of a species, of which only the first word has a capital."""
        if i + 1 >= len(self.tokens):
            return None
        pieces = tuple(Piece(*span, "term", self._lower(span)) for span in self.tokens[i : i + 2])
        second = self.text[pieces[1].start : pieces[1].end]
        rare = max(zipf(piece.key) for piece in pieces) < 3 and not everyday(second)
        beside = self.text[pieces[0].end : pieces[1].start] == " "
        return Mention(pieces) if beside and rare and _LATIN.fullmatch(second) else None

    def _capital(self, i: int) -> bool:
        if i >= len(self.tokens):
            return False
        word = self.text[slice(*self.tokens[i])]
        low = word.lower()
        if low in self.lists.known_demonyms or low.removesuffix("s") in self.lists.known_demonyms:
            return False
        start = self.tokens[i][0]
        counted = re.search(r"[0-9]\s?$", self.text[max(0, start - 2) : start])
        if counted and len(word) < 4 and low not in self.lists.known_acronyms:
            return False  # A unit such as Hz.
        return any(c.isupper() for c in word[:3]) and (len(word) == 1 or low not in self.lists.not_names)

    def _length(self, i: int) -> int:
        """Of how many tokens the name that begins at token `i` consists; 0 if none begins there."""
        if not self._capital(i) or not self._starts(i):
            return 0
        last = i
        while True:
            following = last + 1
            while following < len(self.tokens) and following <= last + 2:
                if self._lower(self.tokens[following]) not in _CONNECTORS or self._capital(following):
                    break
                following += 1
            if not self._capital(following) or not self._joined(last, following):
                return last - i + 1
            last = following

    def _joined(self, last: int, following: int) -> bool:
        """Whether the capitalised token `following` goes on with the name that ends in `last`."""
        gaps = [self.text[self.tokens[k][1] : self.tokens[k + 1][0]] for k in range(last, following)]
        word = self._lower(self.tokens[last])
        dot = len(word) == 1 or word in self.lists.titles or word in ("st", "mt")
        if not all(gap in (" ", "\xa0", "-") or (dot and gap in (". ", ".")) for gap in gaps):
            return gaps == [" & "]
        between = {self._lower(self.tokens[k]) for k in range(last + 1, following)}
        if between & {"of", "the"}:
            return (
                word in self.kept
                or word in self.lists.titles
                or ("of" in between and zipf(word) >= 4 and not self._first(word))
            )
        return True

    def _first(self, word: str) -> bool:
        return word in self.lists.known_female or word in self.lists.known_male

    def _starts(self, i: int) -> bool:
        """Whether the capital of token `i` is that of a name and not of a sentence."""
        start, end = self.tokens[i]
        word = self._lower((start, end))
        if end - start == 1:
            return self._capital(i + 1) and self.text[end : end + 2] == ". "
        opening = opens(self.text, start) or self.heading
        if not opening or self._is_acronym(self.text[start:end]):
            return True
        inside = self.own.inside | self.source.inside
        small = any(w in seen.small for w in (word, f"{word}s") for seen in (self.own, self.source))
        if word in inside and zipf(word) < 5.2 and not self.heading:
            return True
        if (self._first(word) or word in self.lists.known_places) and not small:
            return True
        if self._capital(i + 1) and self._joined(i, i + 1):
            known = word in self.lists.titles or word in self.lists.place_words
            return known or (zipf(word) < 4 and unlisted(word))
        two = self.text[start : self.tokens[min(i + 1, len(self.tokens) - 1)][1]].lower()
        speaks = _SAYING.match(self.text, end)
        rare = zipf(word) < (4.6 if speaks else 4 if word in self.source.opening else 3.3)
        likely = rare and not small and not everyday(word) and unlisted(word)
        return two in self.lists.known_places or likely

    def _named(self, span: Sequence[Span], kind: Kind | None = None) -> Mention | None:
        """The mention of a name; None where nothing but titles and type words is there."""
        span = list(span)
        while span and self._lower(span[0]) in ("the", "a", "an"):
            del span[0]
        title = ""
        while span and self._lower(span[0]) in self.lists.titles and len(span) > 1:
            title = self._lower(span.pop(0))
        if not span:
            return None
        if whole := self._known_place(span):
            rest = self._named(span[whole:], kind) if len(span) > whole else None
            piece = Piece(
                span[0][0], span[whole - 1][1], "place", self._lower((span[0][0], span[whole - 1][1]))
            )
            return Mention((piece, *(rest.pieces if rest else ())))
        before = self.text[max(0, span[0][0] - 12) : span[0][0]]
        person = bool(title) or kind == "first" or self._is_person(span, before)
        pieces = [self._unit(s) for s in self._units(span, person)]
        if not pieces:
            return None
        if person and kind in (None, "first"):
            return Mention(self._person(pieces, title))
        if kind == "demonym" and re.search(r"(?:an|ish|ese|i)s?$", pieces[0].key):
            return Mention((Piece(pieces[0].start, pieces[0].end, "demonym", pieces[0].key), *pieces[1:]))
        placed = any(self._lower(s) in self.lists.place_words for s in span) or _PLACE_BEFORE.search(before)
        if kind == "place" or (kind is None and placed):
            return Mention(tuple(self._as(p, "place") for p in pieces))
        if len(span) == 1 and re.search(r"[^s]s$", pieces[0].key) and _THE_BEFORE.search(before):
            return Mention((self._as(pieces[0], "names"),))
        return Mention(tuple(pieces))

    @staticmethod
    def _as(piece: Piece, kind: Kind) -> Piece:
        return piece if piece.kind == "acronym" else Piece(piece.start, piece.end, kind, piece.key)

    def _unit(self, span: Span) -> Piece:
        word = self.text[slice(*span)]
        if word[-1:] == "s" and self._is_acronym(word[:-1]):
            return Piece(span[0], span[1] - 1, "acronym", word[:-1].lower())
        return Piece(*span, "acronym" if self._is_acronym(word) else "name", word.lower())

    def _known_place(self, span: Sequence[Span]) -> int:
        """How many tokens at the beginning are the name of a known place."""
        for length in (3, 2, 1):
            if (
                length <= len(span)
                and self._lower((span[0][0], span[length - 1][1])) in self.lists.known_places
            ):
                other = len(span) > length and self._lower(span[length]) not in self.kept
                return 0 if length == 1 and other else length
        return 0

    def _is_person(self, span: Sequence[Span], before: str) -> bool:
        if not self._first(self._lower(span[0])) or len(span) > 5:
            return False
        last = self._lower(span[-1])
        if len(span) == 2 and last in _SURNAMES_TOO and not re.search(r"\b(?:the|in|at|to|on|of)\s$", before):
            return True
        return len(span) == 1 or last not in self.kept

    def _person(self, pieces: Sequence[Piece], title: str) -> tuple[Piece, ...]:
        first = pieces[0].key
        gender: Kind = "first"
        if first in self.lists.known_female or title in ("mrs", "ms", "miss", "queen", "lady", "princess"):
            gender = "female"
        elif first in self.lists.known_male or title in ("mr", "king", "prince", "sir", "pope", "sultan"):
            gender = "male"
        royal = title in ("king", "queen", "prince", "princess", "pope", "sultan", "saint")
        alone = len(pieces) == 1 and title and not royal and not self._first(first)
        kinds: list[Kind] = ["surname" if alone else gender]
        if len(pieces) > 1 and self.text[pieces[0].end : pieces[1].start] == "-":
            kinds.append(gender)
        return tuple(self._as(p, k) for p, k in zip(pieces, kinds + ["surname"] * len(pieces), strict=False))

    def _units(self, span: Sequence[Span], person: bool) -> list[Span]:
        """The words that make the name; titles, type words and connectors stay as they are."""
        words = [s for s in span if self._lower(s) not in _CONNECTORS and s[1] - s[0] > 1]
        words = [s for s in words if self._lower(s) not in self.lists.not_names]
        if person:
            return words
        own = [
            s for s in words if self._lower(s) not in self.kept and self._lower(s) not in self.lists.titles
        ]
        if len(own) == len(words):
            return own
        # "World Health Organization" keeps its last two words.
        rare = [s for s in own if zipf(self._lower(s)) < 4 or self._is_acronym(self.text[slice(*s)])]
        return rare or own[:1]

    def _terms(self) -> Iterator[Mention]:
        """Rare words in small letters; neighbours make one term."""
        run: list[Piece] = []
        for span in self.tokens:
            word = self._lower(span)
            small = self.text[span[0]].islower() or word in self.own.small
            acts = _ACTS.search(self.text[max(0, span[0] - 12) : span[0]])
            if not small or acts or not self._is_term(word):
                continue
            key = word[:-1] if PLURAL.search(word) else word
            piece = Piece(span[0], span[0] + len(key), "term", key)
            if run and self.text[run[-1].end : piece.start] != " ":
                yield Mention(tuple(run))
                run = []
            run.append(piece)
        if run:
            yield Mention(tuple(run))

    def _is_term(self, word: str) -> bool:
        if len(word) < (4 if self.lower_cased else 5) or not word.isascii() or not word.isalpha():
            return False
        frequency = zipf(word)
        ending = len(word) > 5 and any(len(e) > 2 and word.endswith(e) for e in self.lists.term_endings)
        rare = frequency < (3.3 if ending else 2.0 if len(word) > 4 else 1.5)
        if not rare or prefixed(word):
            return False
        return not everyday(word) or (ending and frequency < 2.5 and not word.endswith("ment"))
