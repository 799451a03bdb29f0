"""Harmless edits by lists: American and British spelling, exact synonyms."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import product

from pydantic import Field, model_validator

from dhp.core.specs import Spec
from dhp.perturb.edits import Edit, matched, rules


class SpellingGroup(Spec):
    """Words that differ between America and Britain in their middle: stem + middle + ending."""

    american: str
    british: str
    endings: list[str] = Field(min_length=1)
    stems: list[str] = Field(min_length=1)


class HarmlessLists(Spec):
    """Words that may be written in two ways."""

    spelling: list[SpellingGroup]
    words: dict[str, str]
    """American -> British, for words that fit no group."""
    synonyms: dict[str, str]
    """Word -> synonym, valid in both directions and in every country."""
    in_names: list[str] = Field(default_factory=list)
    """American words that often are part of a name: changed only where capitals would show one."""

    @cached_property
    def british(self) -> dict[str, str]:
        """All words that are spelled otherwise in Britain: American -> British."""
        british = dict[str, str]()
        for group in self.spelling:
            for stem, ending in product(group.stems, group.endings):
                british[stem + group.american + ending] = stem + group.british + ending
        return {**british, **self.words}

    @model_validator(mode="after")
    def _each_word_once(self) -> "HarmlessLists":
        # Of a word in two pairs it would not be clear which one counts.
        known = set[str]()
        for pair in (*self.british.items(), *self.synonyms.items()):
            for word in pair:
                if word in known:
                    raise ValueError(f"'{word}' is in two pairs; allowed: each word in one pair")
                known.add(word)
        for word in self.in_names:
            if word not in self.british:
                raise ValueError(f"in_names: '{word}' is not an American word of the list")
        return self


# No part of an address, a path or a tag, and no name of a function: "color(".
_WORD = re.compile(r"(?<![\w@#./<])[A-Za-z]+(?![\w@>(]|[./]\w)")
# "meter" is the unit, which Britain writes "metre", only where it is counted: a gas meter is one there, too.
_COUNTED = r"(?:(?<=\d[ -])|(?<=\bsquare )|(?<=\bcubic )|(?<=\bhundred )|(?<=\bthousand )|(?<=\bmillion ))"
_AMERICAN_METERS = rules((_COUNTED + r"meter(s?)\b", r"metre\1"))
_BRITISH_METRES = rules((_COUNTED + r"metre(s?)\b", r"meter\1"))
_PERCENT = r"(?<=\d) ?%(?![\w%/–-]| CI\b)"  # "5 %", but not "95% CI" or "5%-10%"
_AMERICAN_PERCENT, _BRITISH_PERCENT = rules((_PERCENT, " percent")), rules((_PERCENT, " per cent"))


def respelled(
    text: str, starts: Collection[int], known: HarmlessLists, *, names_show: bool = True
) -> Iterator[Edit]:
    """To the spelling of the other country, away from that of which the text has more.

    `starts` are the places where sentences begin. Words that are often part of a name stay where names do
    not show, as in texts in small letters.
    """
    # `here` has what is written in America, `back` what is written in Britain, with the other spelling.
    back = {british: american for american, british in known.british.items()}
    in_names = set(known.in_names)
    in_names.update(known.british[word] for word in known.in_names)
    if not names_show:
        back = {word: new for word, new in back.items() if word not in in_names}
    here = {new: word for word, new in back.items()}
    american = [*_replaced(_WORD, text, starts, here, in_names), *matched(_AMERICAN_METERS, text)]
    british = [*_replaced(_WORD, text, starts, back, in_names), *matched(_BRITISH_METRES, text)]
    becomes_british = len(american) > len(british)
    yield from american if becomes_british else british
    yield from matched(_BRITISH_PERCENT if becomes_british else _AMERICAN_PERCENT, text)

    # Synonyms go both ways; phrases come before the words that they begin with.
    either = {**known.synonyms, **{b: a for a, b in known.synonyms.items()}}
    longest_first = sorted(either, key=len, reverse=True)
    listed = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<![\w@#./<-])(?:{listed})(?![\w@>(-]|[./]\w)", re.I)
    yield from _replaced(pattern, text, starts, either)


def _replaced(
    pattern: re.Pattern[str],
    text: str,
    starts: Collection[int],
    words: Mapping[str, str],
    in_names: Collection[str] = (),
) -> Iterator[Edit]:
    """A word with a capital may be a name, unless it begins a sentence and no further capital follows."""
    for match in pattern.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        lower = word[0].lower() + word[1:]
        begins = start in starts and text[end : end + 2][1:].islower()
        if word in words:
            yield start, end, words[word]
        elif begins and lower in words and lower not in in_names:
            new = words[lower]
            yield start, end, new[0].upper() + new[1:]
