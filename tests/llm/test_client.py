"""Our client against the official one, and what it makes of a server's refusals."""

import json
from typing import Any

import openai
import pytest

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.fast import OpenAIClient
from dhp.llm.clients.responses import Unreadable, problem_inside, read_problem, read_replies
from dhp.llm.records import Params, Request
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.llm.stub import stats, stub_server

SENT = {"max_tokens": 5, "logprobs": True, "top_logprobs": 20, "n": 5, "seed": 3, "temperature": 0.7}
SAMPLED = Params(temperature=0.7, top_p=0.9, max_tokens=5, seed=3, top_logprobs=20)


def official_body(url: str, request: Request) -> dict[str, Any]:
    """What the official client sends for a request."""
    params = request.params
    with openai.OpenAI(base_url=url, api_key="none") as client:
        client.chat.completions.create(
            model="stub",
            messages=[{"role": "user", "content": request.prompt}],
            temperature=params.temperature,
            max_tokens=params.max_tokens,
            **({"top_p": params.top_p, "seed": params.seed, "n": 2} if params is SAMPLED else {}),
            **({"logprobs": True, "top_logprobs": 20} if params.top_logprobs else {}),
        )
    body: dict[str, Any] = stats(url)["bodies"][-1]
    return body


@pytest.mark.parametrize("params", [QUICK, SAMPLED])
def test_the_official_client_sends_the_same_body(params: Params) -> None:
    samples = (0, 1) if params is SAMPLED else (0,)
    request = Request("Rate »this« – 好.", params, samples, "here")
    with stub_server() as url:
        assert OpenAIClient("stub", url).body(request, samples) == official_body(url, request)
        list(cached_model(url).ask([request]))
        assert stats(url)["bodies"][-1] == stats(url)["bodies"][-2]


def test_the_official_client_reads_the_same_answers() -> None:
    request = Request("Rate this.", SAMPLED, (0, 1), "here")
    with stub_server() as url, openai.OpenAI(base_url=url, api_key="none") as client:
        (answer,) = cached_model(url).ask([request])
        said = client.chat.completions.create(
            model="stub",
            messages=[{"role": "user", "content": "Rate this."}],
            temperature=0.7,
            top_p=0.9,
            max_tokens=5,
            seed=3,
            n=2,
            logprobs=True,
            top_logprobs=20,
        )
    for sample, choice in enumerate(said.choices):
        reply = answer.outcomes[sample]
        assert reply.text == choice.message.content
        assert reply.finish == choice.finish_reason
        tops = [[(top.token, top.logprob) for top in place.top_logprobs] for place in choice.logprobs.content]
        assert [list(position.alternatives) for position in reply.positions] == tops
        assert [p.chosen for p in reply.positions] == [place.token for place in choice.logprobs.content]
    assert answer.outcomes[0].prompt_tokens == said.usage.prompt_tokens
    assert answer.outcomes[1].prompt_tokens == 0
    assert sum(o.completion_tokens for o in answer.outcomes.values()) == said.usage.completion_tokens


def test_max_tokens_is_asked_for_by_its_newer_name_where_the_server_wants_that() -> None:
    with stub_server("--refuse", "max_tokens") as url:
        assert len(answered(cached_model(url), list(requests(30)))) == 30
        assert stats(url)["statuses"]["400"] == 1
        assert stats(url)["bodies"][-1]["max_completion_tokens"] == 16


def test_a_refused_seed_is_left_out_and_said(caplog: pytest.LogCaptureFixture) -> None:
    with stub_server("--refuse", "seed") as url:
        assert len(answered(cached_model(url), list(requests(3, params=SAMPLED)))) == 3
    assert "openai/stub: the server refuses seed: sampling cannot be repeated" in caplog.text


@pytest.mark.parametrize("parameter", ["temperature", "top_p"])
def test_a_refused_sampling_parameter_is_never_dropped_in_silence(parameter: str) -> None:
    option = f"--{parameter.replace('_', '-')} default leaves it to the model"
    with stub_server("--refuse", parameter) as url:
        with pytest.raises(InputError, match=f"refuses the parameter '{parameter}': {option}"):
            answered(cached_model(url), list(requests(3, params=SAMPLED)))
        assert stats(url)["calls"] == 1


def test_a_server_without_log_probabilities_answers_without() -> None:
    for option in (["--no-logprobs"], ["--refuse", "logprobs"]):
        with stub_server(*option) as url:
            (answer,) = cached_model(url).ask([Request("Rate.", SAMPLED, (0,), "here")])
        assert answer.outcomes[0].positions is None


@pytest.mark.parametrize("option", ["--no-n", "--refuse-n"])
def test_samples_are_asked_one_by_one_where_the_server_gives_one(
    option: str, caplog: pytest.LogCaptureFixture
) -> None:
    with stub_server(option) as url:
        found = answered(cached_model(url), list(requests(10, samples=4, params=SAMPLED)))
        calls = stats(url)["calls"]
    assert all(len(texts) == 4 for texts in found.values())
    assert calls == 40 + (1 if option == "--refuse-n" else 0)
    (said,) = caplog.messages
    assert "n: samples are asked one by one" in said
    with stub_server() as url:
        assert answered(cached_model(url), list(requests(10, samples=4, params=SAMPLED)))
        assert stats(url)["calls"] == 10


def test_samples_asked_one_by_one_have_seeds_of_their_own() -> None:
    with stub_server("--no-n") as url:
        answered(cached_model(url), list(requests(1, samples=3, params=SAMPLED)))
        assert [body["seed"] for body in stats(url)["bodies"]] == [3, 4, 5]


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong-key", "refuses the key in OPENAI_API_KEY (HTTP 401)"),
        ("no-model", "does not know the model 'stub'"),
        ("html", "did not answer in JSON but with: a web page"),
        ("empty-choices", "holds no choices"),
        ("context-too-long", "text 0: the prompt is too long for openai/stub"),
    ],
)
def test_a_server_that_can_answer_nothing_is_named_in_one_line(
    mode: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with stub_server("--mode", mode) as url:
        with pytest.raises(InputError) as error:
            answered(cached_model(url), list(requests(100)))
        assert stats(url)["calls"] <= 3
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_word_for_a_key_is_not_cut_out_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("1", "EMPTY", "topic", "keeps to its topic"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with stub_server("--answer", "explain") as url:
            (texts,) = answered(cached_model(url), list(requests(1))).values()
        assert texts[0].startswith("The text keeps to its topic, but one sentence")


def test_a_server_that_only_fails_ends_the_run_whatever_the_number_of_retries() -> None:
    for retries in (0, 1, 8):
        with stub_server("--mode", "server-error") as url:
            with pytest.raises(
                StoppedEarly, match=r"no call succeeds \(HTTP 500.*the same command tries again"
            ):
                answered(cached_model(url, retries=retries), list(requests(100)))
            assert stats(url)["calls"] <= 3


def test_a_tool_call_and_a_content_filter_are_replies_of_their_own_kind() -> None:
    for mode, finish in (("tool-call", "tool_calls"), ("content-filter", "content_filter")):
        with stub_server("--mode", mode) as url:
            (answer,) = cached_model(url).ask(requests(1))
            assert answer.outcomes[0].finish == finish
            assert answer.outcomes[0].text == ""


def test_the_key_goes_to_the_server_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
    with stub_server("--api-key", "sk-right") as url:
        asked = cached_model(url)
        assert len(answered(asked, list(requests(2)))) == 2
        assert "sk-right" not in json.dumps([asked.model.endpoint, asked.model.model])
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
        with pytest.raises(InputError, match="refuses the key"):
            answered(cached_model(url), list(requests(2)))


def test_without_a_key_openai_itself_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    asked = CachedModel(OpenAIClient("gpt-4o-mini"), RequestContext())
    with pytest.raises(InputError, match="no key in OPENAI_API_KEY"):
        answered(asked, list(requests(3)))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one\nsk-two")
    with pytest.raises(InputError, match="OPENAI_API_KEY holds a line break"):
        answered(CachedModel(OpenAIClient("gpt-4o-mini"), RequestContext()), list(requests(3)))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http://[::1",
        "http://h:99999/v1",
        "http://me:secret@host/v1",
        "http://h/v1?key=secret",
    ],
)
def test_an_address_must_be_one(url: str) -> None:
    with pytest.raises(InputError, match="must have the form http://HOST:PORT/v1") as error:
        OpenAIClient("stub", url)
    assert "secret" not in str(error.value)


def test_nobody_at_the_address() -> None:
    with pytest.raises(InputError, match=r"no server answers at http://127\.0\.0\.1:9/v1"):
        answered(cached_model("http://127.0.0.1:9/v1"), list(requests(100)))


@pytest.mark.parametrize(
    ("message", "param", "parameter"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_tokens",
        ),
        ("Unrecognized request argument supplied: logprobs", None, "logprobs"),
        ("top_logprobs must be at most 5, not 20: invalid", None, "top_logprobs"),
        ("n must be 1 when using greedy sampling, got 5.", None, "n"),
        ("Extra inputs are not permitted: seed", None, "seed"),
        ("The text holds the word temperature.", None, None),
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", None, "logprobs"),
        ("Invalid value in messages", "messages", None),
    ],
)
def test_which_parameter_a_server_refuses(message: str, param: str | None, parameter: str | None) -> None:
    body = json.dumps({"error": {"message": message, "param": param, "type": "invalid_request_error"}})
    assert read_problem(400, body.encode()).parameter(SENT) == parameter
    assert read_problem(400, body.encode()).parameter({"model": "stub"}) is None


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
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, "out_of_money"),
        (429, {"message": "Your account is not active", "code": "billing_not_active"}, "out_of_money"),
        (402, {"message": "Insufficient Balance"}, "out_of_money"),
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
    for other in {"too_long", "out_of_money", "moderated", "wrong_key", "no_model"} - {kind}:
        assert not getattr(problem, other), other


def test_an_error_inside_a_good_status_is_one() -> None:
    problem = problem_inside(b'{"error": {"message": "Insufficient credits", "code": 402}}')
    assert problem is not None
    assert problem.out_of_money
    assert problem_inside(b'{"choices": [{"message": {"content": "4"}}], "error": null}') is None
    assert problem_inside(b'{"choices": []}') is None
    broken = {"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502}}]}
    with pytest.raises(Unreadable, match="broken off"):
        read_replies(json.dumps(broken).encode())


@pytest.mark.parametrize(
    ("option", "error"),
    [
        (("--mode", "wrong-key"), openai.AuthenticationError),
        (("--mode", "no-model"), openai.NotFoundError),
        (("--mode", "context-too-long"), openai.BadRequestError),
        (("--refuse", "temperature"), openai.BadRequestError),
        (("--faults", "429=1"), openai.RateLimitError),
        (("--mode", "server-error"), openai.InternalServerError),
    ],
)
def test_the_official_client_understands_the_same_errors(
    option: tuple[str, str], error: type[openai.APIStatusError]
) -> None:
    with (
        stub_server(*option) as url,
        openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client,
        pytest.raises(error) as raised,
    ):
        client.chat.completions.create(
            model="stub", messages=[{"role": "user", "content": "Rate."}], temperature=0
        )
    theirs = raised.value
    ours = read_problem(theirs.status_code, theirs.response.content)
    assert theirs.body["message"] == ours.message  # type: ignore[index]
    assert (theirs.code or theirs.type) == ours.code
    assert (theirs.param or "") == ours.named


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
        b'{"choices": [{"message": {"content": "4"}, "logprobs": {"content": [{"tok": 1}]}}]}',
    ],
)
def test_bodies_without_an_answer_are_said_to_be_that(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_replies(body)


def test_replies_are_put_in_the_order_of_their_index() -> None:
    choices = [{"index": i, "message": {"content": f"text {i}"}, "finish_reason": "stop"} for i in (2, 0, 1)]
    replies = read_replies(json.dumps({"choices": choices}).encode())
    assert [r.text for r in replies] == ["text 0", "text 1", "text 2"]
    parts = [{"type": "text", "text": "4"}, {"type": "text", "text": "/5"}]
    said = {"choices": [{"message": {"content": parts}, "finish_reason": None}]}
    assert read_replies(json.dumps(said).encode())[0].text == "4/5"
