"""A sentence that tells a judge to look for what it missed, written by the user's own model."""

import json
from collections.abc import Sequence
from functools import partial

from dhp.analysis.results import Result
from dhp.content.catalog import variant_name
from dhp.core.errors import StoppedEarly
from dhp.core.reasoning import without_reasoning
from dhp.core.text import fill
from dhp.llm.cached_model import CachedModel, RequestContext, with_more_room
from dhp.llm.records import Failure, Params, Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.improve.changes import known_changes, usable_sentence
from dhp.plugins.improve.race import Unusable

MISSED = 0.75
"""Detection below which a kind of damage counts as often overlooked: that of T75."""
_MOST = 6
"""Kinds that the sentence is asked to name."""
_TOKENS = 500


def missed_kinds(result: Result) -> list[str]:
    """The kinds of damage that a judge overlooks most, as people read them."""
    rows = [row for row in result.damage if row.detection is not None and row.detection < MISSED]
    rows.sort(key=lambda row: row.detection or 0.0)
    return [variant_name(row.variant) for row in rows[:_MOST]]


def written_sentence(model: str, settings: ModelSettings, prompt: str, kinds: Sequence[str]) -> str:
    """The sentence that the model writes for a prompt; stored, as every reply is.

    Raises `Unusable` if it writes none that fits, and `StoppedEarly` if it cannot be asked now.
    """
    return usable_sentence(settings.filled(partial(_asked, model, settings, prompt, kinds)))


def _asked(
    model: str, settings: ModelSettings, prompt: str, kinds: Sequence[str], context: RequestContext
) -> str:
    """What the model writes; empty if it was cut off twice."""
    asked = CachedModel(settings.open(model, context), context, run="improve")
    body = tuple((name, json.dumps(value, sort_keys=True)) for name, value in sorted(settings.body.items()))
    params = Params(temperature=0.0, top_p=None, max_tokens=_TOKENS, body=body)
    words = fill(known_changes().request, {"prompt": prompt, "kinds": "; ".join(kinds)})
    request = Request(words, params, (0,), "the checklist")
    for each in (request, with_more_room(request)):
        ((_, outcomes),) = asked.ask([each])
        outcome = outcomes[0]
        if isinstance(outcome, Failure) and outcome.passing:
            raise StoppedEarly(f"{model}: {each.place}: {outcome.reason}; repeat the command to resume")
        if isinstance(outcome, Failure):
            raise Unusable(f"the model wrote no sentence ({outcome.reason})")
        if outcome.finish != "length":
            return without_reasoning(outcome.text) or ""
    return ""
