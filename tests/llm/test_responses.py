"""What is read from the answers of servers, good and bad."""

import json
import time

import pytest

from dhp.llm.api import Garbled, Retry
from dhp.llm.clients.responses import problem_inside, read_problem, read_replies
from dhp.llm.records import Position

SENT = {"max_tokens": 5, "logprobs": True, "top_logprobs": 20, "n": 5, "seed": 3, "temperature": 0.7}


@pytest.mark.parametrize("parameter", ["max_tokens", "messages"])
def test_a_parameter_that_a_server_names_beside_its_words_is_the_refused_one(parameter: str) -> None:
    body = json.dumps({"error": {"message": "Invalid value", "param": parameter}}).encode()
    refused = read_problem(400, body).parameter(SENT)
    assert refused == (parameter if parameter in SENT else None), "the messages are always sent"


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"message": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"}, "too_long"),
        (
            400,
            {
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            },
            "too_long",
        ),
        (500, {"message": "the request exceeds the available context size. try increasing it"}, "too_long"),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, "shortage"),
        (429, {"message": "Your account is not active", "code": "billing_not_active"}, "shortage"),
        (402, {"message": "Insufficient Balance"}, "shortage"),
        (403, {"message": "Your input was flagged", "code": 403}, "moderated"),
        (
            400,
            {
                "message": "The response was filtered due to the content management policy",
                "code": "content_filter",
            },
            "moderated",
        ),
        (
            400,
            {"message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"},
            "wrong_key",
        ),
        (400, {"message": "Model Not Exist"}, "no_model"),
        (404, {"message": "The model `x` does not exist"}, "no_model"),
        (503, {"message": "Loading model"}, "overload"),
        (529, {"message": "Overloaded"}, "overload"),
        (500, {"message": "oops"}, "transient"),
    ],
)
def test_what_kind_of_problem_a_server_has(status: int, error: dict[str, object], kind: str) -> None:
    problem = read_problem(status, json.dumps({"error": error}).encode())
    assert getattr(problem, kind)
    for other in {"too_long", "shortage", "moderated", "wrong_key", "no_model"} - {kind}:
        assert not getattr(problem, other), other


def test_an_error_inside_a_good_status_is_one() -> None:
    problem = problem_inside(b'{"error": {"message": "Insufficient credits", "code": 402}}')
    assert problem.shortage
    assert problem_inside(b'{"choices": [{"message": {"content": "4"}}], "error": null}') is None
    assert problem_inside(b'{"choices": []}') is None
    broken = {"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502}}]}
    with pytest.raises(Garbled, match="broken off"):
        read_replies(json.dumps(broken).encode())


def test_errors_of_many_shapes_are_read() -> None:
    shapes = [
        b'{"error": {"message": "bad\\nthing", "code": "c"}}',
        b'{"object": "error", "message": "bad thing", "code": 400}',
        b'{"detail": "bad thing"}',
        b'[{"error": {"message": "bad thing"}}]',
        b'{"error": "bad thing"}',
        b"bad thing",
    ]
    for shape in shapes:
        assert "bad thing" in read_problem(400, shape).reason, shape
    assert (
        read_problem(502, b"<html><title>Bad gateway</title>").reason == "HTTP 502: a web page (Bad gateway)"
    )
    assert read_problem(500, b"").reason == "HTTP 500"
    assert len(read_problem(400, b"x" * 10_000).reason) < 300


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'{"choices": [null]}',
        b'{"choices": 3}',
        b"[" * 100_000,
    ],
)
def test_bodies_without_an_answer_are_said_to_be_that(body: bytes) -> None:
    with pytest.raises(Garbled):
        read_replies(body)


def test_replies_are_put_in_the_order_of_their_index() -> None:
    choices = [{"index": i, "message": {"content": f"text {i}"}, "finish_reason": "stop"} for i in (2, 0, 1)]
    replies = read_replies(json.dumps({"choices": choices}).encode())
    assert [r.text for r in replies] == ["text 0", "text 1", "text 2"]
    parts = [{"type": "text", "text": "4"}, {"type": "text", "text": "/5"}]
    said = {"choices": [{"message": {"content": parts}, "finish_reason": None}]}
    assert read_replies(json.dumps(said).encode())[0].text == "4/5"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("4", "4"),
        (4, "4"),
        (4.5, "4.5"),
        (None, ""),
        ([{"text": "4"}, "/", 5, {}], "4/5"),
        ({}, ""),
        (True, ""),
    ],
)
def test_content_of_any_kind_is_an_answer(content: object, text: str) -> None:
    body = {"choices": [{"message": {"content": content}}]}
    assert read_replies(json.dumps(body).encode())[0].text == text


@pytest.mark.parametrize(
    "usage", ["null", "3", '{"prompt_tokens": NaN}', '{"prompt_tokens": null}', '{"prompt_tokens": -5}', "{}"]
)
def test_usage_that_cannot_be_read_counts_as_none(usage: str) -> None:
    body = f'{{"choices": [{{"message": {{"content": "4"}}}}], "usage": {usage}}}'
    (reply,) = read_replies(body.encode())
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.calls) == ("4", 0, 0, 1)


def test_log_probabilities_that_cannot_be_read_leave_the_answer() -> None:
    for content in ([{"tok": 1}], [None], 3, [{"token": "4", "logprob": "high"}]):
        body = {"choices": [{"message": {"content": "4"}, "logprobs": {"content": content}}]}
        (reply,) = read_replies(json.dumps(body).encode())
        assert (reply.text, reply.positions) == ("4", None)


@pytest.mark.parametrize(
    ("logprob", "read"),
    [
        (-9999.0, [("3", -0.1), ("4", -2.5), ("2", -9999.0)]),  # as OpenAI has it
        (-3.0, [("3", -0.1), ("4", -2.5), ("2", -3.0)]),
        (-1.0, [("3", -0.1), ("4", -2.5)]),  # more likely than one that is listed: it would be listed, too
        (None, [("3", -0.1), ("4", -2.5)]),
    ],
)
def test_a_token_less_likely_than_all_that_are_listed_is_put_beside_them(
    logprob: float | None, read: list[tuple[str, float]]
) -> None:
    tops = [{"token": "3", "logprob": -0.1}, {"token": "4", "logprob": -2.5}]
    place = {"token": "2", "logprob": logprob, "top_logprobs": tops}
    body = {"choices": [{"message": {"content": "2"}, "logprobs": {"content": [place]}}]}
    (position,) = read_replies(json.dumps(body).encode())[0].positions or ()
    assert position == Position("2", tuple(read))


def test_a_choice_that_cannot_be_read_costs_itself_alone() -> None:
    good = [{"index": i, "message": {"content": f"text {i}"}} for i in (0, 2)]
    replies = read_replies(json.dumps({"choices": [*good, None, {"index": 1}]}).encode())
    assert [r.text for r in replies] == ["text 0", "text 2"]
    assert [r.calls for r in replies] == [1, 0]


NAMES = (
    (
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "max_tokens",
    ),
    ("Unrecognized request argument supplied: logprobs", "logprobs"),
    ("top_logprobs must be at most 5, not 20: invalid", "top_logprobs"),
    ("n must be 1 when using greedy sampling, got 5.", "n"),
    ("Extra inputs are not permitted: seed", "seed"),
    ("The text holds the word temperature.", "temperature"),
    ("Requested sample logprobs of 20, which is greater than max allowed: 5", "logprobs"),
    ("multiple candidates is not enabled for this model", "n"),
    ("Only one completion choice is allowed", "n"),
    ("candidateCount must be 1", "n"),
    ("Number of choices: 1 expected", "n"),
    ("'n' : number must be at most 1", "n"),
    ("property 'n' is unsupported", "n"),
    ("Invalid value for ‘n’: 5", "n"),
    ("Feld «n» unbekannt", "n"),
    ("参数「n」不支持", "n"),
    ("unexpected field [n]", "n"),
    ("{'n': 5} is no valid option", "n"),
    ("**n** must be 1", "n"),
    ("'seed' is no field of ours", "seed"),
    ("`temperature` is deprecated for this model.", "temperature"),
    ("Temperature may only be 1 with thinking", "temperature"),
    ("Log probabilities are a feature of other models", "logprobs"),
    ("this model has no topLogprobs", "top_logprobs"),
    ("Parameter SEED does nothing here; send temperature alone", "seed"),
    ("Allowed are temperature, top_p and max_tokens, but 'seed' came", "seed"),
    ("maxOutputTokens has another name here", "max_tokens"),
    ("integer below minimum value. Expected >= 64", "max_tokens"),
    ("JSON mode is not supported", "response_format"),
    ("num_ctx: unknown field", "num_ctx"),
    ("Cannot answer this one; isn't it sad, n/a", None),
    ("Don't send rock'n'roll lyrics", None),
)


@pytest.mark.parametrize(("message", "parameter"), NAMES)
@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_refused_parameter_is_known_in_any_wording(
    message: str, parameter: str | None, status: int
) -> None:
    sent = {"model": "stub", "messages": [], **SENT, "response_format": {}, "num_ctx": 8}
    problem = read_problem(status, json.dumps({"error": {"message": message}}).encode())
    assert problem.parameter(sent) == parameter
    assert problem.parameter(sent, taken=[parameter or ""]) != parameter or parameter is None


@pytest.mark.parametrize(
    "body",
    [
        {"success": False, "errors": [{"message": "'n' is not supported", "code": 5006}]},
        {"error": {"message": "Invalid value", "param": "body.n"}},
    ],
    ids=["a list of errors", "a path"],
)
def test_a_refused_parameter_is_found_in_other_forms(body: dict[str, object]) -> None:
    assert read_problem(400, json.dumps(body).encode()).parameter({"model": "x", "n": 5}) == "n"


def test_a_fault_that_repeats_the_request_names_its_place_alone() -> None:
    fault = {"loc": ["body", "messages"], "msg": "Field required", "input": SENT}
    problem = read_problem(422, json.dumps({"detail": [fault]}).encode())
    assert problem.message == "body.messages: Field required"
    assert problem.parameter(SENT) is None


def stream(*pieces: object, end: str = "") -> bytes:
    """Chunks of an answer; a text is a piece of it, a mapping the whole chunk."""
    chunks = [
        piece if isinstance(piece, dict) else {"choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in pieces
    ]
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


@pytest.mark.parametrize("head", [b"", b": OPENROUTER PROCESSING\n\n", b"event: message\n", b"\n\n"])
def test_a_stream_is_read_like_the_whole_answer(head: bytes) -> None:
    first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    body = stream(first, "Rating", ": 4", STOP, USAGE, end="data: [DONE]\n\n")
    (reply,) = read_replies(head + body)
    assert (reply.text, reply.finish) == ("Rating: 4", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.calls) == (9, 2, 1)


def test_what_is_wrong_with_a_stream_is_said() -> None:
    broken = b'data: {"error": {"message": "no capacity", "code": 502}}\n\ndata: [DONE]\n'
    problem = problem_inside(broken)
    assert problem is not None
    assert (problem.status, problem.message) == (502, "no capacity")
    with pytest.raises(Garbled, match="holds no choices"):
        read_replies(b": nothing came\n\ndata: [DONE]\n")
    with pytest.raises(Garbled, match="did not answer in JSON"):
        read_replies(b"data: {broken\n\n")
    cut = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    assert [reply.finish for reply in read_replies(stream("4", cut))] == ["length"]


PARTS = [
    {"type": "reasoning", "text": "Is it 2?"},
    {"type": "thinking", "thinking": [{"type": "text", "text": "or 3?"}]},
    {"text": "or 5?", "thought": True},
    {"type": "text", "text": "Rating: 4"},
]


def test_parts_that_are_thoughts_are_not_the_answer() -> None:
    body = {"choices": [{"message": {"content": PARTS}, "finish_reason": "stop"}]}
    assert [reply.text for reply in read_replies(json.dumps(body).encode())] == ["Rating: 4"]


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_an_answer_that_is_reasoning_alone_is_told_from_an_empty_one(name: str) -> None:
    def finish(**message: object) -> str:
        body = {"choices": [{"message": message, "finish_reason": "stop"}]}
        (reply,) = read_replies(json.dumps(body).encode())
        return reply.finish

    assert finish(content="", **{name: "It is a 4."}) == "reasoning"
    assert finish(content=None, **{name: "It is a 4."}) == "reasoning"
    assert finish(content="4", **{name: "It is a 4."}) == "stop"
    assert finish(content="", **{name: ""}) == "stop"


def test_an_alternative_without_a_log_probability_is_a_hole() -> None:
    def position(logprob: float, *tops: tuple[str, float | None]) -> Position:
        listed = [{"token": token, "logprob": each} for token, each in tops]
        entry = {"token": "4", "logprob": logprob, "top_logprobs": listed}
        body = {"choices": [{"message": {"content": "4"}, "logprobs": {"content": [entry]}}]}
        (reply,) = read_replies(json.dumps(body).encode())
        assert reply.positions is not None
        return reply.positions[0]

    assert position(-0.1, ("4", -0.1), ("5", None), ("3", -3.0)).alternatives == (("4", -0.1), ("3", -3.0))
    assert position(-0.1, ("4", None), ("3", -3.0)).alternatives == (("3", -3.0), ("4", -0.1))


def test_an_empty_list_of_log_probabilities_is_not_none() -> None:
    def positions(logprobs: object) -> object:
        body = {"choices": [{"message": {"content": "4"}, "logprobs": logprobs}]}
        (reply,) = read_replies(json.dumps(body).encode())
        return reply.positions

    assert positions({"content": []}) == ()
    assert positions({"content": None}) is None
    assert positions(None) is None


def test_a_byte_order_mark_before_an_answer_is_none_of_it() -> None:
    body = json.dumps({"choices": [{"message": {"content": "4"}}]}).encode()
    assert [reply.text for reply in read_replies(b"\xef\xbb\xbf" + body)] == ["4"]
    error = b"\xef\xbb\xbf" + json.dumps({"error": {"message": "no", "code": "x"}}).encode()
    assert read_problem(400, error).code == "x"


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 520, 522, 524, 529])
def test_a_gateway_whose_server_starts_is_waited_for(status: int) -> None:
    problem = read_problem(status, b"<html><title>Bad gateway</title></html>")
    assert problem.transient
    assert problem.overload


def test_a_fault_of_the_server_is_no_overload() -> None:
    assert not read_problem(500, b"{}").overload


@pytest.mark.parametrize(
    "body",
    [
        stream("Rating: 1", "0", STOP),
        stream("Rating: 1", "0", end="data: [DONE]\n\n"),
        stream("Rating: 1", "0", end="event: message_stop\ndata: {}\n\n"),
        stream("Rating: 1", "0", USAGE),
        stream("Rating: 1", "0", STOP).replace(b"\n", b"\r\n"),
    ],
    ids=["reason", "done", "last event", "usage", "lines as mails have them"],
)
def test_a_stream_is_read_to_its_end(body: bytes) -> None:
    """Cut anywhere before, it is asked for again."""
    assert [reply.text for reply in read_replies(body)] == ["Rating: 10"]
    for length in range(len(body)):
        try:
            replies = read_replies(body[:length])
        except Retry:
            continue
        assert [reply.text for reply in replies] == ["Rating: 10"], body[:length]


def test_an_answer_in_a_stream_may_hold_any_sign() -> None:
    """Some of them end a line for Python, and none in a stream."""
    text = "Well\u2028put\x0b\x0c\x1c\x1d\x1e\x85, event: done, data: [DONE]\u2029"
    chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
    body = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode() + stream(" Rating: 4", STOP)
    assert [reply.text for reply in read_replies(body)] == [f"{text} Rating: 4"]


TWO = {"choices": [{"index": 1, "delta": {"content": "2"}}, *STOP["choices"]]}


@pytest.mark.parametrize(
    "body",
    [
        stream("Rating: 1"),
        stream("Rating: 1", end=": keep-alive\n\n"),
        stream("Rating: 1", end='data: {"choices": [{"ind'),
        stream({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}),
        stream("4", TWO),
        stream("4", {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 0}}),
        stream("4", end="event: append\n"),
    ],
    ids=[
        "cut",
        "comment",
        "cut within a chunk",
        "first chunk alone",
        "one of two choices",
        "prompt counted",
        "event",
    ],
)
def test_a_stream_without_its_end_is_a_broken_connection(body: bytes) -> None:
    with pytest.raises(Retry, match="the answer, a stream, broke off"):
        read_replies(body)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"code": "Arrearage"}, 400),
        ({"detail": "no"}, 400),
        ({"code": 429, "message": "slow down"}, 429),
        ({"error": "x"}, 500),
        ({"errors": [{"message": "x"}], "data": None}, 400),
        ({"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, 400),
        ({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, 429),
        ({"success": False, "error_message": "no"}, 400),
        ({"data": None, "statusCode": 402}, 402),
        ({"fault": {"faultstring": "no"}}, 400),
        ([{"error": {"code": 429}}], 429),
    ],
)
def test_an_error_with_status_200_is_one(body: object, status: int) -> None:
    problem = problem_inside(json.dumps(body).encode())
    assert problem is not None
    assert problem.status == status


@pytest.mark.parametrize(
    "words",
    [
        "a",
        "1s",
        "1s ",
        "9",
        "again ",
        "://a:",
        "key=",
        "key: ",
        "sk-",
        "1:11:11 ",
        "eyJ-",
        " ",
        "bearer ",
        ".",
    ],
)
def test_a_long_message_is_read_in_no_time(words: str) -> None:
    """Servers repeat whole prompts; the time must not grow with their square."""
    body = json.dumps({"error": {"message": words * (2_000_000 // len(words))}}).encode()
    began = time.process_time()
    problem = read_problem(429, body)
    told = (problem.shortage, problem.retry_after, problem.reason, problem.parameter(["n", "seed"]))
    assert time.process_time() - began < 2, told
    assert len(problem.reason) < 300
