"""How servers of today answer: what they refuse, in which words, and in which forms answers come."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.server import Answer, Call, refusal, reply

Says = Callable[[Call], Answer | None]


@dataclass(frozen=True)
class Server:
    """A server, what is asked of it, and how the run must end."""

    says: Says
    code: int = 0
    said: str = ""
    """Words that must be among the messages."""
    more: tuple[str, ...] = ()
    """Further options."""
    scored: float = 1.0
    """Least share of scores, if the run ends well."""
    by_litellm: bool = True
    """Whether the package litellm can read what the server answers."""


def refuses(name: str, message: str, status: int = 400, then: Says = lambda call: reply("4")) -> Says:
    """Refuses requests that have a field."""
    return lambda call: refusal(status, message) if name in call.body else then(call)


def choice(finish: str = "stop", logprobs: object = None, **message: object) -> Answer:
    """An answer of one choice."""
    only = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return reply(choices=[only if logprobs is None else {**only, "logprobs": logprobs}])


def weighed(*tops: tuple[str, float | None]) -> Answer:
    """The answer 4 with the log-probabilities of its alternatives."""
    listed = [{"token": token, "logprob": logprob} for token, logprob in tops]
    place = {"token": "4", "logprob": -0.1, "top_logprobs": listed}
    return choice(content="4", logprobs={"content": [place]})


def stream(*pieces: object, head: str = "") -> Answer:
    """An answer in chunks."""
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
    lines = [head, *(f"data: {json.dumps({**common, **chunk})}" for chunk in chunks), "data: [DONE]", ""]
    return 200, {"Content-Type": "text/event-stream"}, "\n\n".join(filter(None, lines)) + "\n\n"


def streams_only(call: Call) -> Answer:
    """Refuses whatever is not to come in chunks."""
    if call.body.get("stream"):
        return stream("Rating", ": 4")
    return refusal(400, "This model only support stream mode, please enable the stream parameter.")


def is_one_in_ten(call: Call) -> bool:
    """Whether a call is of a prompt among others, the same each time."""
    return sum(call.body["messages"][-1]["content"].encode()) % 10 == 3


def one_in_ten(then: Answer | None, otherwise: Says = lambda call: reply("4")) -> Says:
    """Answers some prompts in another way."""
    return lambda call: then if is_one_in_ten(call) else otherwise(call)


def asked_again(call: Call) -> bool:
    """Whether it is the second request of a conversation."""
    return len(call.body["messages"]) > 1


PROB = ("--protocol", "g-eval-prob")
PROB_OR_PARSE = (*PROB, "--extraction", "prob-or-parse")
SAMPLES = ("--samples", "2")
NO_LOGPROBS = "You are not allowed to request logprobs from this model"
PARTS = [{"type": "reasoning", "text": "Rating: 2?"}, {"type": "text", "text": "Rating: 4"}]
THINKING = [{"type": "thinking", "thinking": [{"type": "text", "text": "2?"}]}, {"type": "text", "text": "4"}]
HALF = ("4", -0.1), ("5", None), ("3", -3.0)
N_REFUSED = {
    "multiple candidates": "Multiple candidates is not enabled for this model",
    "completion choice": "Only one completion choice is allowed",
    "candidateCount": "Unable to submit request because candidateCount must be 1",
    "its bare name": "n must be 1 for this model",
}


def _cut_off(call: Call) -> Answer:
    if call.body["max_tokens"] > 1000:
        return reply("4")
    return refusal(400, "Could not finish the message because max_tokens or model output limit was reached.")


def _detail(call: Call) -> Answer | None:
    fault = {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": call.body}
    return (422, {}, {"detail": [fault]}) if "seed" in call.body else reply("4")


def _servers() -> Iterator[tuple[str, Server]]:
    for name, message in N_REFUSED.items():
        yield f"refuses n by {name}", Server(refuses("n", message), said="one by one", more=SAMPLES)
    yield "refuses seed, 422 with a list", Server(_detail, said="refuses seed", more=("--temperature", "0.5"))
    message = "`temperature` is deprecated for this model."
    yield (
        "refuses temperature",
        Server(
            refuses("temperature", message),
            2,
            f"--temperature default leaves it to the model (HTTP 400: {message}",
        ),
    )
    message = "Unsupported parameter: 'max_tokens' is not supported with this model."
    yield "refuses max_tokens", Server(refuses("max_tokens", message), said="max_completion_tokens is sent")
    yield "refuses logprobs, 403", Server(refuses("logprobs", NO_LOGPROBS, 403), more=PROB_OR_PARSE)
    yield (
        "refuses logprobs that are needed",
        Server(refuses("logprobs", NO_LOGPROBS), 2, "--extraction parse", PROB),
    )
    yield (
        "refuses a field of --body",
        Server(refuses("num_ctx", "Unknown field num_ctx"), 2, "--body", ("--body", "num_ctx=8")),
    )
    yield (
        "takes fields of --body",
        Server(
            lambda call: reply("4" if call.body.get("options") == {"a": [1]} else "none"),
            more=("--body", 'options={"a": [1]}'),
        ),
    )
    least = "Invalid 'max_output_tokens': integer below minimum value. Expected >= 64, but got 16 instead."
    yield "wants more tokens", Server(lambda call: refusal(400, least), 2, "--answer-tokens")
    yield "ends without an answer at max_tokens", Server(_cut_off, said="cut at 16 tokens")
    words = "`max_tokens` must be greater than `thinking.budget_tokens`"
    yield "names our options in words of its own", Server(lambda call: refusal(400, words), 2, words)
    yield (
        "gives reasoning alone",
        Server(lambda call: choice(content="", reasoning_content="4"), 3, "--body chat_template"),
    )
    yield (
        "gives reasoning alone, named otherwise",
        Server(lambda call: choice(content=None, reasoning="4"), 3, "reasoning parser"),
    )
    yield "gives reasoning beside", Server(lambda call: choice(content="4", reasoning_content="Rating: 2"))
    yield "gives parts, one a thought", Server(lambda call: choice(content=PARTS), by_litellm=False)
    yield "gives parts, one of type thinking", Server(lambda call: choice(content=THINKING), by_litellm=False)
    yield "streams though not asked", Server(lambda call: stream("Rating", ": 4"), by_litellm=False)
    yield "streams with comments", Server(lambda call: stream("4", head=": PROCESSING"), by_litellm=False)
    yield "streams only", Server(streams_only, said="asked for as streams")
    error = {"error": {"message": "no capacity", "code": 502}}
    yield (
        "streams an error",
        Server(lambda call: (200, {}, f"data: {json.dumps(error)}\n\n"), 3, "no capacity", by_litellm=False),
    )
    yield "blocks one prompt in ten, no choices", Server(one_in_ten(reply(choices=None)), scored=0.7)
    yield "blocks one prompt in ten, empty choices", Server(one_in_ten(reply(choices=[])), scored=0.7)
    yield "gives no choices at all", Server(lambda call: reply(choices=[]), 2, "holds no choices")
    yield "leaves a log-probability null", Server(lambda call: weighed(*HALF), more=PROB)
    yield (
        "leaves its own log-probability null",
        Server(lambda call: weighed(("4", None), ("3", -3.0)), more=PROB),
    )
    empty = choice(content="4", logprobs={"content": []})
    yield "gives empty log-probabilities", Server(lambda call: empty, 3, "empty list", PROB)
    yield (
        "gives some empty log-probabilities",
        Server(one_in_ten(empty, lambda call: weighed(*HALF)), 0, "empty list", PROB, 0.7),
    )
    yield (
        "gives empty log-probabilities that are not needed",
        Server(lambda call: empty, 0, "empty list", PROB_OR_PARSE),
    )
    yield (
        "answers when asked again",
        Server(
            lambda call: reply("4" if asked_again(call) else "It reads well."), said="answers asked again"
        ),
    )
    yield "never answers in a form", Server(lambda call: reply("It reads well."), 3, "none of the first")


SERVERS = dict(_servers())
