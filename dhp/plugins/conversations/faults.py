"""Faults of turns, calls and results, and controls that change calls in form alone.

A fault changes turns of the assistant in the judged part alone. `count` is the number of turns, or "all";
if there are not as many, the fault is not applicable.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from random import Random
from typing import Any

from dhp.analysis.results import Result, VariantResult
from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import language_name
from dhp.core.records import Example, parse_variant
from dhp.core.seeding import drawn
from dhp.core.specs import ListReader, Spec
from dhp.core.text import sentences, words
from dhp.perturb.api import Edited, asked_edits, count_or_all, perturber
from dhp.plugins.conversations.conversation import CONVERSATION, Call, Judged, Turn, from_json

ONE_OR_ALL: Mapping[str, Mapping[str, object]] = {"minor": {"count": 1}, "major": {"count": "all"}}


class StockSentences(Spec):
    """The list `conversations`: sentences that fit any conversation."""

    evasive: dict[str, list[str]]
    """Language -> replies that answer no question."""
    closing: dict[str, list[str]]
    """Language -> sentences that may end any reply."""


LIST = "conversations"


def _enough(places: Sequence[int], count: object, what: str) -> int:
    """How many are wanted: `count`, or all of them, which must be two or more.

    Raises `NotApplicable` if there are fewer.
    """
    wanted = count_or_all(count)
    least = wanted if isinstance(wanted, int) else max(2, len(places))
    if len(places) < least:
        raise NotApplicable(f"{len(places)} {what}, of {least} needed")
    return least


def chosen(places: Sequence[int], count: object, rng: Random, what: str) -> list[int]:
    """`count` of the places, drawn, in order; raises `NotApplicable` if there are too few."""
    return sorted(islice(drawn(places, rng), _enough(places, count, what)))


def latest(places: Sequence[int], count: object, what: str) -> list[int]:
    """The last `count` of the places; raises `NotApplicable` if there are too few."""
    return list(places[-_enough(places, count, what) :])


def with_texts(judged: Judged, texts: Mapping[int, str]) -> Edited:
    """The judged part with other texts at these places."""
    return Edited(judged.with_texts(texts), len(texts), len(texts))


@perturber(name="turn_deletion", level="turn", degrees=ONE_OR_ALL)
def turn_deletion(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Delete `count` answers of the assistant other than the last one."""
    judged = Judged.of(example)
    gone = chosen(judged.answers[:-1], count, rng, "answers before the last one")
    turns = [turn for i, turn in enumerate(judged.turns) if i not in gone]
    return Edited(judged.shown(turns), len(gone), len(gone))


@perturber(
    name="turn_swap", level="turn", degrees={"minor": {"apart": "nearest"}, "major": {"apart": "farthest"}}
)
def turn_swap(text: str, rng: Random, *, example: Example, apart: str) -> Edited:
    """Swap two answers before the last one, or two calls with their results.

    `apart` is "nearest", neighbours of which one pair is drawn, or "farthest", the first and the last of
    three or more.
    """
    judged = Judged.of(example)
    rows = [judged.answers[:-1], judged.calling]
    if apart == "farthest":
        pairs = [(row[0], row[-1]) for row in sorted(rows, key=len)[-1:] if len(row) > 2]
    elif apart == "nearest":
        pairs = [pair for row in rows for pair in pairwise(row)]
    else:
        raise InputError(f"parameter apart is {apart!r}; allowed: nearest or farthest")
    pairs = [pair for pair in pairs if _content(judged, pair[0]) != _content(judged, pair[1])]
    if not pairs:
        raise NotApplicable(f"no two {apart} turns before the last answer that differ")
    one, other = pairs[int(rng.random() * len(pairs))]
    first, second = judged.step(one), judged.step(other)
    turns = judged.turns
    between = turns[one + len(first) : other]
    swapped = (*turns[:one], *second, *between, *first, *turns[other + len(second) :])
    return Edited(judged.shown(swapped), 2, 2)


def _content(judged: Judged, i: int) -> tuple[object, ...]:
    turn = judged.turns[i]
    return turn.text, *((call.name, call.arguments) for call in turn.calls)


@perturber(name="answer_repetition", level="turn", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def answer_repetition(text: str, rng: Random, *, example: Example, k: int) -> Edited:
    """Say one answer of the assistant `k` times more, word for word."""
    judged = Judged.of(example)
    (place,) = chosen(judged.answers, 1, rng, "answer")
    added = asked_edits(k, None, 1)
    turns = judged.turns
    repeated = (*turns[: place + 1], *[turns[place]] * added, *turns[place + 1 :])
    return Edited(judged.shown(repeated), added, added)


@perturber(name="foreign_answer", level="turn", degrees=ONE_OR_ALL)
def foreign_answer(
    text: str, rng: Random, *, example: Example, others: Sequence[Example], count: int | str
) -> Edited:
    """Put the last answer of another conversation in place of each of the last `count` answers."""
    judged = Judged.of(example)
    places = latest(judged.answers, count, "answers")
    own_texts = {turn.text for turn in (*judged.before, *judged.turns)}
    texts: dict[int, str] = {}
    for other in drawn_lazily(others, rng):
        if len(texts) == len(places):
            break
        if (foreign := _last_answer(other)) and foreign not in own_texts:
            texts[places[-1 - len(texts)]] = foreign
            own_texts.add(foreign)
    if len(texts) < len(places):
        raise NotApplicable("too few other conversations with another answer")
    return with_texts(judged, texts)


def drawn_lazily(others: Sequence[Example], rng: Random) -> Iterator[Example]:
    """Random examples, as many as are asked for and some of them twice: nothing is copied."""
    for _ in range(_TRIES if others else 0):
        yield others[int(rng.random() * len(others))]


_TRIES = 200


def _last_answer(other: Example) -> str:
    if CONVERSATION not in other.fields:
        return ""
    turns = from_json(other.fields[CONVERSATION])
    return next((turn.text for turn in reversed(turns) if turn.answers), "")


@perturber(name="question_unanswered", level="turn", degrees=ONE_OR_ALL)
def question_unanswered(
    text: str,
    rng: Random,
    *,
    example: Example,
    lists: ListReader,
    language: str | None = None,
    count: int | str,
) -> Edited:
    """Replace the last `count` answers to questions of the user by a reply that says nothing."""
    judged = Judged.of(example)
    replies = lists(LIST, StockSentences).evasive.get(language or "en")
    if replies is None:
        raise NotApplicable(f"no evasive reply is known in {language_name(language)}")
    places = latest(_answers_to_questions(judged), count, "answers to questions")
    order = list(drawn(replies, rng))
    texts = {place: order[i % len(order)] for i, place in enumerate(reversed(places))}
    if all(judged.turns[place].text == answer for place, answer in texts.items()):
        raise NotApplicable("the answer is evasive already")
    return with_texts(judged, texts)


_QUESTION_MARKS = frozenset("?？؟")


def _answers_to_questions(judged: Judged) -> list[int]:
    """Where the answers are that follow a question of the user, with calls between or without."""
    asked, places = False, []
    for i, turn in enumerate((*judged.before, *judged.turns), -len(judged.before)):
        if turn.role == "user":
            asked = bool(_QUESTION_MARKS & set(turn.text))
        elif turn.answers and asked:
            places += [i] if i >= 0 else []
            asked = False
    return places


# Calls and results --------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@perturber(name="result_ignored", level="turn", degrees=ONE_OR_ALL)
def result_ignored(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Change `count` numbers that the last answer has from tools alone, wherever it says them.

    The new number is in none of the results.
    """
    judged = Judged.of(example)
    if not judged.answers:
        raise NotApplicable("no last answer")
    place = judged.answers[-1]
    answer = judged.turns[place].text
    earlier = (*judged.before, *judged.turns[:place])
    by_tools = _numbers(turn.text for turn in earlier if turn.role == "tool")
    by_others = _numbers(turn.text for turn in earlier if turn.role in ("user", "system"))
    known = [n for n in dict.fromkeys(_NUMBER.findall(answer)) if _plain(n) in by_tools - by_others]
    picked = chosen(range(len(known)), count, rng, "numbers from tools")
    taken = by_tools | by_others | _numbers([answer])
    changed: dict[str, str] = {}
    for i in picked:
        changed[known[i]] = _other_number(known[i], taken, rng)
        taken.add(_plain(changed[known[i]]))
    changed_answer = _NUMBER.sub(lambda match: changed.get(match[0], match[0]), answer)
    edited = with_texts(judged, {place: changed_answer})
    return replace(edited, asked=len(picked), made=len(picked))


def _numbers(texts: Iterable[str]) -> set[str]:
    return {_plain(number) for text in texts for number in _NUMBER.findall(text)}


def _plain(number: str) -> str:
    """The same text for 1,299 and 1299, for 89.50 and 89.5."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d+", number) else number


def _other_number(number: str, taken: set[str], rng: Random) -> str:
    """The number with another last digit before the point, else with another digit elsewhere."""
    whole = re.match(r"\d+(?:,\d{3})*", number)
    last = whole.end() - 1 if whole else len(number) - 1
    places = [last, *(i for i in range(len(number)) if number[i].isdigit() and i != last)]
    for i in places:
        for digit in drawn("123456789", rng):
            new = number[:i] + digit + number[i + 1 :]
            if new != number and _plain(new) not in taken:
                return new
    raise NotApplicable("no other number is free")


@perturber(name="call_argument", level="turn", degrees=ONE_OR_ALL)
def call_argument(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Change one argument in each of `count` calls; results and answers stay.

    A number gets another digit, a text with digits too, true becomes false. Anything else becomes what
    another call of the tool has under the same name, and is missing if none has.
    """
    judged = Judged.of(example)
    calls = [(i, k) for i in judged.calling for k, call in enumerate(judged.turns[i].calls) if call.values]
    picked = chosen(range(len(calls)), count, rng, "calls with arguments")
    turns = list(judged.turns)
    for i, k in (calls[each] for each in picked):
        call = turns[i].calls[k]
        values = call.values
        key = list(values)[int(rng.random() * len(values))]
        known = [c.values.get(key) for t in judged.turns for c in t.calls if c.name == call.name]
        new = _other_value(values[key], known, rng)
        changed = {name: new if name == key else value for name, value in values.items()}
        if new is None:
            del changed[key]
        turns[i] = _with_call(turns[i], k, call.with_values(changed))
    return Edited(judged.shown(turns), len(picked), len(picked))


def _with_call(turn: Turn, k: int, call: Call) -> Turn:
    return replace(turn, calls=(*turn.calls[:k], call, *turn.calls[k + 1 :]))


def _other_value(value: Any, known: Sequence[Any], rng: Random) -> Any:
    """Another value of the same kind; None if the argument is to be missing."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float | str) and _NUMBER.search(str(value)):
        numbers = list(_NUMBER.finditer(str(value)))
        number = numbers[int(rng.random() * len(numbers))]
        new = _other_number(number[0], {_plain(number[0])}, rng)
        changed = str(value)[: number.start()] + new + str(value)[number.end() :]
        return changed if isinstance(value, str) else type(value)(changed)
    return next((each for each in known if each != value and type(each) is type(value)), None)


@perturber(name="call_claimed", level="turn", degrees=ONE_OR_ALL)
def call_claimed(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Remove the last `count` calls with their results: the last answer claims them still."""
    judged = Judged.of(example)
    last = judged.answers[-1] if judged.answers else 0
    made = [call for i in judged.calling if i < last for call in judged.turns[i].calls]
    gone = {made[i].id for i in latest(range(len(made)), count, "calls before the last answer")}
    turns = []
    for turn in judged.turns:
        kept = replace(turn, calls=tuple(call for call in turn.calls if call.id not in gone))
        emptied = bool(turn.calls) and not kept.calls and not kept.text
        if not emptied and turn.result_of not in gone:
            turns.append(kept)
    return Edited(judged.shown(turns), len(gone), len(gone))


@perturber(name="argument_spacing", level="control")
def argument_spacing(text: str, rng: Random, *, example: Example) -> Edited:
    """Write the arguments of all calls over several lines."""
    return _rewritten(example, lambda values: json.dumps(values, ensure_ascii=False, indent=2))


@perturber(name="argument_order", level="control")
def argument_order(text: str, rng: Random, *, example: Example) -> Edited:
    """Name the arguments of all calls in the opposite order."""
    return _rewritten(
        example, lambda values: json.dumps(dict(reversed(list(values.items()))), ensure_ascii=False)
    )


def _rewritten(example: Example, write: Callable[[Mapping[str, Any]], str]) -> Edited:
    """The judged part with all arguments written otherwise; raises `NotApplicable` if nothing changes."""
    judged = Judged.of(example)
    turns = [
        replace(t, calls=tuple(replace(c, arguments=write(c.values)) if c.values else c for c in t.calls))
        for t in judged.turns
    ]
    made = sum(
        a != b
        for t, u in zip(turns, judged.turns, strict=True)
        for a, b in zip(t.calls, u.calls, strict=True)
    )
    if not made:
        raise NotApplicable("no call with arguments that can be written otherwise")
    return Edited(judged.shown(turns), made, made)


@perturber(name="renamed_ids", level="control")
def renamed_ids(text: str, rng: Random, *, example: Example) -> Edited:
    """Give all calls other ids, and their results with them."""
    judged = Judged.of(example)
    ids = list(dict.fromkeys(call.id for turn in judged.turns for call in turn.calls))
    if not ids:
        raise NotApplicable("no call")
    taken = {word for turn in judged.turns for word in (turn.text, turn.result_of)}
    new: dict[str, str] = {}
    for old in ids:
        while (name := f"call_{rng.getrandbits(32):08x}") in taken:
            pass
        new[old] = name
        taken.add(name)
    turns = [
        replace(
            turn,
            calls=tuple(replace(call, id=new[call.id]) for call in turn.calls),
            result_of=new.get(turn.result_of or "", turn.result_of),
        )
        for turn in judged.turns
    ]
    return Edited(judged.shown(turns), len(ids), len(ids))


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
    places = latest(judged.answers, count, "answers")
    answers = [judged.turns[place].text for place in places]
    kept = [each for each in known if all(map(each.holds, answers))]
    if not kept:
        raise NotApplicable("the answers keep no constraint on form")
    for each in drawn(kept, rng):
        texts = [each.broken(answer) for answer in answers]
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
    closings = closing.get(language, ())
    for number, unit in _LENGTH.findall(system) if closings else ():
        most = _NUMBERS.get(number.lower()) or int(number)
        yield _of_length(most, words if unit.lower() == "word" else sentences, closings)
    for name in _LANGUAGE.findall(system):
        yield _without(closing["de" if name.lower() == "english" else "en"])
    yield from map(_beginning_with, _FIRST.findall(system))
    yield from map(_ending_with, _LAST.findall(system))
    yield from _of_format(system, closings)


def _of_length(most: int, counted: Callable[[str], Sequence[str]], closing: Sequence[str]) -> Constraint:
    def lengthened(text: str) -> str:
        """The answer with as many closing sentences as it takes to be too long."""
        for number in range(most + 1):
            if len(counted(text)) > most:
                break
            text = f"{text} {closing[number % len(closing)]}"
        return text

    return Constraint(lambda text: len(counted(text)) <= most, lengthened)


def _without(foreign: Sequence[str]) -> Constraint:
    return Constraint(
        lambda text: not any(sentence in text for sentence in foreign), lambda text: f"{text} {foreign[0]}"
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
        yield Constraint(_is_json, lambda text: f"{text}\n\n{closings[0]}")
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


SILENT = ("turn_deletion", "turn_swap", "answer_repetition", "call_argument", "call_claimed")
LOUD = ("foreign_answer", "question_unanswered", "result_ignored", "constraint_broken")


def notes(result: Result) -> list[str]:
    """What a judge makes of silent faults and of loud ones, in a line; nothing if there are none of turns."""
    rows = [row for row in result.variants if row.level == "turn" and row.detection is not None]
    parts = [
        words
        for what, names in (("silent (the last answer stays)", SILENT), ("loud (an answer changes)", LOUD))
        if (words := _said(what, [row for row in rows if parse_variant(row.variant).perturber in names]))
    ]
    return [f"faults of turns: {'; '.join(parts)}"] if parts else []


def _said(what: str, rows: list[VariantResult]) -> str:
    if not rows:
        return ""
    mean = sum(row.detection or 0.0 for row in rows) / len(rows)
    noticed = sum(row.state.is_good for row in rows)
    return f"{what} detected in {mean:.0%}, {noticed} of {len(rows)} kinds noticed"
