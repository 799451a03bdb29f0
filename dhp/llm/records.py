"""Requests to a language model and its replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dhp.core.hiding import HIDDEN, hidden

ONLY_REASONING = "reasoning"
"""`Reply.finish` of an answer without text whose server gave reasoning beside it."""
FINISHES: Mapping[str, str] = {
    "length": "the answer was cut off",
    "content_filter": "the model refused",
    "tool_calls": "a tool call instead of a text",
    ONLY_REASONING: "reasoning without an answer",
}
"""`Reply.finish` of an answer that is no whole text -> what that means."""


@dataclass(frozen=True, slots=True)
class Params:
    """How an answer is to be generated; part of the key under which it is stored."""

    temperature: float | None
    """Sampling temperature; None leaves it to the model."""
    top_p: float | None
    """Nucleus sampling; None leaves it to the model."""
    max_tokens: int
    """Maximum number of tokens of one answer."""
    seed: int | None = None
    """Seed of sample 0; sample i gets seed + i if samples are asked one by one."""
    top_logprobs: int = 0
    """Number of alternatives of each generated token to return with their log-probabilities; 0 for none."""
    body: tuple[tuple[str, str], ...] = ()
    """Further fields of the request, each with its value as JSON."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and the samples wanted of its answer."""

    prompt: str
    params: Params
    samples: tuple[int, ...]
    """Numbers of the samples; each is answered and stored on its own."""
    place: str
    """Subject of the request for messages, e.g. `example 'a', variant 'original', metric 'fluency'`."""
    group: str = ""
    """Requests of one group share a long beginning and follow one another."""
    tag: object = field(default=None, compare=False)
    """Data of the caller, and of a function that judges its arguments; no part of what is stored."""
    before: tuple[tuple[str, str], ...] = ()
    """Messages before the prompt, each (role, text) with the role `system`, `user` or `assistant`."""
    keys: Mapping[int, bytes] = field(default_factory=dict, compare=False)
    """Sample -> its key in the store; empty until it is looked up, unless the caller sets it."""

    def left(self, missing: Mapping[int, bytes]) -> "Request":
        """The request for the samples without a reply; `missing` has their keys."""
        # `dataclasses.replace` takes ten times as long, and every call passes here.
        return Request(
            self.prompt,
            self.params,
            tuple(missing),
            self.place,
            self.group,
            self.tag,
            self.before,
            missing,
        )

    @property
    def messages(self) -> list[dict[str, str]]:
        """All messages as chat models take them, the prompt last; what is no Unicode text is replaced."""
        messages = []
        for role, text in (*self.before, ("user", self.prompt)):
            # Half a pair of surrogates, as broken data may hold, would not go into JSON.
            messages.append({"role": role, "content": text.encode(errors="replace").decode()})
        return messages

    @property
    def text(self) -> str:
        """All that is sent, as one text; for counting."""
        if not self.before:
            return self.prompt
        before = [text for _, text in self.before]
        return "\n\n".join([*before, self.prompt])

    @property
    def tokens(self) -> float:
        """Estimated number of prompt tokens."""
        return estimated_tokens(self.text)


def estimated_tokens(text: str) -> float:
    """About how many tokens a text has: a quarter of its bytes, the usual rule of thumb for English.

    By bytes, as a letter of Chinese has three of them and takes more of a token.
    """
    return len(text.encode(errors="replace")) / 4


@dataclass(frozen=True, slots=True)
class Position:
    """Log-probabilities at one place of an answer."""

    chosen: str
    """The token that was generated."""
    alternatives: tuple[tuple[str, float], ...]
    """Tokens with their natural log-probabilities; the same text may stand more than once."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One sample of an answer."""

    text: str
    finish: str
    """Why it ended: `stop`, `length`, `content_filter`, `tool_calls`, `reasoning` (nothing came but that) or
    other fields of the server."""
    prompt_tokens: int
    """Number of prompt tokens of the whole call, on its first reply; 0 on the others."""
    completion_tokens: int
    """Number of completion tokens of the whole call, on its first reply; 0 on the others."""
    calls: int
    """Number of calls: 1 on the first reply of each call, 0 on the others, so that the sum counts calls."""
    positions: tuple[Position, ...] | None = None
    """Log-probabilities, if they were asked for and given; empty if this answer alone has none."""
    answered_by: str = ""
    """Name of the model in the answer; empty if it names none."""
    cached_tokens: int = 0
    """Number of prompt tokens that the server had cached, on the first reply of a call; not stored."""

    def __post_init__(self) -> None:
        """Hide secrets that a server repeats, also piece by piece in its tokens, before anything is read."""
        for name in ("text", "finish", "answered_by"):
            text = getattr(self, name)
            shown = hidden(text)
            if shown != text:
                object.__setattr__(self, name, shown)
        if self.positions and _repeat_a_secret(self.positions):
            object.__setattr__(self, "positions", tuple(Position(HIDDEN, ()) for _ in self.positions))


def _repeat_a_secret(positions: Sequence[Position]) -> bool:
    """Whether the tokens of an answer, one after the other or by themselves, hold a secret."""
    texts = ["".join(position.chosen for position in positions)]
    for position in positions:
        texts += [token for token, _ in position.alternatives]
    return any(hidden(text) != text for text in texts)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no reply."""

    reason: str
    passing: bool = False
    """Whether the same request may be answered another time: the fault is not its own."""


Outcomes = Mapping[int, Reply | Failure]
"""Number of a sample -> its reply, or why there is none."""
Answer = tuple[Request, Outcomes]
"""A request with one outcome for each of its samples."""
