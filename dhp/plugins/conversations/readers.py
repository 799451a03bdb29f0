"""Conversations in the files of OpenAI, inspect_ai, Anthropic, deepeval, OpenTelemetry and langfuse.

Their messages differ in names alone.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dhp.content.catalog import own_suite, read_task
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import opened, parse_json, read_json
from dhp.core.records import Example
from dhp.core.specs import Task
from dhp.core.spool import spooled
from dhp.core.tables import TABLE_SUFFIXES, Row, Table, as_text, read_table, sound, table
from dhp.loaders.dataset import Dataset
from dhp.loaders.inspect_log import LOG_SUFFIX, read_eval_file
from dhp.loaders.left_out import leave_out
from dhp.loaders.memory import Rows, rows_table
from dhp.loaders.pairs import chosen_rows
from dhp.loaders.request import Request
from dhp.plugins.conversations.conversation import (
    CONVERSATION,
    PART,
    PARTS,
    ROLES,
    Call,
    Judged,
    Part,
    Role,
    Turn,
    Turns,
    json_text,
    split_example,
    to_json,
)

# Messages -----------------------------------------------------------------------------------------------

_ROLES: Mapping[str, Role] = {
    **{role: role for role in ROLES},
    "developer": "system",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
}
_TEXTS = ("text", "input_text", "output_text", "refusal")
_THOUGHTS = ("reasoning", "thinking", "redacted_thinking")
"""Parts that nobody but the model reads: they are left out."""
_MEDIA = (
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "file",
    "document",
    "blob",
    "uri",
)
"""Parts that are no text: a word in brackets stands for them."""
_CALLS = ("tool_use", "tool_call", "function_call")
_RESULTS = ("tool_result", "tool_call_response", "function_call_output")
_PARTS = (*_TEXTS, *_THOUGHTS, *_MEDIA, *_CALLS, *_RESULTS)
_RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id", "id")
_RESULT_TEXTS = ("content", "response", "result", "output")


@dataclass(slots=True)
class _Content:
    """What is in one message."""

    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Turn] = field(default_factory=list)


def read_messages(place: str, messages: object) -> Turns:
    """The turns of a list of messages.

    Raises `InputError` with the place for an empty list, a message without role, a result without call and
    parts of an unknown type.
    """
    if not listed(place, messages):
        raise InputError(f"{place}: is empty; must have at least one message of the assistant")
    turns: list[tuple[str, Turn]] = []
    for number, message in enumerate(listed(place, messages)):
        at = f"{place}[{number}]"
        turns += [(at, turn) for turn in turns_of(at, message)]
    return checked(place, turns)


def checked(place: str, turns: Sequence[tuple[str, Turn]]) -> Turns:
    """The turns, each with its place in the file; no two calls have the same id.

    Raises `InputError` for a result without call and if the assistant is silent.
    """
    ids: dict[str, str] = {}
    made: set[str] = set()
    turns_kept = []
    for at, turn in turns:
        if turn.role == "tool":
            if turn.result_of not in ids:
                raise InputError(
                    f"{at}: result of call '{turn.result_of}', but no such call before it; allowed: "
                    f"{', '.join(ids) or 'none, as nothing was called'}"
                )
            turns_kept.append(replace(turn, result_of=ids[turn.result_of]))
            continue
        for call in turn.calls:
            ids[call.id] = call.id if call.id not in made else f"{call.id}#{len(made)}"
            made.add(ids[call.id])
        turns_kept.append(replace(turn, calls=tuple(replace(call, id=ids[call.id]) for call in turn.calls)))
    if not any(turn.role == "assistant" and turn.text for turn in turns_kept):
        raise InputError(f"{place}: the assistant says nothing; must have at least one message of its text")
    return tuple(turns_kept)


def listed(place: str, value: object) -> list[Any]:
    """A list, empty for None; raises `InputError` for anything else."""
    if value is not None and not isinstance(value, list):
        raise InputError(f"{place}: is of type {type(value).__name__}; must be a list")
    return value or []


def turns_of(place: str, message: object) -> Iterator[Turn]:
    """The turns of a message: its results of tools, then what it says and calls."""
    if not isinstance(message, dict):
        raise InputError(
            f"{place}: is of type {type(message).__name__}; must be an object with role and content"
        )
    if message.get("type") in (*_CALLS, *_RESULTS) and "role" not in message:
        content = _Content()
        _add_part(place, message, content)
        yield from content.results
        if content.calls:
            yield Turn("assistant", "", tuple(content.calls))
        return
    role = _role(place, message)
    content = _content(place, message)
    if role == "tool" and not content.results:
        yield _result(place, message, "\n\n".join(content.texts))
        return
    yield from content.results
    for number, call in enumerate(listed(f"{place}.tool_calls", message.get("tool_calls"))):
        content.calls.append(_call(f"{place}.tool_calls[{number}]", call))
    if content.calls and role != "assistant":
        raise InputError(f"{place}: role '{role}' calls a tool; allowed: assistant")
    text = "\n\n".join(content.texts)
    if text or content.calls:
        yield Turn(role, text, tuple(content.calls))


def _role(place: str, message: Mapping[str, Any]) -> Role:
    allowed = ", ".join(ROLES)
    if message.get("role") is None:
        raise InputError(f"{place}: has no role; allowed: {allowed}")
    role = str(message["role"])
    if role not in _ROLES:
        one_of("role", role, ROLES, f"{place}.role")
    return _ROLES[role]


def _content(place: str, message: Mapping[str, Any]) -> _Content:
    content = _Content()
    key = "parts" if "parts" in message else "content"
    value = message.get(key)
    if value is None:
        value = message.get("refusal") or []
    if isinstance(value, str):
        content.texts += [value] if value.strip() else []
        return content
    if not isinstance(value, list):
        raise InputError(f"{place}.{key}: is of type {type(value).__name__}; must be text or a list of parts")
    for number, part in enumerate(value):
        _add_part(f"{place}.{key}[{number}]", part, content)
    return content


def _add_part(place: str, part: object, content: _Content) -> None:
    if isinstance(part, str):
        content.texts.append(part)
        return
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in _PARTS:
        kind_text = f"type '{kind}'" if isinstance(part, dict) else f"a {type(part).__name__}"
        raise InputError(f"{place}: {kind_text} is unknown; {suggest(str(kind), _PARTS)}")
    if kind in _TEXTS:
        text = str(part.get("text") or part.get("content") or part.get("refusal") or "")
        content.texts += [text] if text.strip() else []
    elif kind in _MEDIA:
        content.texts.append(f"[{str(kind).removeprefix('input_').removesuffix('_url')}]")
    elif kind in _CALLS:
        content.calls.append(_call(place, part))
    elif kind in _RESULTS:
        result = next((part[name] for name in _RESULT_TEXTS if part.get(name) is not None), "")
        content.results.append(_result(place, part, as_said(place, result)))


def as_said(place: str, value: object) -> str:
    """A value as text: a list of parts as their texts, any other structure as JSON."""
    if isinstance(value, str):
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(p, dict) and p.get("type") in _PARTS for p in value)
    ):
        return "\n\n".join(_content(place, {"content": value}).texts)
    return "" if value is None else json_text(value)


def _call(place: str, value: object) -> Call:
    """A call: OpenAI's, inspect_ai's, Anthropic's or OpenTelemetry's."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: is of type {type(value).__name__}; must be a call with id and name")
    function = value.get("function")
    inner = function if isinstance(function, dict) else value
    name = inner.get("name") or (function if isinstance(function, str) else None)
    if not isinstance(name, str) or not name:
        raise InputError(f"{place}: a call without a name; must have the name of a tool")
    identity = value.get("call_id") or value.get("id")
    if not isinstance(identity, str) or not identity:
        raise InputError(f"{place}: call of '{name}' has no id; must have a text that its result names")
    arguments: object = next((inner[key] for key in ("arguments", "input") if inner.get(key) is not None), {})
    return Call(identity, name, arguments_text(arguments))


def arguments_text(value: object) -> str:
    """Arguments as JSON text in one form of white space, as they are if they are no JSON."""
    if isinstance(value, str):
        try:
            return json_text(json.loads(value)) if value.strip() else "{}"
        except ValueError:
            return value
    return json_text(value)


def _result(place: str, message: Mapping[str, Any], text: str) -> Turn:
    identity = next((message[key] for key in _RESULT_IDS if isinstance(message.get(key), str)), None)
    if identity is None:
        raise InputError(
            f"{place}: a result without call; must have tool_call_id, the id of a call before it"
        )
    error = message.get("error")
    if isinstance(error, dict):
        error_text = str(error.get("message") or error.get("type") or "")
        text = text if error_text in text else f"{text}\n{error_text}".strip()
    failed = bool(error) or message.get("is_error") is True
    return Turn("tool", text, (), identity, failed)


# Files --------------------------------------------------------------------------------------------------

_KEYS = ("messages", "turns", "observations", "traceId", "trace_id")
_LONGEST_LINE = 2**24
_INPUT, _OUTPUT, _INSTRUCTIONS = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation in a file."""

    id: str | None
    """Its id, if it has one."""
    turns: Turns
    row: Row
    """What it was read from, for further columns."""


Reader = Callable[[Sequence[Row], Mapping[str, str]], Iterator[Found]]
"""Rows, and our names -> their columns."""


def open_rows(source: str | Rows, certain: bool) -> Table | None:
    """The rows of a file, one a conversation, a span or an observation; None if they are not.

    Unless it is `certain` that they are conversations, only the first line of a table tells.
    """
    if not isinstance(source, str):
        return rows_table(source)
    path = Path(source)
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*TABLE_SUFFIXES, LOG_SUFFIX):
        return None
    if suffix in (LOG_SUFFIX, ".json"):
        data = read_eval_file(path) if suffix == LOG_SUFFIX else read_json(path, careless=True)
        entries = [each for each in _entries(data) if isinstance(each, dict)]
        rows = [Row(f"{path}: entry {i}", each) for i, each in enumerate(entries, 1)]
        return table(str(path), dict.fromkeys(c for row in rows for c in row.values), rows) if rows else None
    if not certain and (suffix != ".jsonl" or not _begins_so(path)):
        return None
    return read_table(path, broken=True)


def _begins_so(path: Path) -> bool:
    """Whether the first line of a file of JSON lines may be (part of) a conversation."""
    with opened(path) as file:
        line = file.readline(_LONGEST_LINE)
    return any(f'"{name}"'.encode() in line for name in (*_KEYS, _INPUT))


def _entries(data: Any) -> Sequence[Any]:
    """The entries of a JSON file: of a list, a log of inspect_ai, a page of langfuse, spans, a test run."""
    if not isinstance(data, dict):
        alone = isinstance(data, list) and all(isinstance(each, dict) and "role" in each for each in data)
        return [{"messages": data}] if alone and data else data if isinstance(data, list) else []
    if "resourceSpans" in data:
        scopes = [scope for each in _inner(data, "resourceSpans") for scope in _inner(each, "scopeSpans")]
        return [span for scope in scopes for span in _inner(scope, "spans")]
    run = data.get("testRunData", data)
    for key in ("samples", "data", "conversationalTestCases", "conversational_test_cases", "goldens"):
        if isinstance(run, dict) and isinstance(run.get(key), list) and run[key]:
            return list(run[key])
    return [data]


def _inner(data: Any, key: str) -> list[Any]:
    """The list under a key; empty if there is none."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


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
    names = (fields["id"],) if "id" in fields else ("id", "conversation_id", "custom_id", "name")
    return next((text for name in names if (text := as_text(row.value(name)))), None)


def of_messages(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """OpenAI, inspect_ai and Anthropic: `messages`, beside which `system` may stand."""
    column = fields.get("messages", "messages")
    for row in rows:
        if str(row.values.get("epoch") or 1) != "1":
            continue  # the same sample once more
        place = f"{row.place}: {column}"
        messages = _resolved(_value(row, column), row.values.get("attachments"))
        if messages is None:
            raise InputError(f"{place}: is missing; must be a list of messages")
        system = as_said(f"{row.place}: system", row.values.get("system"))
        turns = read_messages(place, messages)
        if system and not any(turn.role == "system" for turn in turns):
            turns = (Turn("system", system), *turns)
        yield Found(_id(row, fields), turns, row)


_ATTACHMENT = "attachment://"


def _resolved(value: Any, attachments: Any) -> Any:
    """Messages of inspect_ai with long texts instead of the names under which they are kept."""
    if not isinstance(attachments, Mapping) or not attachments:
        return value
    if isinstance(value, str):
        return (
            attachments.get(value.removeprefix(_ATTACHMENT), value)
            if value.startswith(_ATTACHMENT)
            else value
        )
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
        turns = [(place, Turn("system", role))] if role else []
        for number, each in enumerate(listed_turns):
            at = f"{place}[{number}]"
            turns += [(at, turn) for turn in _of_turn(at, each, len(turns))]
        yield Found(_id(row, fields), checked(place, turns), row)


def _of_turn(place: str, value: object, count: int) -> Iterator[Turn]:
    """The calls of a turn, their results, and what is said; `count` makes ids of calls that differ."""
    if isinstance(value, dict):
        tools = listed(f"{place}.tools_called", value.get("tools_called", value.get("toolsCalled")))
        called = [_called(place, tool, count + k) for k, tool in enumerate(tools)]
        if called:
            yield Turn("assistant", "", tuple(call for call, _ in called))
        for call, text in called:
            yield Turn("tool", text, (), call.id)
        value = {key: value[key] for key in ("role", "content") if key in value}
    yield from turns_of(place, value)


def _called(place: str, tool: object, number: int) -> tuple[Call, str]:
    if not isinstance(tool, dict) or not tool.get("name"):
        raise InputError(
            f"{place}.tools_called: a call without a name; allowed: name, input_parameters, output"
        )
    arguments = tool.get("input_parameters", tool.get("inputParameters")) or {}
    return Call(f"call_{number}", tool["name"], arguments_text(arguments)), as_said(place, tool.get("output"))


def of_spans(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """OpenTelemetry GenAI: of each conversation the span that holds most of it."""
    longest: dict[str, tuple[list[Any], Row]] = {}
    for row in rows:
        values = attributes(row)
        if _INPUT not in values:
            continue
        messages = [*_listed(row, values, _INPUT), *_listed(row, values, _OUTPUT)]
        if instructions := _listed(row, values, _INSTRUCTIONS):
            messages.insert(0, {"role": "system", "parts": instructions})
        ids = (
            values.get("gen_ai.conversation.id"),
            *(row.value(n) for n in ("traceId", "trace_id")),
            row.place,
        )
        name = next(str(each) for each in ids if each)
        if len(messages) >= len(longest.get(name, ([], row))[0]):
            longest[name] = messages, row
    for name, (messages, row) in longest.items():
        place = f"{row.place}: {_INPUT}"
        yield Found(None if name == row.place else name, read_messages(place, messages), row)


def attributes(row: Row) -> Mapping[str, Any]:
    """The attributes of a span: columns, an object, or a list of OTLP's keys and values."""
    value = row.values.get("attributes")
    if isinstance(value, list):
        return {str(e.get("key")): _plain(e.get("value")) for e in value if isinstance(e, dict)}
    return value if isinstance(value, Mapping) else row.values


def _plain(value: Any) -> Any:
    """A value of OTLP's JSON as plain JSON."""
    if not isinstance(value, dict):
        return value
    inner = value.get("arrayValue", value.get("kvlistValue"))
    if isinstance(inner, dict):
        values = [each for each in inner.get("values", []) if isinstance(each, dict)]
        if "arrayValue" in value:
            return [_plain(each) for each in values]
        return {str(each.get("key")): _plain(each.get("value")) for each in values}
    return next(iter(value.values()), None)


def _listed(row: Row, values: Mapping[str, Any], name: str) -> list[Any]:
    place, value = f"{row.place}: {name}", values.get(name)
    return listed(place, parse_json(place, value) if isinstance(value, str) else value)


def of_observations(rows: Sequence[Row], fields: Mapping[str, str]) -> Iterator[Found]:
    """langfuse: of each trace the last generation, whose input holds what was said before."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        for each in _observed(row):
            name = as_text(_value(each, "traceId", "trace_id")) or _id(row, fields) or row.place
            traces.setdefault(name, []).append(each)
    for name, observed in traces.items():
        observed.sort(key=lambda o: str(_value(o, "startTime", "start_time") or ""))
        generations = [o for o in observed if str(o.values.get("type")).upper() == "GENERATION"]
        if not generations:
            raise InputError(f"{observed[0].place}: trace '{name}': no GENERATION; must have at least one")
        last = max(generations, key=lambda o: len(_said_before(o)))
        place = f"{last.place}: input"
        messages = [*_said_before(last), *_given(_value(last, "output"))]
        yield Found(name, read_messages(place, messages), last)


def _observed(row: Row) -> list[Row]:
    """The observations of a trace, or the row itself."""
    nested = row.values.get("observations")
    if nested is None:
        return [row]
    place = f"{row.place}: observations"
    rows = enumerate(listed(place, nested))
    return [Row(f"{place}[{i}]", each) for i, each in rows if isinstance(each, dict)]


def _said_before(generation: Row) -> list[Any]:
    messages = _value(generation, "input")
    if isinstance(messages, dict) and "messages" in messages:
        messages = messages["messages"]
    return messages if isinstance(messages, list) else [{"role": "user", "content": as_said("", messages)}]


def _given(output: Any) -> list[Any]:
    """The output of a generation as messages."""
    if choices := _inner(output, "choices"):
        output = [choices[0].get("message")] if isinstance(choices[0], dict) else []
    if isinstance(output, list):
        return output
    if isinstance(output, dict) and ("role" in output or "content" in output or "tool_calls" in output):
        return [{"role": "assistant", **output}]
    return [] if output is None else [{"role": "assistant", "content": as_said("", output)}]


def reader_of(rows: Table, fields: Mapping[str, str]) -> Reader | None:
    """What reads these rows as conversations; None if they are none."""
    first = next((row for row in rows.rows if not row.broken), rows.rows[0])
    if rows.has(fields.get("messages", "messages")):
        return of_messages
    if rows.has("turns"):
        return of_turns
    if any(_INPUT in attributes(row) for row in rows.rows[:50]):
        return of_spans
    if isinstance(first.values.get("observations"), list) or (
        {"traceId", "trace_id"} & set(rows.columns) and rows.has("type")
    ):
        return of_observations
    return None


TASK = "conversation"
_TEXT_COLUMNS = ("output", "perturbed")
"""Columns of files that the core reads, as tables of texts or as logs."""
_FIELDS = ("id", "messages", "language")
_COPIED = ("language", "cluster", "reference")
"""Columns that become fields of an example."""


def conversations(asked: Request) -> Dataset | None:
    """The conversations of a file or of rows in memory; None for other data.

    Files that hold an output beside the messages, as logs of inspect_ai and observations of langfuse do, are
    conversations if `judge_part` is set. Raises `InputError` with file and place for an unknown part and
    for conversations that cannot be read.
    """
    part = _part(asked.judge_part)
    certain = asked.judge_part is not None or asked.task == TASK
    rows = open_rows(asked.source, certain)
    if rows is None or (reader := reader_of(rows, asked.fields)) is None:
        return None
    if not certain and any(rows.has(name) or name in asked.fields for name in _TEXT_COLUMNS):
        return None
    for name in asked.fields:
        one_of("field", name, _FIELDS, "`fields`")
    chosen = chosen_rows(rows, asked.where) if asked.where else rows
    if reader in (of_messages, of_turns):
        read: Iterable[Found] = _each_row(chosen, reader, asked)
    else:
        read = reader([sound(row) for row in chosen.rows], asked.fields)
    examples = spooled(_example(each, number, part, asked) for number, each in enumerate(read, 1))
    if not examples:
        raise InputError(f"{rows.name}: no conversation in it; must have at least one")
    task = asked.task if isinstance(asked.task, Task) else read_task(asked.task or TASK)
    suite = own_suite(read_task(TASK), with_llm=False)
    dataset = Dataset(asked.name, examples, task, suite, examples, split=split_example)
    return dataset.in_languages(None, asked.language or task.output_language)


def _each_row(rows: Table, reader: Reader, asked: Request) -> list[Found]:
    """A conversation of each row; rows that hold none are left out, see `leave_out`."""
    kept: list[Found] = []
    reasons: dict[str, list[str]] = {}
    for row in rows.rows:
        try:
            kept += reader([sound(row)], asked.fields)
        except InputError as e:
            reasons.setdefault(str(e).removeprefix(f"{row.place}: "), []).append(row.place)
    if len(reasons) == 1 == len(rows.rows):
        raise InputError(f"{rows.rows[0].place}: {next(iter(reasons))}")
    leave_out(rows.name, reasons, len(rows.rows), strict=asked.strict)
    return kept


def _part(name: str | None) -> Part:
    for part in PARTS:
        if part == (name or "run"):
            return part
    raise InputError(f"`judge_part`: unknown part '{name}'; {suggest(str(name), PARTS)}")


def _example(conversation: Found, number: int, part: Part, asked: Request) -> Example:
    judged = Judged.split(conversation.turns, part)
    name = conversation.id or str(number)
    fields = {CONVERSATION: to_json(conversation.turns), PART: part, "cluster": name}
    for column in _COPIED:
        if (text := as_text(conversation.row.value(asked.fields.get(column, column)))) is not None:
            fields[column] = conversation.row.encodable(column, text)
    output = conversation.row.encodable("messages", judged.output)
    return Example(name, conversation.row.encodable("messages", judged.source), output, fields)
