"""What a sentence of an answer may state, and how its values are written.

A `Grammar` says of one kind of answer (numbers, letters, labels, verdicts) where a value may begin, how it is
read, and where it ends. `clauses` looks with it for a `Clause` before each value of a sentence, and makes
`Statement`s of those that state one.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dhp.judge.extraction.values import ReadValue, Value
from dhp.judge.extraction.words import Lexicon, lexicon

# Kinds of statements.
FINAL = "final"
"""A label of the whole: `Final score: 4`."""
LABELLED = "labelled"
"""A label of ratings: `Rating: 4`."""
NAMED = "named"
"""The name of a criterion: `Coherence: 4`."""
RESULT = "result"
"""A label that what is judged may have as well: `Answer: 4`."""
STATED = "stated"
"""Words of the judge's own: `I rate it 4`."""
BARE = "bare"
"""A value alone: `4`."""

JUDGED = frozenset(
    "summary text response answer reply translation story output passage essay caption piece".split()
)
"""What a judged text is called."""
Stop = Callable[[str, Value, str, "Grammar"], int | None]
"""Says where a value of a kind of statement ends in a text; see `Grammar.stop`."""


class Statement(NamedTuple):
    """A value that an answer states, and its place."""

    kind: str
    number: float
    """See `Value`."""
    start: int
    """Where the clause begins."""
    value_start: int
    value_end: int
    rule: str
    """The rule that read it: the kind, or `stars` or `fraction`."""


@dataclass(frozen=True, eq=False, slots=True)
class Grammar:
    """How the values of one kind of answer are written."""

    read: ReadValue
    stop: Stop
    """Where a value ends, if what follows lets it stand as a rating; else None."""
    begins: re.Pattern[str]
    """Where a value may begin."""
    names: tuple[str, ...] = ()
    """What the criterion is called that was asked about; without any, that of any known criterion counts."""
    low: float = math.nan
    high: float = math.nan
    """The ends of the scale; NaN of words to choose from."""
    chooses: bool = False
    """Whether the values are letters or words to choose from."""
    section: str = ""
    """The part of the list whose words count as well."""
    lexicon: Lexicon = field(init=False, repr=False)
    """The closed list, with the names of the criterion."""

    def __post_init__(self) -> None:
        # A frozen record takes no assignment.
        object.__setattr__(self, "lexicon", lexicon(self.names, self.section))

    def parts(self, word: str) -> list[str]:
        """A word as it stands in the list, or its known pieces; a letter to choose is no article."""
        if self.chooses and len(word.rstrip(".")) == 1 and word[0].isupper() and word[0] != "I":
            return []
        return self.lexicon.parts(word)

    def roles(self, word: str) -> frozenset[str]:
        """What a word of the list may do in a clause."""
        return self.lexicon.roles[word]


class Clause(NamedTuple):
    """The words that lead up to a value."""

    start: int
    """Where the sentence begins."""
    begin: int
    """Where the clause begins, or its sentence if all words of it are of the list."""
    words: tuple[str, ...]
    has: frozenset[str]
    """The roles of all its words."""
    parted: bool
    """Whether a mark or a line end stands between the words and the value."""
    whole: bool
    """Whether the clause begins at a mark or with the sentence, not behind a word of another clause."""
    pure: bool
    """Whether all of the sentence up to the value is of words of the list."""


_MARK = r"[.!?…。！？；;\n]"  # a set of characters first makes the search fast
_ENDS = (
    r"(?:(?<![Ee]\.g\.)(?<!i\.e\.)(?<=[.!?…])[\"')\]]{0,2} +(?=\S)"  # `clear. It`, and no `e.g. it`
    r"|(?<=[。！？；])(?=\S)"  # `清楚。它`: no space stands between
    r"|(?<=;) +(?=\S)|(?<=\n)\n*)"
)
"""What must stand behind the mark; the match ends where the next sentence begins."""
SENTENCE_END = re.compile(_MARK + _ENDS)
_NO_INITIAL = re.compile(rf"{_MARK}(?!(?<=\b[A-Z]\.)(?! +[A-Z][a-z]+(?: [a-z]+)?:)){_ENDS}")
"""The same if a capital letter is an initial, as in `U.S. and`, and no choice; before a label,
`from the U.S. Final score: 4`, it ends a sentence."""
_MOST_SENTENCES, _HALF = 300, 150
"""Of an answer of more sentences the first and last ones are looked at, so that one of any length is read
fast. Chosen: a rating stands near either end."""


def starts(text: str, *, letters: bool = True) -> Iterator[int]:
    """Where lines and sentences begin.

    A full stop behind a capital ends one if `letters` are chosen: `I choose B. It is clear.`
    """
    pattern = SENTENCE_END if letters else _NO_INITIAL
    ends = [match.end() for match in pattern.finditer(text)]
    if len(ends) > _MOST_SENTENCES:
        ends = ends[:_HALF] + ends[-_HALF:]
    yield 0
    yield from ends


def last_sentence(text: str) -> int:
    """Where the last sentence of the last line begins."""
    line = text.rfind("\n") + 1
    return line + max(starts(text[line:]))


_ITEM = re.compile(r"\s*(?:-|•|\d{1,2}[.)]) ")
"""The mark of an item: `- `, `• `, `2. `, `2) `"""


def is_of_an_item(text: str, start: int) -> bool:
    """Whether a sentence is a later one of an item of a list, whose rating is that of a part."""
    item = _ITEM.match(text, text.rfind("\n", 0, start) + 1)
    return item is not None and start > item.end()


def distinct(statements: Sequence[Statement]) -> set[float]:
    """The different values; each NaN counts for itself, as it equals nothing."""
    return {s.number for s in statements}
