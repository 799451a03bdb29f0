"""Controls that write calls in another form: what an agent did stays the same, so no score may fall."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited, perturber
from dhp.plugins.conversations.conversation import Judged


@perturber(name="argument_spacing", level="control")
def argument_spacing(text: str, rng: Random, *, example: Example) -> Edited:
    """Write the arguments of all calls over several lines."""
    return _rewritten(example, lambda values: json.dumps(values, ensure_ascii=False, indent=2))


@perturber(name="argument_order", level="control")
def argument_order(text: str, rng: Random, *, example: Example) -> Edited:
    """Name the arguments of all calls in the opposite order."""

    def backwards(values: Mapping[str, Any]) -> str:
        return json.dumps(dict(reversed(list(values.items()))), ensure_ascii=False)

    return _rewritten(example, backwards)


def _rewritten(example: Example, write: Callable[[Mapping[str, Any]], str]) -> Edited:
    """The judged part with all arguments written otherwise; raises `NotApplicable` if nothing changes."""
    judged = Judged.of(example)
    turns, made = [], 0
    for turn in judged.turns:
        calls = []
        for call in turn.calls:
            written = call
            if call.values:  # else there are no arguments, or they are no JSON object
                written = replace(call, arguments=write(call.values))
            if written != call:
                made += 1
            calls.append(written)
        turns.append(replace(turn, calls=tuple(calls)))
    if not made:
        raise NotApplicable("no call with arguments that can be written otherwise")
    return Edited(judged.shown(turns), made, made)


def _random_id(rng: Random) -> str:
    return f"call_{rng.getrandbits(32):08x}"


@perturber(name="renamed_ids", level="control")
def renamed_ids(text: str, rng: Random, *, example: Example) -> Edited:
    """Give all calls other ids, and their results with them."""
    judged = Judged.of(example)
    ids: list[str] = []
    taken: set[str | None] = set()
    for turn in judged.turns:
        ids += [call.id for call in turn.calls]
        taken |= {turn.text, turn.result_of}
    if not ids:
        raise NotApplicable("no call")

    new_ids: dict[str | None, str] = {}
    for old in ids:
        if old in new_ids:
            continue
        new = _random_id(rng)
        while new in taken:
            new = _random_id(rng)
        new_ids[old] = new
        taken.add(new)

    turns = []
    for turn in judged.turns:
        calls = tuple(replace(call, id=new_ids[call.id]) for call in turn.calls)
        # A result may be of a call before the judged part, whose id stays.
        result_of = new_ids.get(turn.result_of, turn.result_of)
        turns.append(replace(turn, calls=calls, result_of=result_of))
    return Edited(judged.shown(turns), len(new_ids), len(new_ids))
