"""Limit of the answer length: raised for a judge whose first answers are cut off."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from dhp.content.protocols import override
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.unreadable import enough_room
from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel

FIRST = 3
"""Examples of a dataset whose originals are asked about first."""


def with_room(
    judges: Sequence[Judge], texts: Sequence[tuple[Sequence[Candidate], Task]], run: str = ""
) -> list[Judge]:
    """The judges, each with the room that its answers need; one whose room changes is said once.

    Originals of the first examples are asked about. Where more than half of the answers are cut at the limit
    before any rating, the limit is raised, once, as a setting of the protocol: its signature says so, and all
    ratings of the run are asked for with the same limit. What was asked first is stored, so that it is paid
    for once. Nothing is looked at where the limit was given, where no server is asked, where probabilities
    are read, and where replies are not stored or come later.

    Parameters
    ----------
    judges
        Of a run.
    texts
        Candidates and task of each dataset.
    run
        The name of the run, to which these replies count.

    Raises
    ------
    InputError, StoppedEarly
        As `LlmJudge.rate`.
    """
    return [_roomy(judge, texts, run) if _may_need_room(judge) else judge for judge in judges]


def _may_need_room(judge: Judge) -> bool:
    if not isinstance(judge, LlmJudge) or judge.builder.room_given:
        return False
    context = judge.cached_model.context
    stored = context.store is not None and not context.refresh and judge.cached_model.deferral is None
    read = judge.builder.protocol.extraction == "parse"
    return stored and read and isinstance(judge.cached_model.model, Client)


def _roomy(judge: Judge, texts: Sequence[tuple[Sequence[Candidate], Task]], run: str) -> Judge:
    assert isinstance(judge, LlmJudge)
    asked = judge.cached_model
    first = LlmJudge(CachedModel(asked.model, asked.context, run=run), judge.builder)
    ratings = [rating for candidates, task in texts for rating in first.rate(_originals(candidates), task)]
    asked.session_usage = first.cached_model.session_usage
    if 2 * first.cut_off <= len(ratings):
        return judge
    tokens = judge.builder.protocol.max_tokens
    room = enough_room(ratings, tokens)
    logging.getLogger("dhp").warning(
        "%s (%s): %d of the first %d answers were cut at %d tokens before any rating: all are asked with "
        "`max_tokens` %d",
        judge.model,
        judge.protocol.partition("@")[0],
        first.cut_off,
        len(ratings),
        tokens,
        room,
    )
    builder = replace(judge.builder, protocol=override(judge.builder.protocol, max_tokens=room))
    return LlmJudge(asked, builder)


def _originals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first text of each of the first examples."""
    texts: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.example not in texts and len(texts) == FIRST:
            break
        texts.setdefault(candidate.example, candidate)
    return list(texts.values())
