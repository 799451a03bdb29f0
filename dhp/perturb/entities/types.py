"""What an entity consists of, and the lists that tell entities and replace them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dhp.core.specs import Spec

Kind = Literal[
    "female", "male", "first", "surname", "place", "name", "names", "demonym", "acronym", "code", "term",
    "number", "year", "decade", "time", "ordinal", "number_word", "ordinal_word", "fraction", "scale",
    "month", "weekday", "noun",
]  # fmt: skip
"""What a piece is, and so by what it is replaced: `first` is a first name of either gender, `name` may be of
anybody or anything, `names` is its plural."""

Known = Annotated[frozenset[str], Field(strict=False)]
Span = tuple[int, int]


class Parts(Spec):
    """Beginnings and ends of invented words: every pair makes one."""

    starts: list[str] = Field(min_length=1)
    ends: list[str] = Field(min_length=1)


class EntityLists(Spec):
    """What the rule knows (`known_...` and the kept words, in lower case) and the inventions it draws on."""

    titles: Known
    organisation_words: Known
    place_words: Known
    known_places: Known
    known_demonyms: Known
    known_acronyms: Known
    not_names: Known
    known_female: Known
    known_male: Known
    female: list[str] = Field(min_length=1)
    male: list[str] = Field(min_length=1)
    first: list[str] = Field(min_length=1)
    surname: Parts
    place: Parts
    name: Parts
    demonym: list[str] = Field(min_length=1)
    term: list[str] = Field(min_length=1)
    term_endings: list[str]
    swaps: list[list[str]]


@dataclass(frozen=True, slots=True)
class Piece:
    """The smallest part of a text that is replaced as a whole."""

    start: int
    end: int
    kind: Kind
    key: str
    """What is there, in lower case: equal keys are replaced by equals."""
    limit: int = 0
    """The largest value a number may have; 0 if there is none."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where an entity is named: a name, a number, a range of two numbers."""

    pieces: tuple[Piece, ...]
