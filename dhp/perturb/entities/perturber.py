"""Fictional named entities by rule: the stand-in of the perturber by language model."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dhp.core.english import need_english
from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.specs import ListReader
from dhp.perturb.api import Edited, count_or_all, perturber
from dhp.perturb.entities.finder import find_names
from dhp.perturb.entities.numbers import find_numbers, other_number, value
from dhp.perturb.entities.things import find_things, find_trade_words
from dhp.perturb.entities.types import EntityLists, Mention, Parts, Piece
from dhp.perturb.entities.words import cased_as, like_acronym, like_term, pick, takes_an, zipf

_NAMES = ("female", "male", "first", "surname", "place", "names", "name")
_LESS_CRITICAL = {
    "number_word": 1, "month": 1, "ordinal": 1, "ordinal_word": 1, "demonym": 1, "decade": 1, "fraction": 1,
    "time": 1, "scale": 1, "weekday": 2, "noun": 3,
}  # fmt: skip
_PLURAL_PLACES = ("balkans", "netherlands", "philippines")
_NUMBER = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_TRIES = 80
_NOW = 2025
"""The year up to which most texts tell of the past."""

Identity = tuple[str, str, int]
"""Pieces of the same identity get the same replacement."""


@perturber(
    name="fictional_named_entities_rule",
    level="word",
    degrees={"minor": {"count": 1}, "major": {"count": "all"}},
)
def fictional_named_entities_rule(
    text: str, rng: random.Random, *, example: Example, lists: ListReader, count: int | str
) -> Edited:
    """Replace `count` entities (or "all"), such as names, numbers and terms, by invented ones.

    Every mention of an entity is replaced, and equal mentions by equals; names, numbers and terms come before
    number words, dates and nationalities, these before weekdays. A text that names next to nothing has
    things of everyday life exchanged.
    """
    count_or_all(count)
    need_english(text)
    words = lists("entities", EntityLists)
    entities = _entities(text, example.source, words)
    if not entities:
        raise NotApplicable("no name, number or term found")
    order = sorted(entities, key=lambda e: (_rank(e), rng.random()))
    made = order if count == "all" else order[: int(count)]
    chosen = {piece.start for entity in made for mention in entity for piece in mention.pieces}
    new = _replacements([m for entity in entities for m in entity], text, example.source, words, rng)
    pieces = [p for entity in entities for mention in entity for p in mention.pieces if p.start in chosen]
    asked = len(entities) if count == "all" else int(count)
    return Edited(_replaced(text, pieces, new), asked, len(made))


def _identity(piece: Piece) -> Identity:
    return ("name" if piece.kind in _NAMES else piece.kind, piece.key, piece.limit)


def _rank(entity: Sequence[Mention]) -> int:
    return min(_LESS_CRITICAL.get(p.kind, 0) for mention in entity for p in mention.pieces)


def _entities(text: str, source: str, words: EntityLists) -> list[list[Mention]]:
    numbers, skipped = find_numbers(text)
    taken = [*skipped, *((p.start, p.end) for m in numbers for p in m.pieces)]
    found = [*numbers, *find_names(text, source, words, taken)]
    entities = _grouped(sorted(found, key=lambda m: m.pieces[0].start))
    if len(entities) > 1:
        return entities
    taken += [(p.start, p.end) for m in found for p in m.pieces]
    entities += _grouped(find_things(text, words, taken))
    return entities or _grouped(find_trade_words(text))


def _grouped(mentions: Iterable[Mention]) -> list[list[Mention]]:
    """The mentions of each entity: of the same pieces, or of some of them where only one entity has them."""
    same: dict[frozenset[Identity], list[Mention]] = {}
    for mention in mentions:
        same.setdefault(frozenset(map(_identity, mention.pieces)), []).append(mention)
    entities: dict[frozenset[Identity], list[Mention]] = {}
    for pieces, group in same.items():
        longer = sorted((other for other in same if pieces < other), key=len)
        alias = bool(longer) and all(other <= longer[-1] for other in longer)
        entities.setdefault(longer[-1] if alias else pieces, []).extend(group)
    return list(entities.values())


def _replaced(text: str, pieces: Iterable[Piece], new: Mapping[Identity, str]) -> str:
    parts, end = [], 0
    for piece in sorted(pieces, key=lambda p: p.start):
        old = text[piece.start : piece.end]
        now = cased_as(new[_identity(piece)], old)
        parts += [_with_article(text[end : piece.start], old, now), now]
        end = piece.end
    return "".join([*parts, text[end:]])


def _with_article(before: str, old: str, new: str) -> str:
    """The text before a replaced word, its "a" or "an" fitting."""
    article = re.search(r"\b([Aa])(n?)(\s+[\"“‘'£$€]*)$", before)
    if article is None or takes_an(old) == takes_an(new):
        return before
    return before[: article.start()] + article[1] + ("n" if takes_an(new) else "") + article[3]


def _replacements(
    mentions: Sequence[Mention], text: str, source: str, words: EntityLists, rng: random.Random
) -> dict[Identity, str]:
    """What each piece becomes, whichever entities are chosen."""
    seen, given = _words(text), _words(source)
    inventor = _Inventor(words, rng, seen, given, _years(mentions, seen | given, rng))
    new: dict[Identity, str] = {}
    # The most telling mention of a name says what it is the name of.
    telling = sorted((p for m in mentions for p in m.pieces), key=lambda p: (_tells(p), p.start))
    for piece in telling:
        if _identity(piece) not in new:
            new[_identity(piece)] = inventor.another(piece)
    ranges = [(_identity(m.pieces[0]), _identity(m.pieces[-1])) for m in mentions if len(m.pieces) > 1]
    while any(_swapped(new, first, last) for first, last in ranges):
        pass  # Ranges may share an end; every swap sorts the numbers a little more.
    return new


def _swapped(new: dict[Identity, str], first: Identity, last: Identity) -> bool:
    """Exchange what the ends of a range become if their order is not that of the ends, and say so."""
    old, now = value(last[1]) - value(first[1]), value(new[last]) - value(new[first])
    if first[0] != last[0] or old * now >= 0 or new[last] == first[1] or new[first] == last[1]:
        return False
    new[first], new[last] = new[last], new[first]
    return True


def _words(text: str) -> set[str]:
    return {*re.findall(r"[^\W\d_]+", text.lower()), *_NUMBER.findall(text)}


def _tells(piece: Piece) -> int:
    return _NAMES.index(piece.kind) if piece.kind in _NAMES else 0


def _years(mentions: Iterable[Mention], seen: set[str], rng: random.Random) -> int:
    """By how many years all years move, so that their order stays and, if they can, past and future."""
    years = [int(p.key) for m in mentions for p in m.pieces if p.kind == "year"]
    shifts = [s for s in range(-40, 26) if abs(s) > 2 and all(1000 <= y + s <= 2099 for y in years)]
    free = [s for s in shifts if not any(str(y + s) in seen for y in years)]
    likely = [s for s in free if all((y + s > _NOW) == (y > _NOW) for y in years)]
    return pick(likely or free or shifts, rng)


@dataclass(frozen=True, slots=True)
class _Inventor:
    """Invents what neither the text, nor the source, nor an earlier invention holds."""

    words: EntityLists
    rng: random.Random
    seen: set[str]
    """Words and numbers of the text, and the inventions so far."""
    given: set[str]
    """Those of the source: avoided where there is enough else."""
    years: int

    def another(self, piece: Piece) -> str:
        """Something else in the place of a piece."""
        for avoided in (self.seen | self.given, self.seen, frozenset[str]()):
            for _ in range(_TRIES):
                new = self._drawn(piece)
                if new.lower() not in avoided and new.lower() != piece.key:
                    self.seen.add(new.lower())
                    return new
        raise AssertionError(f"no other {piece.kind} than {piece.key!r}")

    def _drawn(self, piece: Piece) -> str:
        words, rng, key = self.words, self.rng, piece.key
        match piece.kind:
            case "female" | "male" | "first":
                given: list[str] = getattr(words, piece.kind)
                return pick(given, rng)
            case "place" if key.startswith("united ") or key in _PLURAL_PLACES:
                return self._joined(words.place) + (" Republic" if key.startswith("united") else " Islands")
            case "surname" | "place" | "name":
                return self._joined(getattr(words, piece.kind))
            case "names":
                name = self._joined(words.name)
                return name + ("es" if name[-1] in "sxh" else "s")
            case "demonym":
                ending = re.search(r"(?:ish|ese|i)$", key)
                return pick(words.demonym, rng) + (ending.group() if ending else "ian")
            case "acronym":
                drawn = (like_acronym(key, rng) for _ in range(_TRIES))
                return next((new for new in drawn if zipf(new) < 2), like_acronym(key, rng))
            case "term":
                return like_term(key, words.term, words.term_endings, rng)
            case "noun":
                return pick(next(group for group in words.swaps if key in group), rng)
            case _:
                return other_number(piece, rng, self.years)

    def _joined(self, parts: Parts) -> str:
        start, end = pick(parts.starts, self.rng), pick(parts.ends, self.rng)
        return start.removesuffix(end[0]) + end
