"""Verdicts that are letters: A is the scale's lowest point."""

import re
from collections.abc import Iterator

from dhp.core.specs import Scale
from dhp.judge.extraction.records import Candidate

_GOES_ON = r" (?!(?:because|since|as|due|for|is|and|but|or)\b)"
_LETTER = rf"((?:[AI](?!{_GOES_ON}[A-Za-z])|[B-HJ-Z](?!{_GOES_ON}[a-z])))(?![A-Za-z'\d])(?!-[A-Za-z])"
"""A verdict, and neither the word `A` or `I` nor a part of a word."""
_OPEN = r"[\s\"'“(\[{<]{0,9}"
_CLOSE = r"[\s\"')\]}.:]{0,9}"
_LABEL = r"(?i:(?:answer|verdict|choice|rating|grade|score|judge?ment|selection|boxed)(?![a-z]))"
_FILLER = r"(?: (?:is|was|would be|as|of|for|to|the|this|summary)){0,5}"
_CHOOSES = (
    r"(?i:\b(?:cho(?:os|s)e[sn]?|select(?:ed|s)?|pick(?:ed|s)?|options?|go(?:es)? with|opt(?:s|ed)? for"
    r"|(?:gives?|assigns?|deserves?|earns?)(?: (?:it|this))?(?: an?)?))"
)

_RULES = tuple(
    (tier, re.compile(pattern, re.M))
    for tier, pattern in (
        (0, rf"{_LABEL}{_FILLER}[ \"'”)]{{0,3}}[:={{>-]?{_OPEN}(?i:option )?{_LETTER}"),
        (0, rf"{_LABEL}[\"']? ?[:=]{_OPEN}([a-z])(?=[).\]\"']|$)"),
        (0, rf"(?:答案|选项|选择|评级|等级|选)(?:是|为)? ?:?{_OPEN}{_LETTER}"),
        (1, rf"{_CHOOSES} ?:?{_OPEN}(?i:option )?{_LETTER}"),
        (2, rf"\A{_OPEN}{_LETTER}"),
        (2, rf"\A{_OPEN}([a-z]){_CLOSE}\Z"),
        (2, rf"^[ >-]{{0,3}}{_OPEN}([A-Z]){_CLOSE}$"),
        (3, r"(?<=\()([A-Z])(?=\))"),
        (3, r"[.!?,:。] ([A-Z])\.?\s*\Z"),
    )
)
"""Tier and pattern, most explicit first."""

_SEVERAL = re.compile(r"[A-Za-z] ?(?:[/,&-]|or\b|and\b) ?\(?[A-Z](?![A-Za-z'])")
_RANGE = re.compile(r"\(?\b[A-Z] ?(?:-|~|to|through|至|到) ?[A-Z]\b\)?")
_PREFIX = re.compile(r"\A\s?A: ?(?=\(?[A-Z](?![A-Za-z']))")
_OPTION = re.compile(r"(?:^|(?<=[\s(]))\(?([A-Z])(?:[.):]| -)(?= ?[^\s])", re.M)


def _without_options(text: str) -> str:
    """The text without the options themselves, `A-E` or `A. Poor B. Fair ...`, and without `A:` for an
    answer."""
    text = _PREFIX.sub("", _RANGE.sub(" ", text))
    options = _OPTION.findall(text)
    return _OPTION.sub("", text) if options[:2] == ["A", "B"] else text


def letter_matches(text: str, scale: Scale) -> Iterator[Candidate]:
    """Where the answer names a letter; two at once (`B or C`) are `?`."""
    text = _without_options(text)
    for tier, pattern in _RULES:
        for match in pattern.finditer(text):
            value = "?" if _SEVERAL.match(text, match.start(1)) else match[1]
            point = letter_value(value, scale)
            if tier > 1 and point is not None and point > scale.max and text.strip() != value:
                continue
            yield Candidate(tier, match.start(1), value, "letter")


def letter_value(letter: str, scale: Scale) -> float | None:
    """The letter's point on the scale, perhaps off it; None for several."""
    return None if letter == "?" else scale.min + ord(letter.upper()) - ord("A")
