"""Providers that are named by their models, and further fields of requests."""

import json
from pathlib import Path

import pytest

from dhp.cli.main import main
from dhp.core.errors import InputError
from dhp.judge.factory import llm_judge
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.servers import SERVERS
from dhp.llm.limits import RateLimits
from dhp.llm.records import Params, Request
from dhp.llm.settings import ModelSettings
from dhp.llm.store import keys
from tests.server import Call, reply, scripted_server

KEY = "sk-of-a-provider-0123456789"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name for server in SERVERS.values() for name in (*server.keys, server.address_variable) if name}
    for name in (*names, "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("provider", "environment", "endpoint"),
    [
        ("anthropic", {}, "https://api.anthropic.com/v1"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "https://proxy.example/"}, "https://proxy.example/v1"),
        ("gemini", {}, "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("openrouter", {}, "https://openrouter.ai/api/v1"),
        ("ollama", {}, "http://localhost:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "gpu:8080"}, "http://gpu:8080/v1"),
        ("azure", {"AZURE_OPENAI_ENDPOINT": "https://me.example/"}, "https://me.example/openai/v1"),
        (
            "azure",
            {"AZURE_OPENAI_ENDPOINT": "https://me.example", "OPENAI_API_VERSION": "2024-10-21"},
            "https://me.example api-version=2024-10-21",
        ),
    ],
)
def test_a_provider_names_its_own_address(
    provider: str, environment: dict[str, str], endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    client = OpenAIClient("some/model", provider=provider)
    assert (client.model, client.endpoint) == (f"{provider}/some/model", endpoint)


def test_azure_without_an_address_names_the_variable() -> None:
    with pytest.raises(InputError, match="AZURE_OPENAI_ENDPOINT is not set; set it, or `base_url`"):
        OpenAIClient("gpt", provider="azure")


@pytest.mark.parametrize("provider", [name for name, server in SERVERS.items() if server.keys])
def test_a_provider_whose_key_is_not_set_names_the_variable(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.example")
    with pytest.raises(InputError, match=f"{SERVERS[provider].keys[0]} is not set"):
        OpenAIClient("name", provider=provider).check()


def test_the_key_of_a_provider_goes_to_its_server_and_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "mine")
    with scripted_server(lambda call: reply("4")) as server:
        settings = ModelSettings(base_url=f"{server.url}/v1", rate_limits=RateLimits(2), store=False)
        judge = llm_judge("gemini/flash", settings=settings)
        request = Request("Rate it.", Params(0.0, None, 5), (0,), "a text")
        ((_, outcomes),) = judge.cached_model.ask([request])
    assert getattr(outcomes[0], "text", None) == "4"
    (sent,) = (call for call in server.calls if call.method == "POST")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert "openai-organization" not in sent.headers
    assert sent.body["model"] == "flash"


def test_an_unknown_provider_names_the_ways_that_there_are() -> None:
    with pytest.raises(InputError, match=r"unknown provider 'cohere'; .*litellm/PROVIDER/NAME.*`base_url`"):
        llm_judge("cohere/command")


def says(call: Call) -> object:
    return reply("4")


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    """Exit code and messages of a command."""
    with pytest.raises(SystemExit) as end:
        main(["benchmark", *arguments])
    return end.value.code, capsys.readouterr().err


@pytest.mark.parametrize("transport", ["fast", "sdk"])
def test_further_fields_are_sent_and_are_part_of_the_signature_and_of_the_key(transport: str) -> None:
    fields = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    with scripted_server(says) as server:
        settings = ModelSettings(base_url=f"{server.url}/v1", body=fields, store=False, transport=transport)
        plain = llm_judge("openai/stub", settings=ModelSettings(base_url=f"{server.url}/v1", store=False))
        judge = llm_judge("openai/stub", settings=settings)
        params = judge.builder._params()
        request = Request("Rate it.", params, (0,), "a text")
        list(judge.cached_model.ask([request]))
    (sent,) = (call for call in server.calls if call.method == "POST")
    assert {name: sent.body[name] for name in fields} == fields
    assert judge.protocol != plain.protocol
    assert judge.identity["body"] == fields
    other = Request("Rate it.", plain.builder._params(), (0,), "a text")
    assert keys("m", "e", request) != keys("m", "e", other)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("temperature=0.3", "--body temperature: is set by --temperature"),
        ("n=3", "--body n: is set by --samples"),
        ("reasoning_effort", "must have the form KEY=JSON"),
        ('provider={"order": [', "is broken JSON"),
    ],
)
def test_a_field_that_cannot_be_sent_is_refused(
    typed: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(capsys, "--model", "openai/stub", "--dataset", "mini/summeval", "--body", typed)
    assert code == 2
    assert message in said


@pytest.mark.slow
def test_fields_of_a_configuration_may_be_nested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "dhp.yaml"
    with scripted_server(says) as server:
        config.write_text(
            json.dumps(
                {
                    "model": "openai/stub",
                    "base-url": f"{server.url}/v1",
                    "dataset": "mini/summeval",
                    "n": 4,
                    "metric": "fluency",
                    "samples": 1,
                    "out": str(tmp_path / "out"),
                    "cache": str(tmp_path / "cache"),
                    "body": {"chat_template_kwargs": {"enable_thinking": False}, "effort": "low"},
                }
            )
        )
        code, said = ended(capsys, "--config", str(config), "--quiet")
    assert code == 0, said
    sent = [call.body for call in server.calls if call.method == "POST"]
    assert all(body["chat_template_kwargs"] == {"enable_thinking": False} for body in sent)
    assert {body["effort"] for body in sent} == {"low"}
