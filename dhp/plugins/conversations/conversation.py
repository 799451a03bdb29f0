"""A conversation: its turns, the part of it that is judged, and how a judge sees it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dhp.core.errors import NotApplicable
from dhp.core.records import Example

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)
Part = Literal["answer", "turn", "run"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The last answer; the last turn of the assistant with its calls; the whole run."""
CONVERSATION, PART = "conversation", "judge_part"
"""Fields of an example: its turns as JSON, and the part that is judged. No judge sees them."""
_INDENT = "  "
_BREAK = re.compile(r"\r\n|[\n\v\f\r\x85\u2028\u2029]")
"""Whatever a reader may take for the end of a line, so that no text can look like a turn."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    id: str
    name: str
    arguments: str
    """JSON text in one form of white space; as it was if it is no JSON."""

    @property
    def values(self) -> dict[str, Any]:
        """The arguments; empty if they are no JSON object."""
        try:
            values = json.loads(self.arguments)
        except ValueError:
            return {}
        return values if isinstance(values, dict) else {}

    def with_values(self, values: Mapping[str, Any]) -> "Call":
        """The call with other arguments."""
        return replace(self, arguments=json_text(values))


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said or did."""

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    """Calls of tools, of the assistant alone."""
    result_of: str | None = None
    """Id of the call whose result this is, of tools alone."""
    error: bool = False
    """Whether the tool failed."""

    @property
    def answers(self) -> bool:
        """Whether the assistant says something and calls no tool with it."""
        return self.role == "assistant" and bool(self.text) and not self.calls


Turns = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A conversation with the part of it that is judged."""

    before: Turns
    """What a judge sees beside it."""
    turns: Turns
    """What is judged; its last answer is the outcome of the run."""
    part: Part

    @classmethod
    def of(cls, example: Example) -> "Judged":
        """The conversation of an example; raises `NotApplicable` for a plain text."""
        if CONVERSATION not in example.fields:
            raise NotApplicable("the text is no conversation")
        # `Any` for the type checker: a field may be any text, but our reader writes only parts here.
        part: Any = example.fields.get(PART, "run")
        return cls.split(from_json(example.fields[CONVERSATION]), part)

    @classmethod
    def split(cls, turns: Turns, part: Part) -> "Judged":
        """The part of these turns; the assistant must say something in them."""
        if part == "run":  # all but the system messages in front
            start = 0
            while turns[start].role == "system":
                start += 1
            return cls(turns[:start], turns[start:], part)

        # There is one: the readers refuse conversations in which the assistant is silent.
        last = len(turns) - 1  # the last turn in which the assistant says something
        while turns[last].role != "assistant" or not turns[last].text:
            last -= 1
        if part == "answer":
            return cls(turns[:last], (Turn("assistant", turns[last].text),), part)

        # A turn begins after the last thing that the user said, with the calls that it makes.
        start = last
        while start > 0 and turns[start - 1].role not in ("user", "system"):
            start -= 1
        return cls(turns[:start], turns[start : last + 1], part)

    @property
    def answers(self) -> list[int]:
        """Where in `turns` the assistant answers without a call."""
        return [i for i, turn in enumerate(self.turns) if turn.answers]

    @property
    def calling(self) -> list[int]:
        """Where in `turns` the assistant calls tools."""
        return [i for i, turn in enumerate(self.turns) if turn.calls]

    def step(self, i: int) -> Turns:
        """The turn at `i`, and the results of its calls, which follow it."""
        end = i + 1
        while end < len(self.turns) and self.turns[end].role == "tool":
            end += 1
        return self.turns[i:end]

    def shown(self, turns: Sequence[Turn]) -> str:
        """How a judge sees these turns instead of the judged ones."""
        if self.part == "answer":
            return "\n\n".join(turn.text for turn in turns)
        return transcript(turns)

    def with_texts(self, texts: Mapping[int, str]) -> str:
        """How a judge sees the judged turns with other texts at these places."""
        turns = list(self.turns)
        for place, text in texts.items():
            turns[place] = replace(turns[place], text=text)
        return self.shown(turns)

    @property
    def output(self) -> str:
        """The judged part as a judge sees it."""
        return self.shown(self.turns)

    @property
    def source(self) -> str:
        """What a judge sees beside it."""
        return transcript(self.before)


def transcript(turns: Iterable[Turn]) -> str:
    """The turns as plain text. Only labels begin a line; whatever was said is indented."""
    lines: list[str] = []
    for turn in turns:
        lines += _lines(turn)
    return "\n".join(lines)


def _lines(turn: Turn) -> Iterator[str]:
    if turn.role == "tool":
        failed = " (error)" if turn.error else ""
        yield f"Result of {turn.result_of}{failed}:"
        yield _indented(turn.text)
        return
    # A turn that only calls has no text to show; one that does nothing at all is shown as empty.
    if turn.text or not turn.calls:
        yield f"{turn.role.capitalize()}:"
        yield _indented(turn.text)
    for call in turn.calls:
        yield f"Assistant calls {call.name} ({call.id}):"
        yield _indented(call.arguments)


def _indented(text: str) -> str:
    return _INDENT + _BREAK.sub(lambda match: match[0] + _INDENT, text or "(nothing)")


def json_text(value: object) -> str:
    """JSON in the form in which all arguments are shown."""
    return json.dumps(value, ensure_ascii=False)


def to_json(turns: Sequence[Turn]) -> str:
    """The turns as a field of an example holds them."""
    rows = []
    for turn in turns:
        # Lists in the order of the fields of `Call` and `Turn`: `from_json` goes by their places.
        calls = [[call.id, call.name, call.arguments] for call in turn.calls]
        rows.append([turn.role, turn.text, calls, turn.result_of, turn.error])
    return json_text(rows)


def from_json(text: str) -> Turns:
    """The turns of `to_json`."""
    turns = []
    for role, words, rows, result_of, error in json.loads(text):
        calls = tuple(Call(*row) for row in rows)
        turns.append(Turn(role, words, calls, result_of, error))
    return tuple(turns)


def split_example(example: Example) -> tuple[list[str], Callable[[Sequence[str]], str]]:
    """The assistant's texts in the judged part, and a function that shows the part with other texts."""
    judged = Judged.of(example)
    spoken = [i for i, turn in enumerate(judged.turns) if turn.role == "assistant" and turn.text]

    def joined(texts: Sequence[str]) -> str:
        return judged.with_texts(dict(zip(spoken, texts, strict=True)))

    return [judged.turns[i].text for i in spoken], joined
