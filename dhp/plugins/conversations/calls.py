"""Faults of calls and of what answers say of their results."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.seeding import drawn
from dhp.perturb.api import Edited, perturber
from dhp.plugins.conversations.choice import ONE_OR_ALL, chosen, latest
from dhp.plugins.conversations.conversation import Call, Judged, Turn

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
"""A number with its marks: 7, 1,299.50 or 12.5."""


@perturber(name="result_ignored", level="turn", degrees=ONE_OR_ALL)
def result_ignored(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Change `count` numbers that the last answer has from tools alone, wherever it says them.

    The new number is in none of the results.
    """
    judged = Judged.of(example)
    if not judged.answers:
        raise NotApplicable("no last answer")

    # Only a number that a tool gave and nobody else said shows that the result was read.
    place = judged.answers[-1]
    answer = judged.turns[place].text
    earlier = (*judged.before, *judged.turns[:place])
    by_tools = _numbers(earlier, ("tool",))
    by_others = _numbers(earlier, ("user", "system"))
    known: list[str] = []
    for number in _NUMBER.findall(answer):
        is_of_tools_alone = _plain(number) in by_tools and _plain(number) not in by_others
        if is_of_tools_alone and number not in known:
            known.append(number)
    picked = chosen(range(len(known)), count, rng, "numbers from tools")

    # A number that was said anywhere might be right in this place, too.
    taken = by_tools | by_others | _plain_numbers(answer)
    changed: dict[str, str] = {}
    for i in picked:
        number = known[i]
        changed[number] = _other_number(number, taken, rng)
        taken.add(_plain(changed[number]))

    # In one pass, so that no new number is taken for an old one.
    changed_answer = _NUMBER.sub(lambda match: changed.get(match[0], match[0]), answer)
    return Edited(judged.with_texts({place: changed_answer}), len(picked), len(picked))


def _numbers(turns: Iterable[Turn], roles: Sequence[str]) -> set[str]:
    """All numbers in the texts of these roles, as `_plain` writes them."""
    numbers: set[str] = set()
    for turn in turns:
        if turn.role in roles:
            numbers |= _plain_numbers(turn.text)
    return numbers


def _plain_numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
"""A number with commas between thousands: "1,299", "12,000.50"."""
_DECIMALS = re.compile(r"\d+\.\d+")
"""A number with decimals: "89.50"."""


def _plain(number: str) -> str:
    """The same text for 1,299 and 1299, for 89.50 and 89.5."""
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    if _DECIMALS.fullmatch(number):
        number = number.rstrip("0").rstrip(".")
    return number


def _other_number(number: str, taken: set[str], rng: Random) -> str:
    """The number with another last digit before the point, else with another digit elsewhere."""
    whole = re.match(r"\d+(?:,\d{3})*", number)  # "1,299" of "1,299.50"
    places = [whole.end() - 1 if whole else len(number) - 1]
    for i, character in enumerate(number):
        if character.isdigit() and i not in places:
            places.append(i)
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
    calls: list[tuple[int, int]] = []  # number of the turn, and of the call in it
    for i in judged.calling:
        for k, call in enumerate(judged.turns[i].calls):
            if call.values:
                calls.append((i, k))
    picked = chosen(range(len(calls)), count, rng, "calls with arguments")
    turns = list(judged.turns)
    for each in picked:
        i, k = calls[each]
        call = turns[i].calls[k]
        values = call.values
        key = list(values)[int(rng.random() * len(values))]
        new = _other_value(values[key], _known_values(judged, call.name, key), rng)
        if new is None:
            del values[key]
        else:
            values[key] = new
        changed = list(turns[i].calls)
        changed[k] = call.with_values(values)
        turns[i] = replace(turns[i], calls=tuple(changed))
    return Edited(judged.shown(turns), len(picked), len(picked))


def _known_values(judged: Judged, tool: str, key: str) -> list[Any]:
    """What the calls of a tool have as an argument."""
    known = []
    for turn in judged.turns:
        for call in turn.calls:
            if call.name == tool:
                known.append(call.values.get(key))
    return known


def _other_value(value: Any, known: Sequence[Any], rng: Random) -> Any:
    """Another value of the same kind; None if the argument is to be missing."""
    # Before numbers, as a bool is an int in Python.
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float | str) and _NUMBER.search(str(value)):
        numbers = list(_NUMBER.finditer(str(value)))
        number = numbers[int(rng.random() * len(numbers))]
        new = _other_number(number[0], {_plain(number[0])}, rng)
        changed = str(value)[: number.start()] + new + str(value)[number.end() :]
        # A number stays one: as a text the argument would have another type in JSON.
        return changed if isinstance(value, str) else type(value)(changed)
    for each in known:
        if each != value and type(each) is type(value):
            return each
    return None


@perturber(name="call_claimed", level="turn", degrees=ONE_OR_ALL)
def call_claimed(text: str, rng: Random, *, example: Example, count: int | str) -> Edited:
    """Remove the last `count` calls with their results that the last answer claims; it claims them still.

    An answer claims a call if it says an argument of it, or a word of its name. Calls that change something
    come before those that only look, and a call that only says the answer does not count.
    """
    judged = Judged.of(example)
    made: list[Call] = []
    claimed: list[Call] = []
    if judged.answers:
        last = judged.answers[-1]
        for turn in judged.turns[:last]:
            made += turn.calls
        claimed = [call for call in made if _is_claimed(call, judged.turns[last].text)]
    # Without any call `latest` below gives the reason.
    if made and not claimed:
        raise NotApplicable("the last answer claims no call")
    with_effect = [call for call in claimed if not _LOOKS.match(call.name)]
    candidates = claimed
    if with_effect and count != "all":
        candidates = with_effect
    picked = latest(range(len(candidates)), count, "calls that the last answer claims")
    gone = {candidates[i].id for i in picked}

    turns = []
    for turn in judged.turns:
        if turn.result_of in gone:
            continue
        calls = tuple(call for call in turn.calls if call.id not in gone)
        if turn.calls and not calls and not turn.text:
            continue  # nothing of the turn is left to be shown
        turns.append(replace(turn, calls=calls))
    return Edited(judged.shown(turns), len(gone), len(gone))


_LOOKS = re.compile(
    r"(?:get|list|search|find|read|look|fetch|check|query|show|view|describe|lookup)(?![a-z])", re.I
)
"""Names of calls that only look: `getOrder`, `list_rooms`, not `settle`."""
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""A word in the name of a call: "issue" and "Refund" in `issueRefund`, "SMS" in `sendSMS`."""
_LEAST_LETTERS = 4
"""Fewest letters of an argument or a word that is looked for. Chosen: shorter ones stand in any answer."""
_STEM = 5
"""Letters by which a word of a name is found in another form: `refund` in "refunded". Chosen."""
_MOST_OF_ANSWER = 0.5
"""Share of the answer above which an argument is the answer itself, as in a call that replies. Chosen."""


def _is_claimed(call: Call, answer: str) -> bool:
    """Whether an answer says what a call did, or with what."""
    lowered = answer.lower()
    longest = 0  # characters of the longest argument that the answer says
    for value in call.values.values():
        if isinstance(value, str | int | float) and str(value).lower() in lowered:
            longest = max(longest, len(str(value)))
    if longest > _MOST_OF_ANSWER * len(answer):
        return False
    if longest >= _LEAST_LETTERS:
        return True
    for word in _NAME_WORD.findall(call.name):
        is_telling = len(word) >= _LEAST_LETTERS and not _LOOKS.fullmatch(word)
        if is_telling and word[:_STEM].lower() in lowered:
            return True
    return False
