"""Reads the answers of OpenAI-compatible servers: replies, and the problems that they name.

`read_replies` reads an answer with status 200, `problem_inside` the error that such an answer may hold, and
`read_problem` any other answer. What a problem means for the request is told by the properties of `Problem`,
which look at its status, its code and its words: no two servers say the same.

The rule for an odd answer: what was paid for is kept. A choice, a count of tokens or a log-probability that
cannot be read is left out, and the rest of the answer stays; only if no choice is left is it asked for again.

The patterns below are those of messages that servers sent; `tests/llm/test_responses.py` and
`tests/llm/test_faults.py` have them. Bounds of lengths are chosen, so that a broken or hostile server can
neither fill the memory nor keep a pattern busy.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from dhp.core.errors import quoted
from dhp.core.hiding import hidden
from dhp.core.secrets import hidden_words
from dhp.llm.api import Garbled, Retry
from dhp.llm.clients.account import Shortage, names_a_rate, shortage
from dhp.llm.clients.streams import BrokenStream, is_stream, joined_chunks
from dhp.llm.clients.waits import requested_wait
from dhp.llm.records import ONLY_REASONING, Position, Reply

_LONGEST_REASON = 200
"""Characters of a server's words in a message of ours: two lines of a terminal."""
_LONGEST_MESSAGE = 4_000
"""Characters of what a server says that are looked at; some repeat the whole prompt."""
_OF_BODY = 2**21, 64, 512
"""Most bytes of a body: in any case, for a token, and for each of its alternatives."""
_OF_TEXT = 2**17, 64
"""Most characters of a text: in any case, and for a token."""
_MOST_TOKENS = 10**12
"""Larger counts are a fault of the server's."""
# "must be at most 5", "greater than max allowed: 5"
_TOO_MANY = re.compile(
    r"greater than|at most|less than or equal|<=|maximum|max allowed|up to|above|exceeds|too (?:large|many)",
    re.I,
)
# "integer below minimum value. Expected >= 64"
_TOO_FEW = re.compile(
    r"below (?:the )?minimum|at least|>=|greater than or equal|minimum|too (?:small|few)", re.I
)
# "Could not finish the message because max_tokens was reached"
_CUT_OFF = re.compile(
    r"could not finish the message|(?:max_?tokens|output limit|token limit)[^.]{0,60}\breached", re.I
)
# "This model only supports streaming", "stream must be true"
_STREAM_ONLY = re.compile(
    r"(?:only|must|require).{0,40}\bstream|\bstream.{0,40}(?:only|must|required|true)|non-?stream", re.I
)
# "maximum context length is 4096 tokens", "`inputs` tokens + `max_new_tokens` must be <= 4096"
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|prompt is too long|input is too long|"
    r"exceeds? the (?:model|maximum|available)|longer than the (?:model|maximum)|max_new_tokens. must be",
    re.I,
)
# Codes and words: "content_filter", "Your input was flagged"
_MODERATED = re.compile(r"moderation|content.?(?:filter|policy|management)|flagged|safety", re.I)
# Under 400, Gemini: "API key not valid. Please pass a valid API key."
_BAD_KEY = re.compile(r"api.?key|authenticat|unauthori[sz]ed", re.I)
# "The model `x` does not exist", "unknown model"
_NO_MODEL = re.compile(r"model.{0,80}(?:not exist|not found|unknown)|(?:no such|unknown) model", re.I | re.S)
# What a server of a decision model says to a prompt: "state: field required", "use /decisions"
_QUESTIONS = re.compile(
    r"\bsystem.?one\b|\bdecisions?\b.{0,40}(?:model|endpoint|api)|/decisions\b"
    r"|\b(?:state|questions)\b.{0,40}(?:required|missing)|(?:required|missing).{0,40}\b(?:state|questions)\b",
    re.I | re.S,
)
# As in: 'n' must be 1; Invalid value for ‘n’; 参数「n」不支持
_OPEN = r"[\"'`´‘’‚‛“”„«»‹›「」『』\[(<{*|]"
_CLOSE = r"[\"'`´‘’‛“”«»‹›「」『』\])>}*|:=]"
"""Marks that servers put before and behind the name of a parameter."""
# Of `n`: the letter in quotation marks or alone, but not in "doesn't"; "candidateCount must be 1"
_NAMES: Mapping[str, str] = {
    "max_tokens": "max(?:imum)?[ _-]?(?:output|new|completion|generated)?[ _-]?tokens|below minimum value",
    "max_completion_tokens": "max(?:imum)?[ _-]?(?:output|new|completion)?[ _-]?tokens|below minimum value",
    "top_logprobs": "top[ _-]?log[ _-]?prob",
    "logprobs": "log[ _-]?prob|log[ _-]?likelihood",
    "seed": r"\bseed\b",
    "n": rf"(?<={_OPEN})(?<!\w{_OPEN})n(?={_CLOSE})|(?<![\w/'’-])n(?![\w/'’-])|"
    r"candidate[ _-]?count|num[ _-]?(?:choices|completions|return)|"
    r"(?:multiple|one|1|single|several|number of)(?: \w+)? (?:candidate|completion|choice|generation)s?\b",
    "response_format": "response[ _-]?(?:format|schema|mime)|json[ _-]?(?:schema|mode|object)"
    "|structured[ _-]?output|guided[ _-]?json",
    "stream_options": "stream[ _-]?options",
    "temperature": "temperature",
    "top_p": r"\btop[ _-]?p\b|nucleus",
}
"""Parameter -> how servers name it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a server said instead of an answer."""

    status: int
    message: str
    code: str
    named: str
    """The parameter that it says is at fault, if it says so."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    error: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The whole error as the server gave it; may hold secrets."""

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model."""
        if self.code in ("context_length_exceeded", "exceed_context_size_error"):
            return True
        # Under 429 "too many tokens" are those of a minute.
        is_fault = self.status >= 400 and self.status != HTTPStatus.TOO_MANY_REQUESTS
        return is_fault and _TOO_LONG.search(self.message) is not None

    @property
    def shortage(self) -> Shortage | None:
        """Why no call is answered until the account is filled or its quota renewed; None for other faults."""
        if _MODERATED.search(self.code):  # its words are those of the text
            return None
        codes = [self.code]
        for name in ("code", "type", "status"):
            codes.append(str(self.error.get(name) or ""))
        more = json.dumps(self.error.get("details") or "")  # Google names the quota there
        return shortage(self.status, " ".join(codes), f"{self.message} {more}", self.retry_after)

    @property
    def moderated(self) -> bool:
        """Whether the content of this one prompt is refused."""
        return self.status in (400, 403) and bool(_MODERATED.search(f"{self.code} {self.message}"))

    @property
    def wrong_key(self) -> bool:
        """Whether no call with this key will be answered."""
        return self.status == 401 or (self.status == 400 and bool(_BAD_KEY.search(self.message)))

    @property
    def no_model(self) -> bool:
        """Whether the server does not know the model, or the address."""
        return self.status == 404 or (self.status == 400 and bool(_NO_MODEL.search(self.message)))

    @property
    def wants_questions(self) -> bool:
        """Whether the server takes typed questions and no messages: it has a decision model."""
        return self.status in _OF_PARAMETERS and bool(_QUESTIONS.search(self.message))

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later."""
        if self.status >= 500:
            return self.status not in (501, 505)  # what it does not know it will not learn
        return self.status in (408, 409, 425, 429)

    @property
    def overload(self) -> bool:
        """Whether fewer calls at once, or patience, would help."""
        return self.status in _OVERLOADED

    @property
    def too_many(self) -> bool:
        """Whether less of the parameter would be taken."""
        return bool(_TOO_MANY.search(self.message)) and not self.too_few

    @property
    def too_few(self) -> bool:
        """Whether more of the parameter would be taken."""
        return bool(_TOO_FEW.search(self.message))

    @property
    def reason(self) -> str:
        """The reason in one short line, with the server's own words `quoted`."""
        words = quoted(shortened(self.message))
        return f"HTTP {self.status}: {words}" if words else f"HTTP {self.status}"

    @property
    def retry_after(self) -> float | None:
        """Seconds that it asks to wait; None if it does not."""
        return requested_wait(self.status, self.headers, self.error, self.message)

    def failure(self, model: str) -> str:
        """What it means for the one request that it answers."""
        if self.too_long:
            return f"the prompt is too long for {model} ({self.reason}); nothing was cut off"
        if self.moderated:
            return f"content filter: {self.reason}"
        return self.reason

    @property
    def cut_off(self) -> bool:
        """Whether the answer is left out because it ended at the limit of tokens."""
        return self.status == 400 and bool(_CUT_OFF.search(self.message))

    @property
    def wants_stream(self) -> bool:
        """Whether the server answers in streams only."""
        return self.status in _OF_PARAMETERS and bool(_STREAM_ONLY.search(self.message))

    def parameter(self, body: Collection[str], taken: Collection[str] = ()) -> str | None:
        """The parameter, of those in the `body` of a request, that the server most likely refuses.

        It is one that the message names, in any wording, and that is not among those that were `taken`; of
        several one in quotation marks, else the first.
        """
        if self.status not in _OF_PARAMETERS or self.too_long:
            return None
        left = [name for name in body if name not in taken and name not in _ALWAYS]
        for part in self.named.split("."):  # `body.n`
            if part in left:
                return part
        # The smallest is taken: not of `_LAST`, in quotation marks, the first in the message.
        places: dict[str, tuple[bool, bool, int]] = {}
        for name in left:
            pattern = _NAMES.get(name, re.escape(name))
            match = re.search(rf"({_OPEN}?)(?:{pattern})", self.message, re.I)
            if match:
                is_quoted = bool(match[1])
                places[name] = name in _LAST, not is_quoted, match.start()
        if not places:
            return None
        return min(places, key=lambda name: places[name])


_ALWAYS = ("model", "messages", "stream")
"""Parameters that no call can do without."""
_LAST = ("temperature", "top_p", "max_completion_tokens")
"""Parameters without which no call is made: another that is named is tried first."""
_OF_PARAMETERS = (400, 403, 422)
"""Statuses by which servers refuse a parameter."""
_ADVICE = {
    "temperature": "`temperature=None` leaves it to the model",
    "top_p": "`top_p=None` leaves it to the model",
    "max_tokens": "`max_tokens` sets another number",
    "max_completion_tokens": "`max_tokens` sets another number",
    "n": "`samples` 1 asks for one answer",
    "seed": "`send_seed=False` leaves it out",
    "response_format": "take another `answer` than json",
}
"""Parameter -> what a user can do if a server refuses it."""
_OVERLOADED = (408, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529)
"""Statuses of a server that starts or is busy, and of gateways (nginx, Cloudflare) before one."""


def parameter_advice(parameter: str) -> str:
    """What helps if a server refuses a parameter."""
    return _ADVICE.get(parameter, "leave it out of `body`, or take another server")


def longest_body(request: Mapping[str, Any]) -> int:
    """Most bytes of a body that are read, generously, by the tokens that the request asks for."""
    least, token, alternative = _OF_BODY
    tokens = _tokens(request) * request.get("n", 1)
    return int(least + tokens * (token + alternative * request.get("top_logprobs", 0)))


def overlong(replies: Iterable[Reply], request: Mapping[str, Any]) -> str | None:
    """Reason to reject a reply that is far longer than was asked for, by its number of characters."""
    least, token = _OF_TEXT
    most = least + token * _tokens(request)
    if all(len(reply.text) <= most for reply in replies):
        return None
    return f"the answer has more than {most:,} characters, the most for {_tokens(request)} tokens"


def _tokens(request: Mapping[str, Any]) -> int:
    return int(request.get("max_tokens") or request.get("max_completion_tokens") or 0)


def _parsed(body: bytes) -> Any:
    """The JSON of a body, joined if it came in chunks.

    A byte that is no UTF-8 becomes U+FFFD, as the answer around it was paid for. A byte-order mark is left
    out.
    """
    text = body.removeprefix(BOM_UTF8).decode(errors="replace")  # `utf-8-sig` takes ten times as long
    return joined_chunks(text) if is_stream(text) else json.loads(text)


def read_problem(status: int, body: bytes) -> Problem:
    """What an answer with an error status says."""
    try:
        data = _parsed(body)
    except (ValueError, RecursionError):
        data = None
    error = _first_of_list(data)
    if isinstance(error, dict):
        error = _first_of_list(error.get("error") or error.get("errors") or error)
    if not isinstance(error, dict):
        return Problem(status, _beginning(error if isinstance(error, str) else _plain(body)), "", "")
    named = _named_inside(error)
    message = ""
    for name in _NAMES_OF_WORDS:
        if name in named:
            message = _words(named[name])
            break
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # OpenRouter: what the provider behind it said
        message = f"{message} ({metadata['raw']})"
    code = str(error.get("code") or error.get("type") or "")
    parameter = str(error.get("param") or "")
    return Problem(status, _beginning(message), code, parameter, error=error)


def _first_of_list(data: Any) -> Any:
    """Gemini gives a list of one error."""
    return data[0] if isinstance(data, list) and data else data


def _beginning(text: str) -> str:
    """As much of a text as is looked at; a secret is hidden before it could be cut in two."""
    return hidden(text)[:_LONGEST_MESSAGE]


def _words(content: object) -> str:
    """What a server says: a text, or JSON, of which a list of faults repeats no part of the request."""
    if isinstance(content, list) and all(isinstance(each, dict) and "msg" in each for each in content):
        faults = []  # FastAPI's form, which vLLM has
        for each in content:
            place = ".".join(map(str, each.get("loc") or ()))
            faults.append(f"{place}: {each['msg']}")
        return "; ".join(faults)
    return content if isinstance(content, str) else json.dumps(content)


_NAMES_OF_WORDS = (
    "message detail msg errormessage errormsg statusmessage statusmsg faultstring description reason err"
).split()
"""Names under which servers say what is wrong, the usual ones first."""
_NAMES_OF_CODES = ("code", "statuscode", "status", "errorcode")
"""Names under which servers say a status, if HTTP's is 200."""
_NAMES_OF_ERRORS = {*_NAMES_OF_WORDS, *_NAMES_OF_CODES, "error", "errors", "fault"} - {"status"}
"""Names of which an error has one, and an answer none beside its choices."""
# The beginning of a first choice: '"choices": [{'
_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\{')
_DEPTH_OF_ERRORS = 2
"""Levels on which an error may stand: by itself, or inside as in `{"base_resp": {"status_msg": "no"}}`."""


def problem_inside(body: bytes) -> Problem | None:
    """The error that some servers send with status 200 instead of choices; None for an answer."""
    if _CHOICES.search(body) and b'"error"' not in body:
        return None  # the usual answer is not decoded twice
    try:
        data = _first_of_list(_parsed(body))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("choices"):
        return None
    named = _named_inside(data)
    status = None
    for name in _NAMES_OF_CODES:
        code = named.get(name)
        if isinstance(code, int) and 400 <= code < 600:
            status = code
            break
    if status is None and not named.keys() & _NAMES_OF_ERRORS:
        return None

    # Without a status of its own: an `error` may pass, other forms refuse the request.
    problem = read_problem(status or (500 if "error" in named else 400), body)
    if status is None and names_a_rate(problem.message):
        return replace(problem, status=429)
    return problem


def _named_inside(error: Mapping[str, Any], depth: int = _DEPTH_OF_ERRORS) -> dict[str, Any]:
    """Name without signs -> what an error says there, and what it says inside, the outer first."""
    named = {}
    for name, value in error.items():
        if value:
            named[re.sub(r"[^a-z]", "", str(name).lower())] = value  # `error_msg`, `errorMsg`: errormsg
    if depth > 1:
        for value in error.values():
            if isinstance(value, dict):
                named = {**_named_inside(value, depth - 1), **named}
    return named


def shortened(text: str, most: int = _LONGEST_REASON) -> str:
    """One line of at most so many characters, without secrets, of which it could keep a part."""
    line = hidden_words(_beginning(" ".join(text.split())))
    return line if len(line) <= most else line[: most - 1] + "…"


def _plain(body: bytes) -> str:
    """The beginning of a body that is no JSON; of a web page its title."""
    text = body[:2000].decode(errors="replace")
    if "<html" in text.lower() or text.lstrip().lower().startswith("<!doctype"):
        title = re.search(r"<title>(.*?)</title>", text, re.I | re.S)
        return f"a web page ({title[1].strip()})" if title else "a web page"
    return text


class NoChoices(Garbled):
    """An answer without choices: of one prompt among others, one that was blocked."""


def read_replies(body: bytes) -> list[Reply]:
    """The replies of a successful call; usage is on the first.

    Choices that cannot be read are left out. What only goes with an answer (usage, log-probabilities) is left
    out if it cannot be read: the answer was paid for. Raises `Garbled` if no choice can be read, and `Retry`
    if a stream has no end.
    """
    try:
        data = _parsed(body)
    except BrokenStream as e:
        raise Retry(str(e)) from None
    except (ValueError, RecursionError):
        raise Garbled(f"the server did not answer in JSON but with: {shortened(_plain(body))}") from None
    return completion_replies(data)


def completion_replies(data: object) -> list[Reply]:
    """The replies of a chat completion; see `read_replies`."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        raise NoChoices("the answer holds no choices")
    assert isinstance(data, dict)

    name, usage = data.get("model"), data.get("usage")
    answered_by = _model_name(name) if isinstance(name, str) else ""
    counts = _counts(usage) if isinstance(usage, dict) else (0, 0, 0)
    replies: list[Reply] = []
    faults: list[str] = []
    if len(choices) > 1:  # a server may send them in any order
        choices = sorted(choices, key=_index)
    for choice in choices:
        try:
            # Tokens are those of the whole call: they are counted once, on its first reply.
            replies.append(_reply(choice, answered_by, None if replies else counts))
        except Garbled as e:
            faults.append(str(e))
    if not replies:
        raise Garbled(faults[0])
    return replies


@lru_cache(maxsize=64)
def _model_name(name: str) -> str:
    """The name of the model that answered, which is the same in answer after answer.

    What is remembered as a secret later `Reply` hides.
    """
    return shortened(name)


def _counts(usage: Mapping[str, object]) -> tuple[int, int, int]:
    """Tokens of the prompt, of the answers, and of the prompt those that the server had cached."""
    cached = 0
    for place in (usage, usage.get("prompt_tokens_details")):
        if isinstance(place, dict):
            for name in _CACHED:
                if name in place:
                    cached = max(cached, _count(place[name]))
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), cached


_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
"""Names that servers give to the number of cached tokens."""


def holds_answer(data: Mapping[str, object]) -> bool:
    """Whether `read_replies` would read a choice of a chat completion."""
    choices = data.get("choices")
    return isinstance(choices, list) and any(_broken_off(choice) == "" for choice in choices)


def _broken_off(choice: object) -> str:
    """What is wrong with a choice as a whole; empty if nothing is."""
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return "the answer's choices have an unknown form"
    finish = str(choice.get("finish_reason") or "stop")
    if choice.get("error") or finish in ("error", "abort"):
        return f"the answer was broken off: {shortened(str(choice.get('error') or finish))}"
    return ""


def _index(choice: object) -> float:
    """The number of a choice; 0 if it has none."""
    index = choice.get("index") if isinstance(choice, dict) else None
    return index if isinstance(index, int) else 0


def _count(number: object) -> int:
    """A count of tokens; 0 if missing or not a number."""
    if not isinstance(number, int | float) or not 0 <= number <= _MOST_TOKENS:  # NaN is neither
        return 0
    return int(number)


def _reply(choice: Any, answered_by: str, counts: tuple[int, int, int] | None) -> Reply:
    """A choice as a reply; `counts` are those of `_counts`, on the first reply of a call."""
    fault = _broken_off(choice)
    if fault:
        raise Garbled(fault)
    message, finish = choice["message"], str(choice.get("finish_reason") or "stop")
    text = _text(message.get("content"))

    # Servers end these answers by `stop`, too.
    if message.get("tool_calls") and not text:
        finish = "tool_calls"
    refusal = _text(message.get("refusal"))
    if refusal.strip() or finish.lower() in _FILTERED:
        finish = "content_filter"
    text = text or refusal
    if not text.strip() and finish == "stop" and any(_text(message.get(name)) for name in _REASONING):
        finish = ONLY_REASONING

    positions = _positions(choice.get("logprobs"))
    if counts is None:
        return Reply(text, finish, 0, 0, 0, positions, answered_by)
    prompt, completion, cached = counts
    return Reply(text, finish, prompt, completion, 1, positions, answered_by, cached)


_REASONING = ("reasoning_content", "reasoning")
"""Keys beside `content` under which servers give what the model thought."""
_FILTERED = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal")
"""Reasons of providers to end an answer that are no answer, in any case."""
_NO_ANSWER = re.compile(r"reason|think|thought", re.I)
"""Types of parts of a message that are not its answer."""


def _text(content: object) -> str:
    """The text of an answer: some servers give a list of parts, of which some are thoughts, or a number."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_part, content))
    if isinstance(content, int | float) and not isinstance(content, bool):
        return str(content)
    return ""


def _part(part: object) -> str:
    """The text of one part of a message; a thought has none."""
    if not isinstance(part, dict):
        return _text(part)
    if part.get("thought") or _NO_ANSWER.search(str(part.get("type") or "")):
        return ""
    return _text(part.get("text"))


def _positions(logprobs: object) -> tuple[Position, ...] | None:
    """The log-probabilities; None if they are missing, or those of a token have an unknown form.

    Empty if a server gives a list without any, which is not the same as giving none.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    try:
        return tuple(map(_position, content))
    except (AttributeError, TypeError, ValueError, KeyError, OverflowError):
        return None


def _position(entry: Any) -> Position:
    """One place of an answer; of its alternatives those with a log-probability.

    A token that is not among these is put at their end, unless it is likelier than one that is listed.
    """
    chosen = str(entry["token"])
    tops: list[tuple[str, float]] = []
    is_listed = lacks_logprob = False
    for top in entry.get("top_logprobs") or [entry]:
        token, logprob = str(top.get("token")), top.get("logprob")
        if logprob is not None:
            tops.append((token, float(logprob)))
            is_listed = is_listed or token == chosen
        elif token == chosen:
            lacks_logprob = True

    if not is_listed:
        logprob = float(entry.get("logprob") or 0.0)
        least = min([each for _, each in tops], default=0.0)
        # A likelier one would have been listed: its number is a fault of the server's.
        if logprob <= least or lacks_logprob:
            tops.append((chosen, logprob))
    return Position(chosen, tuple(tops))
