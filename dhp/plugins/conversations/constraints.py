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
    known = list(constraints(system, closing, language or "en"))
    if not known:
        raise NotApplicable("no constraint on form in the system message")
    places = latest(judged.answers, count, "answers")
    answers = [judged.turns[place].text for place in places]
    # A constraint that an answer breaks already is no fault that we could add.
    kept = [each for each in known if _all_hold(each, answers)]
    if not kept:
        raise NotApplicable("the answers keep no constraint on form")
    for each in drawn(kept, rng):
        texts = [each.broken(answer) for answer in answers]
        if _alone_is_broken(each, kept, texts):
            return with_texts(judged, dict(zip(places, texts, strict=True)))
    raise NotApplicable("no constraint can be broken without another one")


def _all_hold(constraint: Constraint, answers: Sequence[str]) -> bool:
    return all(constraint.holds(answer) for answer in answers)


def _alone_is_broken(constraint: Constraint, kept: Sequence[Constraint], texts: Sequence[str]) -> bool:
    """Whether all texts break this constraint and keep the others."""
    if any(constraint.holds(text) for text in texts):
        return False
    others = [other for other in kept if other is not constraint]
    return all(_all_hold(other, texts) for other in others)


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
# The limits of 25, 40 and 60 characters keep a pattern within its sentence; they are chosen, not measured.
_QUOTED = r'[^.\n]{0,60}?["“]([^"”\n]+)["”]'
_FIRST = re.compile(rf"\b(?:begin|start|open)s?\b{_QUOTED}", re.I)
_LAST = re.compile(rf"\b(?:end|close|finish|sign)s?\b{_QUOTED}", re.I)
"""First and last words: `begin with "Hello"`, `end each answer with "Bye"`."""
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.M)
"""The mark of an item of a list: "- ", "2. "."""
_MARKUP = re.compile(r"\*\*|^#+ |`", re.M)
"""Marks of Markdown: bold, a heading, code."""
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
"""The blocks of symbols and pictographs: "☀", "🙂"."""


def constraints(system: str, closing: Mapping[str, Sequence[str]], language: str) -> Iterator[Constraint]:
    """The constraints on form in a system message.

    The message is in English, the answers in `language`; `closing` has language -> sentences that may end any
    answer.
    """
    closings = closing.get(language, ())
    if closings:  # the sentences that make an answer too long
        for number, unit in _LENGTH.findall(system):
            most = _NUMBERS.get(number.lower()) or int(number)
            counted = words if unit.lower() == "word" else sentences
            yield _of_length(most, counted, closings)
    for name in _LANGUAGE.findall(system):
        # A German sentence breaks "reply in English", an English one breaks any other language.
        other = "de" if name.lower() == "english" else "en"
        yield _without(closing[other])
    for phrase in _FIRST.findall(system):
        yield _beginning_with(phrase)
    for phrase in _LAST.findall(system):
        yield _ending_with(phrase)
    yield from _of_format(system, closings)


def _of_length(most: int, counted: Callable[[str], Sequence[str]], closing: Sequence[str]) -> Constraint:
    def lengthened(text: str) -> str:
        """The answer with as many closing sentences as it takes to be too long, or with all of them."""
        last = _last_sentence(text)
        for sentence in _from_any(closing, text):
            if len(counted(text)) > most:
                break
            edit = insertion(text, last, sentence)
            text, _ = applied(text, [edit])
            # The next sentence goes behind the one just added.
            last += len(edit[2])
        return text

    return Constraint(lambda text: len(counted(text)) <= most, lengthened)


def _from_any(sentences: Sequence[str], text: str) -> Sequence[str]:
    """The sentences from one on that depends on the text, so that answers do not all get the same ones."""
    first = len(text) % len(sentences)
    return [*sentences[first:], *sentences[:first]]


def _last_sentence(text: str) -> int:
    """The end of the last sentence before a signature."""
    try:
        spans = whole_sentences(text, None)
    except NotApplicable:
        spans = []
    return spans[-1][1] if spans else len(text.rstrip())


def _without(foreign: Sequence[str]) -> Constraint:
    """Answers have none of these sentences, which are of another language."""

    def holds(text: str) -> bool:
        return not any(sentence in text for sentence in foreign)

    def broken(text: str) -> str:
        sentence = _from_any(foreign, text)[0]
        changed, _ = applied(text, [insertion(text, _last_sentence(text), sentence)])
        return changed

    return Constraint(holds, broken)


def _beginning_with(phrase: str) -> Constraint:
    def holds(text: str) -> bool:
        # An answer of nothing else would be empty without the phrase.
        return text.lstrip().startswith(phrase) and text.strip() != phrase

    return Constraint(holds, lambda text: text.lstrip().removeprefix(phrase).lstrip(" ,:—-"))


def _ending_with(phrase: str) -> Constraint:
    def holds(text: str) -> bool:
        return text.rstrip().endswith(phrase) and text.strip() != phrase

    return Constraint(holds, lambda text: text.rstrip().removesuffix(phrase).rstrip())


def _of_format(system: str, closings: Sequence[str]) -> Iterator[Constraint]:
    """The constraints on JSON, lists, markup, emojis and exclamation marks."""

    def asks(pattern: str) -> bool:
        return re.search(pattern, system, re.I) is not None

    # "Reply in JSON."
    if closings and asks(r"\bJSON\b"):
        yield Constraint(_is_json, lambda text: f"{text}\n\n{_from_any(closings, text)[0]}")
    # "No lists", "avoid bullet points".
    if asks(rf"{_NO}(?:lists?|bullets?|bullet points?)\b"):
        yield Constraint(lambda text: not _ITEM.search(text), _as_list)
    # `elif`, as "no bullet points" speaks of bullets, too.
    elif asks(r"\b(?:bullet(?:ed)?|numbered)\b"):
        # A single item is no list yet.
        yield Constraint(lambda text: len(_ITEM.findall(text)) > 1, _in_one_line)
    # "In plain text", "do not use Markdown".
    if asks(rf"\bplain text\b|{_NO}markdown\b"):
        yield Constraint(lambda text: not _MARKUP.search(text), _in_bold)
    # "Without emojis".
    if asks(rf"{_NO}emojis?\b"):
        yield Constraint(lambda text: not _EMOJI.search(text), lambda text: f"{text} \U0001f642")
    # "Never use exclamation marks".
    if asks(rf"{_NO}exclamation (?:marks?|points?)\b"):
        yield Constraint(_ends_without_exclamation, lambda text: f"{text.rstrip().removesuffix('.')}!")


def _is_json(text: str) -> bool:
    try:
        # A bare number or word is JSON, too, but not what a system message asks for.
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def _as_list(text: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences(text))


def _in_one_line(text: str) -> str:
    without_marks = _ITEM.sub("", text)
    return " ".join(without_marks.split())


def _in_bold(text: str) -> str:
    first = sentences(text)[0]
    return text.replace(first, f"**{first}**", 1)


def _ends_without_exclamation(text: str) -> bool:
    return "!" not in text and text.rstrip().endswith(".")  # the point becomes the mark
