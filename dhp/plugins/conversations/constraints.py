"""Constraints of a system message on the form of answers, and their breach.

`constraints` reads them by patterns: length, language, first and last words, format. Each knows whether an
answer keeps it and how to break it (`Constraint`). `constraint_broken` breaks one that all answers keep, if
the others are kept then.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.seeding import drawn
from dhp.core.sentences import sentences
from dhp.core.specs import ListReader
from dhp.core.words import words
from dhp.perturb.api import Edited, perturber
from dhp.perturb.cuts import insertion
from dhp.perturb.edits import applied
from dhp.perturb.whole_sentences import whole_sentences
from dhp.plugins.conversations.choice import LIST, ONE_OR_ALL, StockSentences, latest, with_texts
from dhp.plugins.conversations.conversation import Judged


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule on the form of answers."""

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
    places = latest(judged.answers, count, "answers")
    answers = [judged.turns[place].text for place in places]
    kept = [each for each in known if _all_hold(each, answers)]
    if not kept:
        raise NotApplicable("the answers keep no constraint on form")
    for each in drawn(kept, rng):
        texts = [each.broken(answer) for answer in answers]
        is_broken = not any(map(each.holds, texts))
        others_hold = all(_all_hold(other, texts) for other in kept if other is not each)
        if is_broken and others_hold:
            return with_texts(judged, dict(zip(places, texts, strict=True)))
    raise NotApplicable("no constraint can be broken without another one")


def _all_hold(constraint: Constraint, answers: Sequence[str]) -> bool:
    return all(map(constraint.holds, answers))


# All of these read the English of a system message.
_NO = r"\b(?:no|not|never|without|avoid)\b[^.\n]{0,25}\b"
"""A word that forbids, with up to 25 characters before what it forbids: "do not use any" lists."""
_WORDS = "one two three four five six seven eight nine ten".split()
_NUMBERS = {word: number for number, word in enumerate(_WORDS, 1)} | {"a single": 1}
_LENGTH = re.compile(
    r"\b(?:at most|no more than|not more than|maximum of|up to|to|in|within|under)\s+"
    rf"(\d+|{'|'.join(_NUMBERS)})\s+(?:\w+\s+)?(word|sentence)s?\b",
    re.I,
)
"""A limit with its number and unit: "at most 60 words", "in two short sentences"."""
_LANGUAGES = {"english": "en", "german": "de", "spanish": "es", "french": "fr", "chinese": "zh"}
_LANGUAGE = re.compile(
    rf"\b(?:answer|reply|respond|write|speak)\b[^.\n]{{0,40}}\bin ({'|'.join(_LANGUAGES)})\b", re.I
)
"""The language of answers: "reply in German", "always answer politely in French"."""
_QUOTED = r'[^.\n]{0,60}?["“]([^"”\n]+)["”]'
_FIRST = re.compile(rf"\b(?:begin|start|open)s?\b{_QUOTED}", re.I)
_LAST = re.compile(rf"\b(?:end|close|finish|sign)s?\b{_QUOTED}", re.I)
"""First and last words: `begin with "Hello"`, `end each answer with "Bye"`."""
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.M)
_MARKUP = re.compile(r"\*\*|^#+ |`", re.M)
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")


def constraints(system: str, closing: Mapping[str, Sequence[str]], language: str) -> Iterator[Constraint]:
    """The constraints on form in a system message.

    The message is in English, the answers in `language`; `closing` has language -> sentences that may end any
    answer.
    """
    closings = closing.get(language, ())
    if closings:  # the sentences that make an answer too long
        for number, unit in _LENGTH.findall(system):
            most = _NUMBERS.get(number.lower()) or int(number)
            yield _of_length(most, words if unit.lower() == "word" else sentences, closings)
    # A German sentence breaks "reply in English", an English one breaks any other language.
    for name in _LANGUAGE.findall(system):
        yield _without(closing["de" if name.lower() == "english" else "en"])
    yield from map(_beginning_with, _FIRST.findall(system))
    yield from map(_ending_with, _LAST.findall(system))
    yield from _of_format(system, closings)


def _of_length(most: int, counted: Callable[[str], Sequence[str]], closing: Sequence[str]) -> Constraint:
    def lengthened(text: str) -> str:
        """The answer with as many closing sentences as it takes to be too long, or with all of them."""
        last = _last_sentence(text)
        for sentence in _from_any(closing, text):
            if len(counted(text)) > most:
                break
            edit = insertion(text, last, sentence)
            text, last = applied(text, [edit])[0], last + len(edit[2])
        return text

    return Constraint(lambda text: len(counted(text)) <= most, lengthened)


def _from_any(sentences: Sequence[str], text: str) -> Sequence[str]:
    """The sentences from one on that depends on the text, so that answers do not all get the same ones."""
    first = len(text) % len(sentences)
    return [*sentences[first:], *sentences[:first]]


def _last_sentence(text: str) -> int:
    """The end of the last sentence before a signature."""
    try:
        places = [end for _, end in whole_sentences(text, None)]
    except NotApplicable:
        places = []
    return places[-1] if places else len(text.rstrip())


def _without(foreign: Sequence[str]) -> Constraint:
    return Constraint(
        lambda text: not any(sentence in text for sentence in foreign),
        lambda text: applied(text, [insertion(text, _last_sentence(text), _from_any(foreign, text)[0])])[0],
    )


def _beginning_with(phrase: str) -> Constraint:
    return Constraint(
        lambda text: text.lstrip().startswith(phrase) and text.strip() != phrase,
        lambda text: text.lstrip()[len(phrase) :].lstrip(" ,:—-"),
    )


def _ending_with(phrase: str) -> Constraint:
    return Constraint(
        lambda text: text.rstrip().endswith(phrase) and text.strip() != phrase,
        lambda text: text.rstrip()[: -len(phrase)].rstrip(),
    )


def _of_format(system: str, closings: Sequence[str]) -> Iterator[Constraint]:
    def asks(pattern: str) -> bool:
        return re.search(pattern, system, re.I) is not None

    forbidden_list = asks(rf"{_NO}(?:lists?|bullets?|bullet points?)\b")
    if closings and asks(r"\bJSON\b"):
        yield Constraint(_is_json, lambda text: f"{text}\n\n{_from_any(closings, text)[0]}")
    if forbidden_list:
        yield Constraint(
            lambda text: not _ITEM.search(text),
            lambda text: "\n".join(f"- {sentence}" for sentence in sentences(text)),
        )
    elif asks(r"\b(?:bullet(?:ed)?|numbered)\b"):
        yield Constraint(
            lambda text: len(_ITEM.findall(text)) > 1, lambda text: " ".join(_ITEM.sub("", text).split())
        )
    if asks(rf"\bplain text\b|{_NO}markdown\b"):
        yield Constraint(lambda text: not _MARKUP.search(text), _in_bold)
    if asks(rf"{_NO}emojis?\b"):
        yield Constraint(lambda text: not _EMOJI.search(text), lambda text: f"{text} \U0001f642")
    if asks(rf"{_NO}exclamation (?:marks?|points?)\b"):
        yield Constraint(
            lambda text: "!" not in text and text.rstrip().endswith("."),
            lambda text: f"{text.rstrip()[:-1]}!",
        )


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def _in_bold(text: str) -> str:
    first = sentences(text)[0]
    return text.replace(first, f"**{first}**", 1)
