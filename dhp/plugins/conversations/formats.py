"""Conversations in rows of OpenAI, inspect_ai, Anthropic, deepeval, OpenTelemetry and langfuse.

`reader_of` tells by the columns which of four readers takes the rows: `of_messages`, `of_turns`, `of_spans`
or `of_observations`. Each makes messages or turns, which `dhp.plugins.conversations.messages` checks. Spans
and observations of one conversation stand in several rows; the last one holds what was said before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dhp.core.errors import InputError
from dhp.core.files import parse_json
from dhp.core.tables import Row, Table, as_text
from dhp.loaders.telemetry import attributes
from dhp.plugins.conversations.conversation import Call, Turn, Turns
from dhp.plugins.conversations.messages import (
    arguments_text,
    as_said,
    checked,
    listed,
    read_messages,
    turns_of,
)

INPUT = "gen_ai.input.messages"
_OUTPUT = "gen_ai.output.messages"
_INSTRUCTIONS = "gen_ai.system_instructions"
"""Attributes of a span by the conventions of OpenTelemetry."""
_FIRST_ROWS = 50
"""Rows of a file in which a span with messages is looked for. Chosen: a trace may begin with other spans."""


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation in a file."""

    id: str | None
    """Its id, if it has one."""
    turns: Turns
    row: Row
    """The row that it was read from, for further columns."""


Reader = Callable[[Sequence[Row], Mapping[str, str]], Iterator[Found]]
"""Rows, and our names -> their columns."""


def _value(row: Row, *columns: str) -> Any:
    """The first value that is there; JSON text is parsed."""
    for column in columns:
        value = row.value(column)
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            return parse_json(f"{row.place}: {column}", value)
        if value is not None:
            return value
    return None


def _id(row: Row, fields: Mapping[str, str]) -> str | None:
    """The id of a conversation: in the column that the user names, else in the first usual one."""
    names = ["id", "conversation_id", "custom_id", "name"]
    if "id" in fields:
        names = [fields["id"]]
    for name in names:
        text = as_text(row.value(name))
        if text:
            return text
    return None


def of_messages(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """OpenAI, inspect_ai and Anthropic: `messages`, beside which `system` may stand."""
    column = fields.get("messages", "messages")
    for row in rows:
        if str(row.values.get("epoch") or 1) != "1":
            continue  # inspect_ai's: the same sample once more
        place = f"{row.place}: {column}"
        messages = _resolved(_value(row, column), row.values.get("attachments"))
        if messages is None:
            raise InputError(f"{place}: is missing; must be a list of messages")
        system = as_said(f"{row.place}: system", row.values.get("system"))
        turns = read_messages(place, messages)
        # Anthropic keeps the system message beside the others; one that stands among them is not doubled.
        if system and not any(turn.role == "system" for turn in turns):
            turns = (Turn("system", system), *turns)
        yield Found(_id(row, fields), turns, row)


_ATTACHMENT = "attachment://"
"""Beginning of the name of a long text, which inspect_ai keeps once for a whole sample."""


def _resolved(value: Any, attachments: Any) -> Any:
    """Messages of inspect_ai with long texts instead of the names under which they are kept."""
    if not isinstance(attachments, Mapping) or not attachments:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolved(each, attachments) for each in value]
    if isinstance(value, dict):
        return {key: _resolved(each, attachments) for key, each in value.items()}
    return value


def of_turns(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """deepeval: `turns`, each with the tools that were called in it and what these gave."""
    for row in rows:
        place = f"{row.place}: turns"
        listed_turns = listed(place, _value(row, "turns"))
        if not listed_turns:
            raise InputError(f"{place}: is empty; must be a list of turns with role and content")
        role = as_said(place, _value(row, "chatbot_role", "chatbotRole"))
        turns: list[tuple[str, Turn]] = []
        if role:
            turns.append((place, Turn("system", role)))
        for number, each in enumerate(listed_turns):
            at = f"{place}[{number}]"
            turns += [(at, turn) for turn in _of_turn(at, each, len(turns))]
        yield Found(_id(row, fields), checked(place, turns), row)


def _of_turn(place: str, value: object, count: int) -> Iterator[Turn]:
    """The calls of a turn, their results, and what is said; `count` makes ids of calls that differ."""
    if isinstance(value, dict):
        calls, results = [], []
        tools = listed(f"{place}.tools_called", value.get("tools_called", value.get("toolsCalled")))
        for k, tool in enumerate(tools):
            call, result = _called(place, tool, count + k)
            calls.append(call)
            results.append(Turn("tool", result, (), call.id))
        if calls:
            yield Turn("assistant", "", tuple(calls))
        yield from results
        # The calls are done: what is left is a plain message.
        value = {key: value[key] for key in ("role", "content") if key in value}
    yield from turns_of(place, value)


def _called(place: str, tool: object, number: int) -> tuple[Call, str]:
    """A call of a tool, and what it gave."""
    if not isinstance(tool, dict) or not tool.get("name"):
        raise InputError(
            f"{place}.tools_called: a call without a name; allowed: name, input_parameters, output"
        )
    arguments = tool.get("input_parameters", tool.get("inputParameters")) or {}
    call = Call(f"call_{number}", tool["name"], arguments_text(arguments))
    return call, as_said(place, tool.get("output"))


def of_spans(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """OpenTelemetry GenAI: of each conversation the span that holds most of it."""
    longest: dict[str, tuple[list[Any], Row]] = {}
    for row in rows:
        values = attributes(row.values)
        if INPUT not in values:
            continue
        messages = []
        instructions = _listed(row, values, _INSTRUCTIONS)
        if instructions:
            messages.append({"role": "system", "parts": instructions})
        messages += _listed(row, values, INPUT)
        messages += _listed(row, values, _OUTPUT)
        # A span that names no conversation belongs to its trace; without one it stands alone.
        trace = row.value("traceId") or row.value("trace_id")
        name = str(values.get("gen_ai.conversation.id") or trace or row.place)
        # Each call of a model sends what was said before, so the longest one holds the whole.
        if name not in longest or len(messages) >= len(longest[name][0]):
            longest[name] = messages, row
    for name, (messages, row) in longest.items():
        turns = read_messages(f"{row.place}: {INPUT}", messages)
        is_named = name != row.place  # a place in a file is no id
        yield Found(name if is_named else None, turns, row)


def _listed(row: Row, values: Mapping[str, Any], name: str) -> list[Any]:
    """The list in an attribute, which some exporters write as JSON text."""
    place, value = f"{row.place}: {name}", values.get(name)
    if isinstance(value, str):
        value = parse_json(place, value)
    return listed(place, value)


def of_observations(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """langfuse: of each trace the last generation, whose input holds what was said before."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        for observation in _observations(row):
            trace = as_text(_value(observation, "traceId", "trace_id"))
            name = trace or _id(row, fields) or row.place
            traces.setdefault(name, []).append(observation)
    for name, observed in traces.items():
        # `max` below takes the first of several that hold as much: by time, not by the order of the file.
        observed.sort(key=_start)
        generations = []
        for observation in observed:
            if str(observation.values.get("type")).upper() == "GENERATION":
                generations.append(observation)
        if not generations:
            raise InputError(f"{observed[0].place}: trace '{name}': no GENERATION; must have at least one")
        # Each generation is given what was said before, so the one with most of it is the last.
        last = max(generations, key=lambda each: len(_said_before(each)))
        messages = [*_said_before(last), *_given(_value(last, "output"))]
        yield Found(name, read_messages(f"{last.place}: input", messages), last)


def _start(observation: Row) -> str:
    """The time at which an observation begins, in ISO form, which sorts as text."""
    return str(_value(observation, "startTime", "start_time") or "")


def _observations(row: Row) -> list[Row]:
    """The observations of a trace, or the row itself."""
    nested = row.values.get("observations")
    if nested is None:
        return [row]
    place = f"{row.place}: observations"
    rows = []
    for i, each in enumerate(listed(place, nested)):
        if isinstance(each, dict):
            rows.append(Row(f"{place}[{i}]", each))
    return rows


def _said_before(generation: Row) -> list[Any]:
    """The input of a generation as messages."""
    messages = _value(generation, "input")
    if isinstance(messages, dict) and "messages" in messages:
        messages = messages["messages"]
    if isinstance(messages, list):
        return messages
    return [{"role": "user", "content": as_said("", messages)}]  # a prompt in words


def _given(output: Any) -> list[Any]:
    """The output of a generation as messages."""
    if output is None:
        return []
    if isinstance(output, list):
        return output
    if isinstance(output, dict):
        choices = output.get("choices")
        if isinstance(choices, list) and choices:  # a whole answer of OpenAI's
            return [choices[0].get("message")] if isinstance(choices[0], dict) else []
        if "role" in output or "content" in output or "tool_calls" in output:
            return [{"role": "assistant", **output}]
    return [{"role": "assistant", "content": as_said("", output)}]


def reader_of(rows: Table, fields: Mapping[str, str]) -> Reader | None:
    """The reader that takes these rows for conversations; None for other rows."""
    if rows.has(fields.get("messages", "messages")):
        return of_messages
    if rows.has("turns"):
        return of_turns
    for row in rows.rows[:_FIRST_ROWS]:
        if INPUT in attributes(row.values):
            return of_spans
    is_observation = rows.has("type") and (rows.has("traceId") or rows.has("trace_id"))
    if is_observation or _holds_observations(rows):
        return of_observations
    return None


def _holds_observations(rows: Table) -> bool:
    """Whether the first row that can be read is a trace with its observations."""
    for row in rows.rows:
        if not row.broken:
            return isinstance(row.values.get("observations"), list)
    return False
