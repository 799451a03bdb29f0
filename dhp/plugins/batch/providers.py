"""Providers of batches: OpenAI, Anthropic, Gemini through their packages, imported when used.

Each provider is sent OpenAI's form, translated where its own differs, and returns results in OpenAI's form,
so that files, store and errors need to know this form alone. For each there is a class with the five methods
of `Provider`, the functions that translate, and a record `BatchProvider` with what can be checked without its
package: key, address, and whether it takes several samples at once.
"""

import itertools
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from dhp.core.errors import InputError, one_of, require
from dhp.core.files import json_line
from dhp.core.plugins import load_target, offered
from dhp.core.writing import new_file
from dhp.llm.clients.connection import public
from dhp.llm.clients.servers import SERVERS


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a batch."""

    progress: str
    """In the provider's word, with counts if it gives them."""
    ended: bool
    """Whether nothing more will come."""
    failed: str = ""
    """Why the batch as a whole was refused."""
    answers: int = 0
    """Number of answers that the provider says it holds; 0 if it does not say."""
    every: bool = False
    """Whether there must be a result of every request, an answer or an error."""


class Provider(Protocol):
    """Answers files of requests in OpenAI's form."""

    def submit(self, path: Path, tag: str) -> str:
        """Send a file; returns the name of the batch at the provider."""
        ...

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        """The batch that was sent under a tag, if its name was lost.

        `count` is the number of its requests, `since` the time of sending in seconds since 1970; `known`
        are the names of others, which it cannot have.
        """
        ...

    def state(self, batch: str) -> State:
        """The progress of the batch."""
        ...

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        """Result lines of the batch in OpenAI's format; also answers of an expired or cancelled batch."""
        ...

    def cancel(self, batch: str) -> None:
        """Let the provider stop; what is answered by then is kept and paid."""
        ...


_LATEST = 1000
"""Batches that are looked through for a lost one, the newest first. Chosen: one is looked for soon."""

_OPENAI_ENDED = ("completed", "expired", "cancelled", "failed")
"""Statuses of OpenAI's batches after which nothing more comes."""
_OPENAI_TAG = "dhp"
"""Name of our tag in the metadata of a batch."""


class OpenAIBatches:
    """See `Provider`; a batch has its tag in its metadata."""

    def __init__(self, endpoint: str) -> None:
        import openai

        # A key goes to the provider alone: no client here follows a redirect.
        stays = openai.DefaultHttpxClient(follow_redirects=False)
        self._client = openai.OpenAI(base_url=endpoint, http_client=stays)

    def submit(self, path: Path, tag: str) -> str:
        with path.open("rb") as file:
            sent = self._client.files.create(file=file, purpose="batch")
        once = self._client.with_options(max_retries=0)  # a lost answer does not mean a lost batch
        batch = once.batches.create(
            input_file_id=sent.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_OPENAI_TAG: tag},
        )
        return batch.id

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.batches.list(limit=100), _LATEST):
            metadata = batch.metadata or {}
            if metadata.get(_OPENAI_TAG) == tag:
                return batch.id
        return None

    def state(self, batch: str) -> State:
        remote = self._client.batches.retrieve(batch)
        counts = remote.request_counts
        progress: str = remote.status
        if counts:
            progress += f", {counts.completed} of {counts.total} answered"
        failed = ""
        if remote.status == "failed":
            reasons = []
            if remote.errors and remote.errors.data:
                for error in remote.errors.data[:3]:  # the first ones say enough; there may be one a line
                    reasons.append(error.message or error.code or "")
            failed = "; ".join(reasons) or "no reason given"
        answers = counts.completed if counts else 0
        return State(progress, remote.status in _OPENAI_ENDED, failed, answers)

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        remote = self._client.batches.retrieve(batch)
        for file in (remote.output_file_id, remote.error_file_id):
            if file:
                with self._client.files.with_streaming_response.content(file) as answer:
                    yield from _json_lines(answer.iter_bytes())

    def cancel(self, batch: str) -> None:
        self._client.batches.cancel(batch)


def _json_lines(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The values of lines that end by a line feed alone, from pieces of any size."""
    rest = b""
    for piece in itertools.chain(pieces, [b"\n"]):
        *whole, rest = (rest + piece).split(b"\n")  # what stands behind the last line feed goes on
        for line in whole:
            if line.strip():
                yield json.loads(line)


# Reasons to stop, and their words at OpenAI.
_ANTHROPIC_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
}
_ANTHROPIC_STATUS = {"invalid_request_error": 400, "authentication_error": 401, "not_found_error": 404}
"""Kinds of errors with the status that means the same; others may pass."""
_ANTHROPIC_CONVERTED = (
    "model",
    "max_tokens",
    "max_completion_tokens",
    "messages",
    "n",
    "seed",
    "response_format",
)
"""Fields of a chat completion that Anthropic has in another form, or not at all."""
_SKEW = 60.0
"""Seconds by which the clock here may be ahead of that there. Chosen."""


class AnthropicBatches:
    """See `Provider`. A request has one sample; a batch has no tag: a lost one is known by size and age."""

    def __init__(self, endpoint: str) -> None:
        import anthropic

        stays = anthropic.DefaultHttpxClient(follow_redirects=False)
        self._client = anthropic.Anthropic(http_client=stays)  # address and key from the environment

    def submit(self, path: Path, tag: str) -> str:
        with path.open("rb") as lines:
            requests: list[Any] = [_anthropic_request(line) for line in map(json.loads, lines)]
        once = self._client.with_options(max_retries=0)  # a lost answer does not mean a lost batch
        return str(once.messages.batches.create(requests=requests).id)

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.messages.batches.list(limit=100), _LATEST):
            is_newer = batch.created_at.timestamp() >= since - _SKEW
            if is_newer and _anthropic_total(batch) == count and batch.id not in known:
                return str(batch.id)
        return None

    def state(self, batch: str) -> State:
        remote = self._client.messages.batches.retrieve(batch)
        status, answers = remote.processing_status, remote.request_counts.succeeded
        progress = f"{status}, {answers} of {_anthropic_total(remote)} answered"
        return State(progress, status == "ended", answers=answers)

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        named = self._client.messages.batches.retrieve(batch).results_url or ""
        if urlsplit(named).netloc not in ("", self._client.base_url.netloc.decode()):
            raise InputError(f"batch {batch}: its results are said to lie at another host, {public(named)}")
        for line in self._client.messages.batches.results(batch):
            yield _anthropic_result(line.model_dump(mode="json"))

    def cancel(self, batch: str) -> None:
        self._client.messages.batches.cancel(batch)


def _anthropic_total(batch: Any) -> int:
    """Number of requests of a batch."""
    counts = batch.request_counts
    states = counts.processing, counts.succeeded, counts.errored, counts.canceled, counts.expired
    return sum(states)


def _anthropic_request(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line in OpenAI's form as a request of Anthropic's."""
    body = line["body"]
    if "logprobs" in body:
        raise InputError(
            "`batch` anthropic: gives no log-probabilities; allowed: `extraction` parse or another provider"
        )
    system, others = _system_and_others(body["messages"])
    params: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_tokens") or body.get("max_completion_tokens"),
        "messages": others,
    }
    if system:
        params["system"] = system
    # Further fields of the user's own go along as they are.
    further = {name: value for name, value in body.items() if name not in _ANTHROPIC_CONVERTED}
    params.update(further)
    return {"custom_id": line["custom_id"], "params": params}


def _system_and_others(messages: Iterable[Mapping[str, str]]) -> tuple[str, list[Mapping[str, str]]]:
    """The words of the system, which other providers have in a field of their own, and the other messages."""
    system, others = [], []
    for message in messages:
        if message["role"] == "system":
            system.append(message["content"])
        else:
            others.append(message)
    return "\n\n".join(system), others


def _anthropic_result(line: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Anthropic's as a line in OpenAI's form."""
    result, name = line["result"], line["custom_id"]
    if result["type"] == "succeeded":
        message = result["message"]
        texts = []
        for part in message["content"]:  # thoughts are parts of another type
            if part["type"] == "text":
                texts.append(part.get("text") or "")
        finish = _ANTHROPIC_FINISH.get(message["stop_reason"], message["stop_reason"])
        usage = message["usage"]
        body = {
            "model": message["model"],
            "choices": [{"index": 0, "message": {"content": "".join(texts)}, "finish_reason": finish}],
            "usage": {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]},
        }
        return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}
    if result["type"] == "errored":
        error = result["error"].get("error") or result["error"]  # mostly in an envelope of its own
        status = _ANTHROPIC_STATUS.get(error.get("type"), 500)
        response = {"status_code": status, "body": {"error": error}}
        return {"custom_id": name, "response": response, "error": None}
    return {"custom_id": name, "response": None, "error": {"code": f"batch_{result['type']}"}}


# Whatever is not in this list has ended, so that a state that is new to us does not wait for ever.
_GEMINI_RUNNING = ("QUEUED", "PENDING", "RUNNING", "CANCELLING", "PAUSED", "UPDATING", "UNSPECIFIED")
_GEMINI_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
"""Reasons to stop, and their words at OpenAI; all others mean that content was filtered."""
_GEMINI_STATUS = {400: 400, 401: 401, 403: 403, 404: 404, 3: 400, 5: 404}
"""Codes of errors that would come again, of HTTP or of gRPC, with the status of HTTP; others may pass."""
_GEMINI_NAMES = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "n": "candidateCount",
    "seed": "seed",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
"""Parameter of a chat completion -> that of Gemini's."""


class GeminiBatches:
    """See `Provider`; a batch has its tag as its display name."""

    def __init__(self, endpoint: str) -> None:
        from google import genai

        stays = genai.types.HttpOptions(client_args={"follow_redirects": False})
        self._client = genai.Client(http_options=stays)  # address and key from the environment

    def submit(self, path: Path, tag: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            converted = Path(folder) / f"{tag}.jsonl"
            model = ""  # all requests of a file go to one
            with path.open("rb") as lines, new_file(converted) as out:
                for line in lines:
                    data = json.loads(line)
                    model = data["body"]["model"]
                    request = {"key": data["custom_id"], "request": _gemini_request(data["body"])}
                    out.write(json_line(request).encode())
            file = self._client.files.upload(
                file=str(converted), config={"display_name": tag, "mime_type": "application/jsonl"}
            )
        batch = self._client.batches.create(model=model, src=file.name or "", config={"display_name": tag})
        return str(batch.name)

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.batches.list(), _LATEST):
            if batch.display_name == tag:
                return str(batch.name)
        return None

    def state(self, batch: str) -> State:
        remote = self._client.batches.get(name=batch)
        word = (remote.state.value if remote.state else "").removeprefix("JOB_STATE_")
        failed = ""
        if word == "FAILED":
            failed = (remote.error and remote.error.message) or "no reason given"
        return State(word.lower(), word not in _GEMINI_RUNNING, failed, every=word == "SUCCEEDED")

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        remote = self._client.batches.get(name=batch)
        if remote.dest is None or not remote.dest.file_name:
            return
        data = self._client.files.download(file=remote.dest.file_name)
        for line in _json_lines([data]):
            yield _gemini_result(line)

    def cancel(self, batch: str) -> None:
        self._client.batches.cancel(name=batch)


def _gemini_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion as a request of Gemini's."""
    further = sorted({*body} - {*_GEMINI_NAMES, "model", "messages", "response_format"})
    if further:
        raise InputError(f"`batch` gemini: takes no further fields; allowed: no `body` {further[0]}")
    system, others = _system_and_others(body["messages"])
    contents = []
    for message in others:
        role = "model" if message["role"] == "assistant" else "user"
        contents.append({"role": role, "parts": [{"text": message["content"]}]})
    settings = {}
    for name, theirs in _GEMINI_NAMES.items():
        if name in body:
            settings[theirs] = body[name]
    request: dict[str, Any] = {"contents": contents, "generationConfig": settings}
    if system:
        request["systemInstruction"] = {"parts": [{"text": system}]}
    return request


def _gemini_result(line: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Gemini's as a line in OpenAI's form."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        error = error if isinstance(error, dict) else {}
        message = {"message": error.get("message", ""), "code": error.get("status", "")}
        status = _GEMINI_STATUS.get(error.get("code", 500), 500)
        answer = {"status_code": status, "body": {"error": message}}
        return {"custom_id": line["key"], "response": answer, "error": None}
    choices = []
    for index, candidate in enumerate(response.get("candidates", [])):
        choices.append(_gemini_choice(index, candidate))
    # A prompt that was blocked has feedback in the place of candidates.
    if not choices and response.get("promptFeedback"):
        choices = [{"index": 0, "message": {"content": ""}, "finish_reason": "content_filter"}]

    usage = response.get("usageMetadata", {})
    written = usage.get("candidatesTokenCount", 0) + usage.get(
        "thoughtsTokenCount", 0
    )  # thoughts are paid too
    body = {
        "model": response.get("modelVersion", ""),
        "choices": choices,
        "usage": {"prompt_tokens": usage.get("promptTokenCount", 0), "completion_tokens": written},
    }
    return {"custom_id": line["key"], "response": {"status_code": 200, "body": body}, "error": None}


def _gemini_choice(index: int, candidate: Mapping[str, Any]) -> dict[str, Any]:
    content = candidate.get("content") or {}
    texts = []
    for part in content.get("parts", []):
        if not part.get("thought"):
            texts.append(part.get("text", ""))
    finish = candidate.get("finishReason", "STOP")
    choice = {
        "index": candidate.get("index", index),
        "message": {"content": "".join(texts)},
        "finish_reason": _GEMINI_FINISH.get(finish, "content_filter"),
    }
    logprobs = candidate.get("logprobsResult")
    if logprobs:
        choice["logprobs"] = {"content": _gemini_positions(logprobs)}
    return choice


def _gemini_positions(logprobs: Mapping[str, Any]) -> list[dict[str, Any]]:
    # Two lists by place; that of the most probable tokens may be shorter, or not there.
    tops = logprobs.get("topCandidates", [])
    positions = []
    for place, chosen in enumerate(logprobs.get("chosenCandidates", [])):
        top = tops[place].get("candidates", []) if place < len(tops) else []
        position = _gemini_token(chosen)
        position["top_logprobs"] = [_gemini_token(other) for other in top]
        positions.append(position)
    return positions


def _gemini_token(candidate: Mapping[str, Any]) -> dict[str, Any]:
    # The wire leaves out what is zero: a token that was certain has no probability there.
    return {"token": candidate.get("token", ""), "logprob": candidate.get("logProbability", 0.0)}


@dataclass(frozen=True, slots=True)
class BatchProvider:
    """A provider of batches, as far as it is known without its package."""

    open: Callable[[str], Provider]
    """Called with the address of the model, which OpenAI's package takes."""
    package: str
    """Package that is needed; empty for none."""
    keys: tuple[str, ...] = ()
    """Variables of the environment; one of them holds the key. Empty if no key is needed."""
    address: str = ""
    """Address of its OpenAI-compatible server; empty for any server."""
    address_variable: str = ""
    """Variable of the environment that holds another address."""
    multi_sample: bool = True
    """Whether one request may ask for several samples."""


OPENAI = BatchProvider(OpenAIBatches, "openai", ("OPENAI_API_KEY",))
ANTHROPIC = BatchProvider(
    AnthropicBatches,
    "anthropic",
    ("ANTHROPIC_API_KEY",),
    "https://api.anthropic.com/v1",
    "ANTHROPIC_BASE_URL",
    multi_sample=False,
)
GEMINI = BatchProvider(
    GeminiBatches,
    "google-genai",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "GOOGLE_GEMINI_BASE_URL",
)


def providers() -> dict[str, BatchProvider]:
    """Name -> each provider that a plug-in offers."""
    loaded = {}
    for name, target in offered("batch_providers").items():
        loaded[name] = load_target(target)
    return loaded


def check_provider(name: str) -> None:
    """Raise `InputError` for an unknown provider, or one whose package is not installed."""
    one_of("provider", name, providers(), "`batch`")
    package = providers()[name].package
    if package:
        require(package, purpose=f"`batch` {name}", extra=name)


def check_key(name: str) -> None:
    """Raise `InputError` if there is no key of a provider."""
    keys = providers()[name].keys
    if not keys:
        return
    for variable in keys:
        if os.environ.get(variable, "").strip():
            return
    raise InputError(f"`batch` {name}: {keys[0]} is not set")


def check_address(name: str, model: str, endpoint: str) -> None:
    """Raise `InputError` for a model at an address that is not the provider's."""
    if model.partition("/")[0] not in ("openai", *SERVERS):
        raise InputError(f"{model}: `batch` {name} does not take it; allowed: openai/NAME")
    provider, host = providers()[name], urlsplit(endpoint).netloc
    if provider.address:
        address = os.environ.get(provider.address_variable) or provider.address
        if host != urlsplit(address).netloc:
            raise InputError(
                f"{model}: is at {endpoint}, not at `batch` {name}; allowed: `base_url` {provider.address}"
            )
    elif host:
        for owner, other in providers().items():
            if host == urlsplit(other.address).netloc:
                raise InputError(
                    f"{model}: is at {endpoint}, not at `batch` {name}; allowed: `batch` {owner}"
                )
    # An address with parameters, as Azure has them, which the package does not take.
    if " " in endpoint:
        raise InputError(f"{model}: `batch` does not reach Azure ({endpoint}); allowed: `batch_write`")


def open_provider(name: str, endpoint: str) -> Provider:
    """A provider by name; `endpoint` is the address of the model, which OpenAI's package takes.

    Raises `InputError` if it is unknown, its package is not installed, or there is no key.
    """
    check_provider(name)
    check_key(name)
    return providers()[name].open(endpoint)
