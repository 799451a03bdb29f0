"""The closed list of words of which a clause that states a rating is made."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LETTER = r"[^\W\d_][\u0300-\u036f\u0900-\u0903\u093a-\u094f\u064b-\u0652]*"
WORD = rf"(?:{_LETTER})+(?:['-](?:{_LETTER})+)*"
"""A word, with the vowel signs that some scripts write above or below its letters."""
_FILE = Path(__file__).with_name("words.yaml")


@functools.cache
def _lists() -> Mapping[str, Any]:
    import yaml

    lists: Mapping[str, Any] = yaml.safe_load(_FILE.read_text("utf-8"))
    return lists


@functools.cache
def words_of(role: str) -> frozenset[str]:
    """The words of a role, such as `criteria`, without those of scripts that do not part words."""
    return frozenset(" ".join(_lists()[role]).split())


@functools.cache
def any_of(*lists: str) -> str:
    """A pattern of the phrases of some lists; `*` stands for the rest of a word."""
    phrases = [phrase for name in lists for phrase in _lists()["phrases"][name].split(", ")]
    ascii_ones = [each for each in phrases if each.isascii()]
    first = "".join(
        sorted({each[0] for each in ascii_ones})
    )  # one look at a letter is faster than all phrases
    patterns = [rf"\b(?=[{first}])(?:{'|'.join(map(_pattern, ascii_ones))})\b"] if ascii_ones else []
    return f"(?:{'|'.join([*patterns, *(each for each in phrases if not each.isascii())])})"


def _pattern(phrase: str) -> str:
    return re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", " ")


@functools.cache
def roles() -> tuple[str, ...]:
    """What a word of the list may do in a clause."""
    return tuple(
        role for role in _lists() if role not in ("signs", "criteria", "verdicts", "phrases", "before_value")
    )


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of the list, with those of the names of a criterion."""

    roles: Mapping[str, frozenset[str]]
    names: tuple[tuple[str, ...], ...]
    """What the criterion is called, word by word."""
    signs: re.Pattern[str]
    """Runs of characters of scripts that do not part words, of pieces that are known."""
    piece: re.Pattern[str]

    def parts(self, word: str) -> list[str]:
        """A word as it stands in the list, or its known pieces; empty if it is not known."""
        small = word.lower()
        for form in (small, small.removesuffix("'s"), small.removesuffix(".")):
            if form in self.roles:
                return [form]
        return self.piece.findall(word) if not word.isascii() and self.signs.fullmatch(word) else []

    def named(self, words: Iterable[str]) -> str:
        """The name of the criterion that stands among the words of a clause; empty if none does."""
        line = f" {' '.join(words)} "
        return next((" ".join(name) for name in self.names if f" {' '.join(name)} " in line), "")


@functools.lru_cache(maxsize=256)
def lexicon(names: tuple[str, ...], section: str = "") -> Lexicon:
    """The list with the names of one criterion; without any, with those of all known ones."""
    called = tuple(
        tuple(re.split(r"[ -]", name.lower()))
        for name in names or (() if section else sorted(words_of("criteria")))
    )
    known: dict[str, set[str]] = {}
    lists = [(role, words_of(role)) for role in roles()]
    signs = [(role, line.split()) for role, line in _lists()["signs"].items()]
    more = dict(_lists()[section]) if section else {}
    signs += [("small", more.pop("signs", "").split())]
    for role, words in [*lists, *signs, *((role, line.split()) for role, line in more.items())]:
        for word in words:
            known.setdefault(word, set()).add(role)
    pieces = [sign for _, each in signs for sign in each]
    pieces += [word for name in called for word in name if ord(word[0]) > 0x2E80]
    runs = "|".join(sorted(pieces, key=len, reverse=True))
    for word in (word for name in called for word in name):
        known.setdefault(word, {"small"})
    return Lexicon(
        {word: frozenset(of) for word, of in known.items()},
        called,
        re.compile(rf"(?:{runs})+"),
        re.compile(runs),
    )
