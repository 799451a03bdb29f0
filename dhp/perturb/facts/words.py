"""The words of a text that are in the lists, where they mean what the lists say."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dhp.perturb.facts.lists import FactLists

_CONTENT = re.compile(r"[^\W\d_]{6,}|[\u3400-\u9fff]{2}")


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in small letters: those of six letters or more.

    Of Chinese text they are pairs of characters.
    """
    return set(_CONTENT.findall(text.lower()))


class ListedWord(NamedTuple):
    """A word of a list as it stands in a text."""

    start: int
    end: int
    written: str
    word: str
    """In small letters."""
    of: str
    """The list: `months`, `weekdays`, `times`, `numbers`, `opposites` or `described`."""

    def replaced(self, new: str) -> tuple[int, int, str]:
        """The edit that puts another word, in its case."""
        return self.start, self.end, new[:1].upper() + new[1:] if self.written[0].isupper() else new


def listed_words(prose: str, lists: FactLists) -> Iterator[ListedWord]:
    """The words of lists in a text, but those in names and those that mean something else there."""
    groups = lists.lists_of_words
    for match in lists.word.finditer(prose):
        written, word = match[0], match[0].lower()
        if word not in groups or not (written.islower() or written == written.capitalize()):
            continue
        has_capital = written[0].isupper()
        for name in groups[word]:
            if name in ("months", "weekdays") and word in lists.proper:
                counts = has_capital and lists.is_date(prose, match)
            else:  # "Middle East" is a name, "Arm" a German noun
                counts = not has_capital or word in lists.nouns or not _is_inside(prose, match.start())
            if counts and not lists.keeps(prose, match, word):
                yield ListedWord(*match.span(), written, word, name)
                break


def _is_inside(prose: str, start: int) -> bool:
    """Whether another word stands right before a position."""
    return prose[max(start - 2, 0) : start].strip()[-1:].isalnum()
