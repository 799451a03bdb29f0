"""Servers that misbehave: nothing is lost, nothing paid twice, no secret shown; over both transports."""

import gzip
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.responses import longest_body
from dhp.llm.clients.transports import FastTransport, SdkTransport
from dhp.llm.records import Failure, Params, Reply, Request
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.server import Call, refusal, reply, scripted_server

SEEDED = Params(temperature=0.7, top_p=None, max_tokens=5, seed=3)
SECRET = "sk-secret-0123456789"


@pytest.fixture(params=["fast", pytest.param("sdk", marks=pytest.mark.slow)])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("wait", ["inf", "1e308", "86400", "601"])
def test_a_server_that_asks_for_a_longer_wait_than_allowed_stops_the_run(wait: str, transport: str) -> None:
    with scripted_server(lambda call: refusal(429, "slow down", Retry_After=wait)) as server:
        with pytest.raises(
            StoppedEarly, match=r"HTTP 429: slow down\), and the longest allowed is 600 \(`rate_limits.ma"
        ):
            answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(20)))
        assert len(server.calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize("words", ["fünf sind zu viele", "E1042", ""])
def test_a_refusal_of_several_samples_in_unknown_words_costs_one_call(words: str, transport: str) -> None:
    def says(call: Call) -> object:
        return refusal(400, words) if "n" in call.body else reply("4")

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport, concurrency=1)
        assert answered(asked, list(requests(3, samples=5))) == {i: ["4"] * 5 for i in range(3)}
        assert len(server.calls) == 1 + 3 * 5


@pytest.mark.slow
def test_a_refused_request_is_refused_with_one_sample_too(transport: str) -> None:
    with scripted_server(lambda call: refusal(400, "no such field")) as server:
        with pytest.raises(InputError, match=r"every call is rejected \(HTTP 400: no such field\)"):
            answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(60, samples=5)))
        assert any("n" not in call.body for call in server.calls)


JSON = '{"fluency": 4}'
SCHEMA = Params(
    temperature=0.0, top_p=None, max_tokens=5, body=(("response_format", '{"type": "json_schema"}'),)
)


@pytest.mark.parametrize("nothing", ["", " \n" * 5])
def test_a_schema_that_is_answered_by_nothing_is_left_out(nothing: str, transport: str) -> None:
    def says(call: Call) -> object:
        return reply(nothing) if "response_format" in call.body else reply(JSON)

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport, concurrency=1)
        found = answered(asked, list(requests(4, params=SCHEMA)))
        assert set(map(tuple, found.values())) == {(JSON,)}
        assert len(server.calls) == 5
        assert asked.usage.calls == 5


def test_an_empty_answer_among_others_keeps_the_schema(transport: str) -> None:
    def says(call: Call) -> object:
        return reply("" if "text 2." in call.body["messages"][0]["content"] else JSON)

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport, concurrency=1)
        found = answered(asked, list(requests(4, params=SCHEMA)))
        assert [found[i] for i in range(4)] == [[JSON], [JSON], [""], [JSON]]
        assert len(server.calls) == 4


def test_a_model_that_says_nothing_without_a_schema_either_is_asked_twice_once(transport: str) -> None:
    with scripted_server(lambda call: reply("")) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport, concurrency=1)
        answered(asked, list(requests(4, params=SCHEMA)))
        assert [("response_format" in call.body) for call in server.calls] == [True, False, True, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["nan", "-inf", "soon", "0.01"])
def test_an_odd_wait_is_no_wait(wait: str, transport: str) -> None:
    def says(call: Call) -> object:
        return refusal(429, Retry_After=wait) if len(server.calls) < 2 else reply("4")

    with scripted_server(says) as server:
        found = answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(1)))
    assert found == {0: ["4"]}


@pytest.mark.slow
def test_a_prompt_that_is_too_long_costs_its_own_rating_alone(transport: str) -> None:
    def says(call: Call) -> object:
        long = call.body["messages"][0]["content"] in {f"Rate text {i}." for i in range(15)}
        return refusal(400, "maximum context length is 8 tokens") if long else reply("4")

    with scripted_server(says) as server:
        found = answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(40)))
    failed = [tag for tag, (text,) in sorted(found.items()) if text.startswith("!the prompt is too long")]
    assert failed == list(range(15))
    assert all(text == ["4"] for tag, text in found.items() if tag >= 15)
    assert len(server.calls) == 40


@pytest.mark.slow
def test_a_run_in_which_most_prompts_are_too_long_stops(transport: str) -> None:
    def says(call: Call) -> object:
        short = call.body["messages"][0]["content"].endswith("0.")
        return reply("4") if short else refusal(400, "maximum context length is 8 tokens")

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport)
        with pytest.raises(InputError, match=r"27 of 30 prompts do not fit .*longer context or leave long"):
            answered(asked, list(requests(30)))


REFUSALS = {401: "without a key", 403: "forbids it", 404: "model 'stub'"}


@pytest.mark.slow
@pytest.mark.parametrize("status", REFUSALS)
def test_a_refused_prompt_fails_alone_once_others_are_answered(
    status: int, transport: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also when a run is repeated in which nothing but the refused ones is left to ask."""

    def says(call: Call) -> object:
        number = int(call.body["messages"][0]["content"].split()[-1].strip("."))
        return refusal(status, "no") if number % 4 == 3 else reply("4")

    with scripted_server(says) as server:
        for _ in range(2):
            asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", transport=transport)
            found = answered(asked, list(requests(48)))
            failed = {tag: text for tag, (text,) in found.items() if text != "4"}
            assert sorted(failed) == list(range(3, 48, 4))
            assert all(REFUSALS[status] in text for text in failed.values())
    assert len(caplog.messages) == 2
    for said in caplog.messages:
        assert re.search(rf"\(HTTP {status}.*\): no answer about text \d+; the run goes on$", said)


@pytest.mark.slow
@pytest.mark.parametrize("status", REFUSALS)
def test_a_run_whose_key_or_model_is_gone_stops(status: int, transport: str, tmp_path: Path) -> None:
    def says(call: Call) -> object:
        return reply("4") if len(server.calls) <= 20 else refusal(status, "no")

    with scripted_server(says) as server:
        for most in (20 + 10 + 3 * 8, 10 + 3 * 8):
            before = len(server.calls)
            asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", transport=transport)
            with pytest.raises(StoppedEarly) as error:
                answered(asked, list(requests(500)))
            assert len(server.calls) - before <= most
            assert f"openai/stub: no call succeeds any more ({server.url}/v1 " in str(error.value)
            assert REFUSALS[status] in str(error.value)
            assert re.search(
                r"\d\d requests in a row failed, the last about text \d+, and so does one that was answered",
                str(error.value),
            )


def test_missing_choices_alone_are_asked_for_again(transport: str) -> None:
    given = {5: 3, 2: 2, 4: 4}

    def says(call: Call) -> object:
        return reply(*"4" * given.get(call.body["n"], 1))

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport)
        found = answered(asked, list(requests(20, samples=5)))
    assert all(texts == ["4"] * 5 for texts in found.values())
    assert sorted(call.body["n"] for call in server.calls) == [2] * 20 + [5] * 20
    assert asked.model.notes == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {"usage": None},
        {"usage": {"prompt_tokens": float("nan"), "completion_tokens": None}},
        {"usage": "many"},
        {"choices": [{"index": None, "message": {"content": 4}, "finish_reason": None}]},
        {"choices": [{"message": {"content": 4.0}, "logprobs": {"content": [{"tok": 1}]}}]},
    ],
)
def test_an_odd_answer_is_paid_once(more: dict[str, object], transport: str) -> None:
    with scripted_server(lambda call: reply("4", **more)) as server:
        found = answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(10)))
        assert {texts[0] for texts in found.values()} <= {"4", "4.0"}
        assert len(server.calls) == 10


@pytest.mark.slow
@pytest.mark.parametrize("stray", [b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80"])
def test_a_stray_byte_in_an_answer_is_replaced_and_said(
    stray: bytes, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = json.dumps(reply("4 @")[2]).encode()
    with scripted_server(lambda call: (200, {}, good.replace(b"@", stray))) as server:
        found = answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(10)))
        assert len(server.calls) == 10
    assert {texts[0].rstrip("\ufffd") for texts in found.values()} == {"4 "}
    assert caplog.messages == [
        "openai/stub: an answer holds bytes that are not UTF-8; each is replaced by U+FFFD"
    ]


def test_a_stray_byte_outside_of_the_answer_is_no_json(transport: str) -> None:
    broken = b"\xff" + json.dumps(reply("4")[2]).encode()
    with (
        scripted_server(lambda call: (200, {}, broken)) as server,
        pytest.raises(InputError, match="JSON"),
    ):
        answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(3)))


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all bodies that were read."""
    lengths: list[int] = []
    for transport in (FastTransport, SdkTransport):

        async def post(self: Any, *asked: Any, read: Any = transport.post) -> Any:
            status, headers, body = await read(self, *asked)
            lengths.append(len(body))
            return status, headers, body

        monkeypatch.setattr(transport, "post", post)
    return lengths


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_far_longer_than_was_asked_for_is_not_read_whole(
    packed: bool, transport: str, received: list[int]
) -> None:
    """Nor asked for again, as it would be paid again; 20 MB packed are 20 kB on the wire."""
    body = json.dumps(reply("4 " * 10**7)[2]).encode()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    body = gzip.compress(body, 1) if packed else body[:4_000_000]

    def says(call: Call) -> object:
        long = call.body["messages"][0]["content"] == "Rate text 7."
        return (200, headers, body) if long else reply("4")

    most = 2**21 + 16 * 64
    with scripted_server(says) as server:
        found = answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(9)))
        assert len(server.calls) == 9
    assert found.pop(7) == [f"!the answer has more than {most:,} bytes, the most for 16 tokens"]
    assert set(map(tuple, found.values())) == {("4",)}
    assert max(received) == most + 1


def test_a_text_far_longer_than_was_asked_for_is_not_kept(transport: str, tmp_path: Path) -> None:
    most = 2**17 + 16 * 64
    with scripted_server(lambda call: reply("4" * (most + (len(server.calls) == 3)))) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", transport=transport, concurrency=1)
        found = answered(asked, list(requests(5)))
        assert len(server.calls) == 5
    assert found[2] == [f"!the answer has more than {most:,} characters, the most for 16 tokens"]
    assert [len(texts[0]) for tag, texts in found.items() if tag != 2] == [most] * 4


def test_the_bound_grows_with_what_is_asked_for() -> None:
    asked = {"max_completion_tokens": 1000, "n": 5, "top_logprobs": 20}
    assert longest_body(asked) == 2**21 + 5 * 1000 * (64 + 20 * 512)
    assert longest_body({"max_tokens": 16}) == 2**21 + 16 * 64


@pytest.mark.slow
def test_of_a_long_refusal_its_beginning_is_read(transport: str, received: list[int]) -> None:
    def says(call: Call) -> object:
        return 400, {}, "flagged by moderation " * 700_000  # 15 MB

    with scripted_server(says) as server, pytest.raises(InputError) as error:
        answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(20)))
    assert "(content filter: HTTP 400: flagged by moderation" in str(error.value)
    assert len(str(error.value)) < 400
    assert max(received) < 2**22


def test_a_secret_that_a_server_repeats_is_kept_nowhere(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gate: Token gate-0123456789")
    pieces = [SECRET[:7], SECRET[7:], " 4"]
    tokens = [{"token": piece, "logprob": -0.1, "top_logprobs": []} for piece in pieces]

    def says(call: Call) -> object:
        assert call.headers["authorization"] == f"Bearer {SECRET}"
        text = f"You sent {call.headers['authorization']} and {call.headers['x-gate']}: 4"
        if "7" in call.body["messages"][0]["content"]:
            return refusal(400, f"Bad key {SECRET} in your messages")
        choice = {"message": {"content": text}, "logprobs": {"content": tokens}, "finish_reason": SECRET}
        return reply("", choices=[choice])

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", transport=transport)
        answers = list(asked.ask(requests(9, params=QUICK)))
    outcomes = [outcome for _, each in answers for outcome in each.values()]
    texts = {outcome.text for outcome in outcomes if isinstance(outcome, Reply)}
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Failure)}
    assert texts == {"You sent Bearer *** and Token ***: 4"}
    assert reasons == {"HTTP 400: Bad key *** in your messages"}
    rows = sqlite3.connect(tmp_path / "s.sqlite").execute("SELECT * FROM replies").fetchall()
    assert len(rows) == 8
    for shown in (repr(outcomes), repr(rows), repr(asked.model)):
        assert SECRET not in shown
        assert "gate-0123456789" not in shown
    stored = [json.loads(row[9]) for row in rows]
    assert all("".join(chosen for chosen, _ in positions) == "*" * 9 for positions in stored)


def test_a_redirect_is_named_and_not_followed(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for status in (301, 302, 307, 308):
        target = f"http://other.example/v1/chat/completions?key={SECRET}"
        with scripted_server(lambda call, s=status, t=target: (s, {"Location": t}, "")) as server:
            with pytest.raises(InputError) as error:
                answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(5)))
            assert len(server.calls) == 1
        assert f"redirects to http://other.example/v1/chat/completions?key=*** (HTTP {status})" in str(
            error.value
        )


def test_a_missing_path_is_guessed_and_said(transport: str, caplog: pytest.LogCaptureFixture) -> None:
    """`/v1` first; the address itself where nothing is there; replies are stored under one name."""
    for right in ("/v1/chat/completions", "/chat/completions"):

        def says(call: Call, right: str = right) -> object:
            return reply("4") if call.path == right else refusal(404, "Not Found")

        with scripted_server(says) as server:
            asked = cached_model(server.url, transport=transport)
            assert len(answered(asked, list(requests(5)))) == 5
            said = server.url + right.removesuffix("/chat/completions")
            assert caplog.messages == [f"openai/stub: the address has no path; calls go to {said}"]
            caplog.clear()
            assert len(server.calls) == (5 if right.startswith("/v1") else 6)
            assert asked.model.endpoint == f"{server.url}/v1"


def test_a_wrong_address_without_a_path_is_said_by_its_first_answer(transport: str) -> None:
    with scripted_server(lambda call: refusal(404, f"nothing at {call.path}")) as server:
        with pytest.raises(InputError, match="nothing at /v1/chat"):
            answered(cached_model(server.url, transport=transport), list(requests(5)))
        assert len(server.calls) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["error", "drop"])
def test_a_server_that_fails_with_a_seed_is_asked_without(
    kind: str, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    def says(call: Call) -> object:
        if "seed" not in call.body:
            return reply("4")
        return refusal(500, "engine died") if kind == "error" else None

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", transport=transport)
        found = answered(asked, list(requests(10, params=SEEDED)))
    assert "fails with a seed (" in caplog.text
    assert "): it is left out, sampling varies" in caplog.text
    assert all(texts == ["4"] for texts in found.values())
    assert sum("seed" in call.body for call in server.calls) == 2


@pytest.mark.slow
def test_a_server_that_fails_with_and_without_a_seed_is_not_blamed_for_it(transport: str) -> None:
    said = r"no call succeeds \(HTTP 500: engine died\)"
    with (
        scripted_server(lambda call: refusal(500, "engine died")) as server,
        pytest.raises(StoppedEarly, match=said),
    ):
        answered(cached_model(f"{server.url}/v1", transport=transport), list(requests(10, params=SEEDED)))


@pytest.mark.slow
def test_both_transports_send_what_the_environment_of_the_official_package_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: yes\nOpenAI-Project: project-2")
    for key in (SECRET, ""):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with scripted_server(lambda call: reply("4")) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
            for transport in ("fast", "sdk"):
                answered(cached_model(None, transport=transport), list(requests(1)))
        one, other = server.calls
        assert one.body == other.body
        assert one.path == other.path == "/v1/chat/completions"
        names = ("authorization", "openai-organization", "openai-project", "x-mine", "content-type")
        sent = [[call.headers.get(name) for name in names] for call in server.calls]
        bearer = f"Bearer {SECRET}" if key else None
        assert sent[0] == sent[1] == [bearer, "org-1", "project-2", "yes", "application/json"]


@pytest.mark.slow
def test_azure_is_reached_through_the_official_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(lambda call: reply("4")) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.url}/")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        asked = cached_model(None)
        assert answered(asked, list(requests(2))) == {0: ["4"], 1: ["4"]}
        path = "/openai/deployments/stub/chat/completions?api-version=2024-10-21"
        assert [(call.path, call.headers["api-key"]) for call in server.calls] == [(path, SECRET)] * 2
        assert asked.model.endpoint == f"{server.url} api-version=2024-10-21"
        with pytest.raises(InputError, match="`transport` fast: does not reach Azure"):
            OpenAIClient("stub", transport="fast")
        assert OpenAIClient("stub", f"{server.url}/v1").endpoint == f"{server.url}/v1"
        for name, said in (
            ("OPENAI_API_VERSION", "OPENAI_API_VERSION"),
            ("AZURE_OPENAI_API_KEY", "credentials"),
        ):
            with monkeypatch.context() as without:
                without.delenv(name)
                with pytest.raises(InputError, match=f"the openai package: .*{said}"):
                    answered(cached_model(None), list(requests(1)))


def test_a_wrong_key_for_azure_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(lambda call: refusal(401, f"no access by {SECRET}")) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        with pytest.raises(InputError, match=r"refuses the key in AZURE_OPENAI_API_KEY \(HTTP 401\)"):
            answered(cached_model(None), list(requests(1)))


def test_an_unknown_transport_is_named() -> None:
    with pytest.raises(InputError, match=r"`transport` 'sdx': unknown.*'sdk'"):
        OpenAIClient("stub", "http://127.0.0.1:9/v1", transport="sdx")  # type: ignore[arg-type]


def test_samples_without_a_seed_are_asked_for_without_one() -> None:
    params = Params(temperature=0.7, top_p=None, max_tokens=5, seed=None)
    body = OpenAIClient("stub", "http://127.0.0.1:9/v1").body(
        Request("Rate.", params, (0, 1), "here"), (0, 1)
    )
    assert "seed" not in body
