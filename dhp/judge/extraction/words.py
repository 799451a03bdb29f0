"""The closed list of words that make a clause which states a rating, read from `words.yaml`.

Words have roles, such as `rating` or `final`; a `Lexicon` holds them for one criterion. Phrases, which stand
outside the clause, become patterns by `any_of`.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Marks of Latin, Devanagari and Arabic letters, which are no letters themselves.
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
    phrases: list[str] = []
    for name in lists:
        phrases += _lists()["phrases"][name].split(", ")
    return tuple(phrases)


@functools.cache
def any_of(*lists: str) -> str:
    """A pattern of the phrases of some lists; `*` stands for the rest of a word."""
    latin: list[str] = []
    others: list[str] = []
    for phrase in phrases_of(*lists):
        (latin if phrase[0].isascii() else others).append(phrase)

    # Before all phrases stands a look at one letter, which is faster.
    patterns = []
    if latin:  # of `not` and `never` it is `\b(?=[n])n(?:ot|ever)\b`
        first_letters = "".join(sorted({phrase[0] for phrase in latin}))
        patterns.append(rf"\b(?=[{first_letters}]){_tree(latin)}\b")
    if others:  # no `\b` around them: some scripts do not part words
        patterns.append(rf"(?=[^\x00-\x7f]){_tree(others)}")
    return f"(?:{'|'.join(patterns)})"


def _tree(phrases: Iterable[str]) -> str:
    """A pattern of phrases, letter by letter: what several of them begin with is looked at once.

    Of `say`, `says` and `said` it is `sa(?:y(?:s)?|id)`.
    """
    tails: dict[str, list[str]] = {}
    for phrase in phrases:
        tails.setdefault(phrase[:1], []).append(phrase[1:])
    ends_here = tails.pop("", None) is not None  # one phrase ends where others go on

    branches = []
    for letter, rest in tails.items():
        sign = _SIGNS.get(letter) or re.escape(letter)
        branches.append(sign + _tree(rest))
    if ends_here:
        return f"(?:{'|'.join(branches)})?" if branches else ""
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


_SIGNS = {"*": r"\w*", " ": " "}
"""What these stand for in a pattern; `re.escape` would put a backslash before the space."""
ROLES = "rating result final rates own subject opens is plain small".split()
"""What a word of the list may do in a clause; `words.yaml` says what each means."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of the list, with those of the names of a criterion."""

    roles: Mapping[str, frozenset[str]]
    names: tuple[tuple[str, ...], ...]
    """What the criterion is called, word by word."""
    signs: re.Pattern[str]
    """Runs of characters of scripts that do not part words, of pieces that are known."""
    piece: re.Pattern[str]
    """One such piece."""

    def parts(self, word: str) -> list[str]:
        """A word as it stands in the list, or its known pieces; empty if it is not known."""
        small = word.lower()
        for form in (small, small.removesuffix("'s"), small.removesuffix(".")):
            if form in self.roles:
                return [form]
        return self.piece.findall(word) if not word.isascii() and self.signs.fullmatch(word) else []

    def named(self, words: Sequence[str]) -> str:
        """The name of the criterion that stands among the words of a clause; empty if none does."""
        known = set(words)
        line = f" {' '.join(words)} "
        for name in self.names:
            if name[0] not in known:  # a look at one word is faster
                continue
            joined = " ".join(name)
            if f" {joined} " in line:
                return joined
        return ""


@functools.lru_cache(maxsize=256)
def lexicon(names: tuple[str, ...], section: str = "") -> Lexicon:
    """The list with the names of one criterion; without any, with those of all known ones.

    `section` is a part of the list that counts as well, such as `verdicts`, whose criterion has no name.
    """
    if not names and not section:
        names = tuple(sorted(words_of("criteria")))
    of_section = dict(_lists()[section]) if section else {}

    # Pieces of scripts that do not part words, by their roles.
    signs = [*_lists()["signs"].items(), ("small", of_section.pop("signs", ""))]
    pieces: list[str] = []
    for _, line in signs:
        pieces += line.split()

    # All words, by their roles.
    roles: dict[str, set[str]] = {}
    words_by_role: list[tuple[str, Iterable[str]]] = [(role, words_of(role)) for role in ROLES]
    for role, line in [*signs, *of_section.items()]:
        words_by_role.append((role, line.split()))
    for role, words in words_by_role:
        for word in words:
            roles.setdefault(word, set()).add(role)

    # The names of the criterion, whose words may stand in a clause as well.
    called: list[tuple[str, ...]] = []
    for name in names:
        words_of_name = re.split(r"[ -]", name.lower())
        called.append(tuple(words_of_name))
        for word in words_of_name:
            roles.setdefault(word, {"small"})
            if ord(word[0]) > 0x2E80:  # Chinese, Japanese, Korean: words that no space parts
                pieces.append(word)

    any_piece = "|".join(sorted(pieces, key=len, reverse=True))  # the longer of two that begin alike
    roles_of = {word: frozenset(of_word) for word, of_word in roles.items()}
    return Lexicon(roles_of, tuple(called), re.compile(rf"(?:{any_piece})+"), re.compile(any_piece))
