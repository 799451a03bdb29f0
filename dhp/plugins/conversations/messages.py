"""Messages of OpenAI, inspect_ai, Anthropic and OpenTelemetry as turns; they differ in names alone.

`turns_of` reads one message: its parts are texts, calls or results (`_add_part`). `checked` then looks at the
turns of a whole conversation: each result follows its call, and the assistant says something.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dhp.core.errors import InputError, one_of, suggest
from dhp.plugins.conversations.conversation import ROLES, Call, Role, Turn, Turns, json_text

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "developer": "system",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
}
"""What the forms call a role -> our word."""
_TEXTS = ("text", "input_text", "output_text", "refusal")
"""Types of the parts that say something."""
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
"""Types of calls and of their results: Anthropic's, OpenTelemetry's, OpenAI's."""
_PARTS = (*_TEXTS, *_THOUGHTS, *_MEDIA, *_CALLS, *_RESULTS)
_RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id", "id")
"""Names under which the forms have the id of the call that a result is of."""
_RESULT_TEXTS = ("content", "response", "result", "output")
"""Names under which they have the result itself."""


@dataclass(slots=True)
class _Content:
    """The content of one message."""

    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Turn] = field(default_factory=list)


def read_messages(place: str, messages: object) -> Turns:
    """The turns of a list of messages.

    Raises `InputError` with the place for an empty list, a message without role, a result without call and
    parts of an unknown type.
    """
    all_messages = listed(place, messages)
    if not all_messages:
        raise InputError(f"{place}: is empty; must have at least one message of the assistant")
    turns: list[tuple[str, Turn]] = []
    for number, message in enumerate(all_messages):
        at = f"{place}[{number}]"
        turns += [(at, turn) for turn in turns_of(at, message)]
    return checked(place, turns)


def checked(place: str, turns: Sequence[tuple[str, Turn]]) -> Turns:
    """The turns, each with its place in the file; no two calls have the same id.

    Raises `InputError` for a result without call and if the assistant is silent.
    """
    ids: dict[str, str] = {}  # id of a call in the file -> ours
    made: set[str] = set()  # all of ours
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
            # An id may come again in a later turn; a result belongs to the last call of its id.
            identity = call.id
            if identity in made:
                identity = f"{call.id}#{len(made)}"
            ids[call.id] = identity
            made.add(identity)
        calls = tuple(replace(call, id=ids[call.id]) for call in turn.calls)
        turns_kept.append(replace(turn, calls=calls))
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
        # OpenAI's responses have calls and results as items of their own beside the messages.
        content = _Content()
        _add_part(place, message, content)
        yield from content.results
        if content.calls:
            yield Turn("assistant", "", tuple(content.calls))
        return
    role = _role(place, message)
    content = _content(place, message)
    if role == "tool" and not content.results:  # OpenAI's: the message itself is the result
        yield _result(place, message, "\n\n".join(content.texts))
        return
    # Anthropic's results of tools stand in a message of the user, before its text.
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
    if role not in _ROLES:  # the message names the usual words alone
        one_of("role", role, ROLES, f"{place}.role")
    return _ROLES[role]


def _content(place: str, message: Mapping[str, Any]) -> _Content:
    content = _Content()
    # OpenTelemetry says `parts`, the others `content`.
    key = "parts" if "parts" in message else "content"
    value = message.get(key)
    if value is None:
        # OpenAI's: a model that refuses has no content.
        value = message.get("refusal") or []
    if isinstance(value, str):
        if value.strip():
            content.texts.append(value)
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
    if not isinstance(part, dict):
        raise InputError(f"{place}: a {type(part).__name__} is unknown; {suggest('None', _PARTS)}")
    kind = part.get("type")
    if kind not in _PARTS:
        raise InputError(f"{place}: type '{kind}' is unknown; {suggest(str(kind), _PARTS)}")
    # Thoughts are in none of these groups, and so are left out.
    if kind in _TEXTS:
        text = str(part.get("text") or part.get("content") or part.get("refusal") or "")
        if text.strip():
            content.texts.append(text)
    elif kind in _MEDIA:
        word = str(kind).removeprefix("input_").removesuffix("_url")  # "[image]" for an "input_image"
        content.texts.append(f"[{word}]")
    elif kind in _CALLS:
        content.calls.append(_call(place, part))
    elif kind in _RESULTS:
        result = _first_of(part, _RESULT_TEXTS)
        content.results.append(_result(place, part, as_said(place, result)))


def _first_of(values: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first value that is there under one of the names; None without any."""
    for name in names:
        if values.get(name) is not None:
            return values[name]
    return None


def as_said(place: str, value: object) -> str:
    """A value as text: a list of parts as their texts, any other structure as JSON."""
    if isinstance(value, str):
        return value
    # Any other list is data, such as rows that a tool gave.
    if isinstance(value, list) and value and all(_is_part(each) for each in value):
        return "\n\n".join(_content(place, {"content": value}).texts)
    return "" if value is None else json_text(value)


def _is_part(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") in _PARTS


def _call(place: str, value: object) -> Call:
    """A call: OpenAI's, inspect_ai's, Anthropic's or OpenTelemetry's."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: is of type {type(value).__name__}; must be a call with id and name")
    function = value.get("function")
    inner = function if isinstance(function, dict) else value  # OpenAI's calls have a function within
    # In inspect_ai's calls `function` is the name itself.
    name = inner.get("name") or (function if isinstance(function, str) else None)
    if not isinstance(name, str) or not name:
        raise InputError(f"{place}: a call without a name; must have the name of a tool")
    # Items of OpenAI's responses have both; it is the `call_id` that results name.
    identity = value.get("call_id") or value.get("id")
    if not isinstance(identity, str) or not identity:
        raise InputError(f"{place}: call of '{name}' has no id; must have a text that its result names")
    arguments: object = inner.get("arguments")
    if arguments is None:
        arguments = inner.get("input")  # Anthropic's word
    return Call(identity, name, arguments_text({} if arguments is None else arguments))


def arguments_text(value: object) -> str:
    """Arguments as JSON text in one form of white space, as they are if they are no JSON."""
    if not isinstance(value, str):
        return json_text(value)
    # Some calls without arguments hold an empty text instead of an empty object.
    if not value.strip():
        return "{}"
    try:
        return json_text(json.loads(value))
    except ValueError:
        return value


def _result(place: str, message: Mapping[str, Any], text: str) -> Turn:
    texts = {name: message[name] for name in _RESULT_IDS if isinstance(message.get(name), str)}
    identity = _first_of(texts, _RESULT_IDS)
    if identity is None:
        raise InputError(
            f"{place}: a result without call; must have tool_call_id, the id of a call before it"
        )
    error = message.get("error")
    if isinstance(error, dict):  # inspect_ai's, which the text of the result may hold already
        error_text = str(error.get("message") or error.get("type") or "")
        if error_text not in text:
            text = f"{text}\n{error_text}".strip()
    failed = bool(error) or message.get("is_error") is True  # inspect_ai's word; Anthropic's
    return Turn("tool", text, (), identity, failed)
