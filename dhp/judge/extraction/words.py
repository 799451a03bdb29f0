"""The closed list of words of which a clause that states a rating is made."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
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
def phrases_of(*lists: str) -> tuple[str, ...]:
    """The phrases of some lists, in small letters."""
    return tuple(phrase for name in lists for phrase in _lists()["phrases"][name].split(", "))


@functools.cache
def any_of(*lists: str) -> str:
    """A pattern of the phrases of some lists; `*` stands for the rest of a word."""
    phrases = phrases_of(*lists)
    latin = [each for each in phrases if each[0].isascii()]
    others = [each for each in phrases if not each[0].isascii()]
    first = "".join(sorted({each[0] for each in latin}))  # a look at one letter is faster than all phrases
    patterns = [rf"\b(?=[{first}]){_tree(latin)}\b"] if latin else []
    patterns += [rf"(?=[^\x00-\x7f]){_tree(others)}"] if others else []
    return f"(?:{'|'.join(patterns)})"


def _tree(phrases: Iterable[str]) -> str:
    """A pattern of phrases, letter by letter: what several of them begin with is looked at once."""
    tails: dict[str, list[str]] = {}
    for phrase in phrases:
        tails.setdefault(phrase[:1], []).append(phrase[1:])
    ends = tails.pop("", None) is not None
    signs = {"*": r"\w*", " ": " "}
    branches = [signs.get(letter, re.escape(letter)) + _tree(rest) for letter, rest in tails.items()]
    if ends:
        return f"(?:{'|'.join(branches)})?" if branches else ""
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


ROLES = "rating result final rates own subject opens is plain small".split()
"""What a word of the list may do in a clause."""


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

    def named(self, words: Sequence[str]) -> str:
        """The name of the criterion that stands among the words of a clause; empty if none does."""
        known, line = set(words), f" {' '.join(words)} "
        names = (" ".join(name) for name in self.names if name[0] in known)
        return next((name for name in names if f" {name} " in line), "")


@functools.lru_cache(maxsize=256)
def lexicon(names: tuple[str, ...], section: str = "") -> Lexicon:
    """The list with the names of one criterion; without any, with those of all known ones."""
    if not names and not section:
        names = tuple(sorted(words_of("criteria")))
    called = tuple(tuple(re.split(r"[ -]", name.lower())) for name in names)
    signs = [(role, line.split()) for role, line in _lists()["signs"].items()]
    more = dict(_lists()[section]) if section else {}
    signs.append(("small", more.pop("signs", "").split()))
    lists: list[tuple[str, Iterable[str]]] = [(role, words_of(role)) for role in ROLES]
    lists += signs
    lists += [(role, line.split()) for role, line in more.items()]
    known: dict[str, set[str]] = {}
    for role, words in lists:
        for word in words:
            known.setdefault(word, set()).add(role)
    pieces = [sign for _, each in signs for sign in each]
    for name in called:
        for word in name:
            known.setdefault(word, {"small"})
            if ord(word[0]) > 0x2E80:  # Chinese, Japanese, Korean: words that no space parts
                pieces.append(word)
    runs = "|".join(sorted(pieces, key=len, reverse=True))
    return Lexicon(
        {word: frozenset(of) for word, of in known.items()},
        called,
        re.compile(rf"(?:{runs})+"),
        re.compile(runs),
    )
