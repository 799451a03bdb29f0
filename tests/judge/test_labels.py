"""The label of a protocol moves with the texts that its prompts are made of, and with no others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dhp.content.catalog import names_of, read_pairwise, read_protocol, read_task
from dhp.core.answer_forms import turns_of
from dhp.core.protocol_spec import Wording
from dhp.core.records import Candidate
from dhp.judge.factory import request_builder
from dhp.judge.pairs import Pair
from dhp.judge.requests import RequestBuilder

TASK = read_task("summarization")
TASKS = [TASK, TASK.model_copy(update={"source_label": None})]
LABELLED = TASK.metrics[0].model_copy(update={"labels": ["bad", "good"]})
TEXT = Candidate("e1", "original", "A text.", "A source.", references=("Another text.",))
SECOND = replace(TEXT, variant="worse", text="A worse text.")
NAMES = [*names_of("protocol"), *names_of("pairwise protocol")]


def changed(wording: Wording) -> Iterator[tuple[str, Wording]]:
    """The wording with one of its texts changed, each in turn, and the place of that text."""
    for name, value in wording.model_dump(exclude={"language"}, exclude_unset=True).items():
        if isinstance(value, str):
            yield name, wording.model_copy(update={name: f"{value} Truly."})
            continue
        for key, text in value.items():
            yield f"{name}.{key}", wording.model_copy(update={name: {**value, key: f"{text} Truly."}})


def prompts(builder: RequestBuilder) -> list[Any]:
    """All that a judge can be sent."""
    protocol, found = builder.protocol, []
    for form in turns_of(protocol.answer):
        found += [builder.short_request(form, m) for m in (*TASK.metrics, LABELLED) if not protocol.pairwise]
        found += [builder.short_request(form)] if protocol.pairwise else []
    for task in TASKS:
        if protocol.pairwise:
            asked = list(builder.pair_requests([Pair(TEXT, SECOND)], task, ["overall", *TASK.metric_names]))
            given, swapped = (replace(r.tag[0], status="scored", raw="A") for r in asked[:2])
            verdicts = [[replace(given, choice=1), replace(swapped, choice=-1)]]
            asked += builder.final_requests(verdicts, task) if protocol.final else []
        else:
            asked = list(builder.requests([TEXT], task))
            asked += builder.steps_requests(task) if protocol.steps == "auto" else []
        found += [(request.before, request.prompt) for request in asked]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_labels_move_with_the_texts_that_are_used(name: str) -> None:
    protocol = read_protocol(name) if name in names_of("protocol") else read_pairwise(name)
    builder = request_builder(protocol)
    before, label = prompts(builder), builder.label
    unused = set()
    for place, wording in changed(builder.wording):
        other = replace(builder, wording=wording)
        moved = prompts(other) != before
        assert not moved or other.label != label, place
        unused |= {place} if other.label == label else set()
        if place.startswith(("answers.", "criterion.")):
            assert (other.label != label) == moved, place
    assert unused, "the texts of other answer forms"


def test_a_new_answer_form_moves_no_label() -> None:
    for name in NAMES:
        builder = request_builder(read_protocol(name))
        answers = {**builder.wording.answers, "percent": "Answer in percent."}
        more = builder.wording.model_copy(update={"answers": answers})
        assert replace(builder, wording=more).label == builder.label, name
