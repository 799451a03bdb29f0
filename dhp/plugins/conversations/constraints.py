"""Constraints of a system message on the form of answers, and answers that break one of them.

The messages are read in English; a constraint counts where the answers keep it before.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.seeding import drawn
from dhp.core.specs import ListReader
from dhp.core.text import sentences, words
from dhp.perturb.api import Edited, perturber
from dhp.plugins.conversations.conversation import Judged
from dhp.plugins.conversations.faults import LIST, ONE_OR_ALL, StockSentences, latest, with_texts


@dataclass(frozen=True, slots=True)
class Constraint:
    """What answers must look like."""

    holds: Callable[[str], bool]
    """Whether an answer keeps it."""
    broken: Callable[[str], str]
    """The answer with the constraint broken and nothing else changed."""


@perturber(name="constraint_broken", level="turn", degrees=ONE_OR_ALL)
def constraint_broken(
    text: str,
    rng: Random,
    *,
    example: Example,
    lists: ListReader,
    language: str | None = None,
    count: int | str,
) -> Edited:
    """Break one constraint of the system message on form in the last `count` answers, and no other one."""
    judged = Judged.of(example)
    system = "\n".join(turn.text for turn in judged.before if turn.role == "system")
    closing = lists(LIST, StockSentences).closing
    known = [*constraints(system, closing, language or "en")]
    if not known:
        raise NotApplicable("no constraint on form in the system message")
    places = latest(judged.said, count, "answers")
    answers = [judged.turns[place].text for place in places]
    kept = [each for each in known if all(map(each.holds, answers))]
    if not kept:
        raise NotApplicable("the answers keep no constraint on form")
    for each in drawn(kept, rng):
        texts = [each.broken(said) for said in answers]
        if all(other is each or all(map(other.holds, texts)) for other in kept):
            return with_texts(judged, dict(zip(places, texts, strict=True)))
    raise NotApplicable("no constraint can be broken without another one")


_NO = r"\b(?:no|not|never|without|avoid)\b[^.\n]{0,25}\b"
_NUMBERS = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
) | {"a single": 1}
_LENGTH = re.compile(
    r"\b(?:at most|no more than|not more than|maximum of|up to|to|in|within|under)\s+"
    rf"(\d+|{'|'.join(_NUMBERS)})\s+(?:\w+\s+)?(word|sentence)s?\b",
    re.I,
)
_LANGUAGES = {"english": "en", "german": "de", "spanish": "es", "french": "fr", "chinese": "zh"}
_LANGUAGE = re.compile(
    rf"\b(?:answer|reply|respond|write|speak)\b[^.\n]{{0,40}}\bin ({'|'.join(_LANGUAGES)})\b", re.I
)
_QUOTED = r'[^.\n]{0,60}?["“]([^"”\n]+)["”]'
_FIRST = re.compile(rf"\b(?:begin|start|open)s?\b{_QUOTED}", re.I)
_LAST = re.compile(rf"\b(?:end|close|finish|sign)s?\b{_QUOTED}", re.I)
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.M)
_MARKUP = re.compile(r"\*\*|^#+ |`", re.M)
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")


def constraints(system: str, closing: Mapping[str, Sequence[str]], language: str) -> Iterator[Constraint]:
    """The constraints on form in a system message.

    The message is in English, the answers in `language`; `closing` has language -> sentences that may end any
    answer.
    """
    own = closing.get(language, ())
    for number, unit in _LENGTH.findall(system) if own else ():
        most = _NUMBERS.get(number.lower()) or int(number)
        yield _of_length(most, words if unit.lower() == "word" else sentences, own)
    for name in _LANGUAGE.findall(system):
        yield _without(closing["de" if name.lower() == "english" else "en"])
    yield from map(_beginning_with, _FIRST.findall(system))
    yield from map(_ending_with, _LAST.findall(system))
    yield from _of_format(system, own)


def _of_length(most: int, counted: Callable[[str], Sequence[str]], closing: Sequence[str]) -> Constraint:
    def lengthened(said: str) -> str:
        """The answer with as many closing sentences as it takes to be too long."""
        for number in range(most + 1):
            if len(counted(said)) > most:
                break
            said = f"{said} {closing[number % len(closing)]}"
        return said

    return Constraint(lambda said: len(counted(said)) <= most, lengthened)


def _without(foreign: Sequence[str]) -> Constraint:
    return Constraint(
        lambda said: not any(sentence in said for sentence in foreign), lambda said: f"{said} {foreign[0]}"
    )


def _beginning_with(phrase: str) -> Constraint:
    return Constraint(
        lambda said: said.lstrip().startswith(phrase) and said.strip() != phrase,
        lambda said: said.lstrip()[len(phrase) :].lstrip(" ,:—-"),
    )


def _ending_with(phrase: str) -> Constraint:
    return Constraint(
        lambda said: said.rstrip().endswith(phrase) and said.strip() != phrase,
        lambda said: said.rstrip()[: -len(phrase)].rstrip(),
    )


def _of_format(system: str, own: Sequence[str]) -> Iterator[Constraint]:
    def asks(pattern: str) -> bool:
        return re.search(pattern, system, re.I) is not None

    forbidden_list = asks(rf"{_NO}(?:lists?|bullets?|bullet points?)\b")
    if own and asks(r"\bJSON\b"):
        yield Constraint(_is_json, lambda said: f"{said}\n\n{own[0]}")
    if forbidden_list:
        yield Constraint(
            lambda said: not _ITEM.search(said),
            lambda said: "\n".join(f"- {sentence}" for sentence in sentences(said)),
        )
    elif asks(r"\b(?:bullet(?:ed)?|numbered)\b"):
        yield Constraint(
            lambda said: len(_ITEM.findall(said)) > 1, lambda said: " ".join(_ITEM.sub("", said).split())
        )
    if asks(rf"\bplain text\b|{_NO}markdown\b"):
        yield Constraint(lambda said: not _MARKUP.search(said), _in_bold)
    if asks(rf"{_NO}emojis?\b"):
        yield Constraint(lambda said: not _EMOJI.search(said), lambda said: f"{said} \U0001f642")
    if asks(rf"{_NO}exclamation (?:marks?|points?)\b"):
        yield Constraint(
            lambda said: "!" not in said and said.rstrip().endswith("."),
            lambda said: f"{said.rstrip()[:-1]}!",
        )


def _is_json(said: str) -> bool:
    try:
        return isinstance(json.loads(said), dict | list)
    except ValueError:
        return False


def _in_bold(said: str) -> str:
    first = sentences(said)[0]
    return said.replace(first, f"**{first}**", 1)
