"""Both transports against one stub server: what is sent, and what is made of refusals."""

import importlib.metadata
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import openai
import pytest

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.responses import read_problem
from dhp.llm.records import Params, Request
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.llm.stub import stats, stub_server
from tests.server import reply, scripted_server

SAMPLED = Params(temperature=0.7, top_p=0.9, max_tokens=5, seed=3, top_logprobs=20)


@pytest.fixture(params=["fast", "sdk"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_without_the_package_the_transport_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(InputError, match=r"`transport` sdk needs the package 'openai'.*\[openai\]"):
        OpenAIClient("stub", base_url="http://127.0.0.1:9/v1", transport="sdk")


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
def test_the_official_client_sends_the_same_body(transport: str, params: Params) -> None:
    samples = (0, 1) if params is SAMPLED else (0,)
    request = Request("Rate »this« – 好.", params, samples, "here")
    with stub_server() as url:
        assert OpenAIClient("stub", url).body(request, samples) == official_body(url, request)
        list(cached_model(url, transport=transport).ask([request]))
        assert stats(url)["bodies"][-1] == stats(url)["bodies"][-2]


def test_the_official_client_reads_the_same_answers(transport: str) -> None:
    request = Request("Rate this.", SAMPLED, (0, 1), "here")
    with stub_server() as url, openai.OpenAI(base_url=url, api_key="none") as client:
        ((_, outcomes),) = cached_model(url, transport=transport).ask([request])
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
        reply = outcomes[sample]
        assert reply.text == choice.message.content
        assert reply.finish == choice.finish_reason
        tops = [[(top.token, top.logprob) for top in place.top_logprobs] for place in choice.logprobs.content]
        assert [list(position.alternatives) for position in reply.positions] == tops
        assert [p.chosen for p in reply.positions] == [place.token for place in choice.logprobs.content]
    assert outcomes[0].prompt_tokens == said.usage.prompt_tokens
    assert outcomes[1].prompt_tokens == 0
    assert sum(o.completion_tokens for o in outcomes.values()) == said.usage.completion_tokens


def test_max_tokens_is_asked_for_by_its_newer_name_where_the_server_wants_that(transport: str) -> None:
    with stub_server("--refuse", "max_tokens") as url:
        assert len(answered(cached_model(url, transport=transport), list(requests(30)))) == 30
        assert stats(url)["statuses"]["400"] == 1
        assert stats(url)["bodies"][-1]["max_completion_tokens"] == 16


def test_a_refused_seed_is_left_out_and_said(transport: str, caplog: pytest.LogCaptureFixture) -> None:
    with stub_server("--refuse", "seed") as url:
        assert len(answered(cached_model(url, transport=transport), list(requests(3, params=SAMPLED)))) == 3
    assert "openai/stub: the server refuses seed: sampling cannot be repeated" in caplog.text


@pytest.mark.parametrize("parameter", ["temperature", "top_p"])
def test_a_refused_sampling_parameter_is_never_dropped_in_silence(transport: str, parameter: str) -> None:
    option = f"`{parameter}=None` leaves it to the model"
    with stub_server("--refuse", parameter) as url:
        with pytest.raises(InputError, match=f"refuses the parameter '{parameter}': {option}"):
            answered(cached_model(url, transport=transport), list(requests(3, params=SAMPLED)))
        assert stats(url)["calls"] == 1


def test_a_server_without_log_probabilities_answers_without(transport: str) -> None:
    for option in (["--no-logprobs"], ["--refuse", "logprobs"]):
        with stub_server(*option) as url:
            asked = cached_model(url, transport=transport)
            ((_, outcomes),) = asked.ask([Request("Rate.", SAMPLED, (0,), "here")])
        assert outcomes[0].positions is None


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--no-n", "--refuse-n"])
def test_samples_are_asked_one_by_one_where_the_server_gives_one(
    transport: str, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    with stub_server(option) as url:
        asked = cached_model(url, transport=transport)
        found = answered(asked, list(requests(10, samples=4, params=SAMPLED)))
        calls = stats(url)["calls"]
    assert all(len(texts) == 4 for texts in found.values())
    assert calls == 40 + (1 if option == "--refuse-n" else 0)
    (said,) = caplog.messages
    assert "n: samples are asked one by one" in said
    with stub_server() as url:
        assert answered(cached_model(url, transport=transport), list(requests(10, samples=4, params=SAMPLED)))
        assert stats(url)["calls"] == 10


def test_samples_asked_one_by_one_have_seeds_of_their_own(transport: str) -> None:
    with stub_server("--no-n") as url:
        answered(cached_model(url, transport=transport), list(requests(1, samples=3, params=SAMPLED)))
        assert [body["seed"] for body in stats(url)["bodies"]] == [3, 4, 5]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong-key", "refuses the key in OPENAI_API_KEY (HTTP 401)"),
        ("no-model", "does not know the model 'stub'"),
        ("html", "a web page"),
        ("empty-choices", "holds no choices"),
        ("context-too-long", "the prompt is too long for openai/stub (HTTP 400"),
    ],
)
def test_a_server_that_can_answer_nothing_is_named_in_one_line(
    transport: str, mode: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with stub_server("--mode", mode) as url:
        with pytest.raises(InputError) as error:
            answered(cached_model(url, transport=transport), list(requests(100)))
        # Ten prompts in a row without choices, each tried twice, are no fault of single prompts.
        assert stats(url)["calls"] <= {"context-too-long": 100, "empty-choices": 20}.get(mode, 3)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_word_for_a_key_is_not_cut_out_of_answers(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("1", "EMPTY", "topic", "keeps to its topic"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with stub_server("--answer", "explain") as url:
            (texts,) = answered(cached_model(url, transport=transport), list(requests(1))).values()
        assert texts[0].startswith("The text keeps to its topic, but one sentence")


def test_a_server_that_only_fails_ends_the_run_whatever_the_number_of_retries(transport: str) -> None:
    for retries in (0, 1, 8):
        with stub_server("--mode", "server-error") as url:
            with pytest.raises(
                StoppedEarly, match=r"no call succeeds \(HTTP 500.*repeat the command to try again"
            ):
                answered(cached_model(url, transport=transport, retries=retries), list(requests(100)))
            assert stats(url)["calls"] <= 3


def test_a_tool_call_and_a_content_filter_are_replies_of_their_own_kind(transport: str) -> None:
    for mode, finish in (("tool-call", "tool_calls"), ("content-filter", "content_filter")):
        with stub_server("--mode", mode) as url:
            ((_, outcomes),) = cached_model(url, transport=transport).ask(requests(1))
            assert outcomes[0].finish == finish
            assert outcomes[0].text == ""


def test_without_a_key_openai_itself_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    asked = CachedModel(OpenAIClient("gpt-4o-mini"), RequestContext())
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
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
        "http://h/v1#secret",
    ],
)
def test_an_address_must_be_one(url: str) -> None:
    with pytest.raises(InputError, match="must have the form http://HOST:PORT/v1") as error:
        OpenAIClient("stub", url)
    assert "secret" not in str(error.value)


def test_nobody_at_the_address(transport: str) -> None:
    with pytest.raises(InputError, match=r"no server answers at http://127\.0\.0\.1:9/v1"):
        answered(cached_model("http://127.0.0.1:9/v1", transport=transport), list(requests(100)))


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


KEY_IN_PATH = "sk-live-0123456789abcdefghij"


def test_a_key_in_the_path_is_kept_out_of_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env-0123456789")
    secret = (KEY_IN_PATH, "0123456789abcdef0123456789abcdef", "1b4e28ba-2fa1-11d2-883f-0016d3cca427")
    found = [
        OpenAIClient("stub", f"https://host/{key}/v1").endpoint for key in (*secret, "sk-env-0123456789")
    ]
    assert all(re.fullmatch(r"https://host/key-[0-9a-f]{12}/v1", endpoint) for endpoint in found), found
    assert len(set(found)) == 4, "replies of different accounts stay apart"
    for plain in (
        "openai/deployments/gpt-4o-2024-11-20-eastus/v1",
        "v1/projects/my-project-123456/endpoints",
    ):
        assert OpenAIClient("stub", f"https://host/{plain}").endpoint == f"https://host/{plain}"


def test_a_key_in_the_path_opens_the_server(transport: str, tmp_path: Path) -> None:
    with scripted_server(lambda call: reply(KEY_IN_PATH)) as server:
        asked = cached_model(f"{server.url}/{KEY_IN_PATH}", tmp_path / "s.sqlite", transport=transport)
        assert answered(asked, list(requests(1))) == {0: ["***"]}
        assert [call.path for call in server.calls] == [f"/{KEY_IN_PATH}/chat/completions"]
    assert KEY_IN_PATH.encode() not in (tmp_path / "s.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://plain.example/v1", True),
        ("http://10.0.0.7:8000/v1", True),
        ("https://plain.example/v1", False),
        ("http://localhost:8000/v1", False),
        ("http://127.0.0.2:8000/v1", False),
        ("http://[::1]:8000/v1", False),
    ],
)
def test_a_key_over_plain_http_is_warned_of(
    url: str, warned: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    OpenAIClient("stub", url)
    assert caplog.messages == []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env-0123456789")
    OpenAIClient("stub", url)
    assert ["over plain http" in message for message in caplog.messages] == [True] * warned
