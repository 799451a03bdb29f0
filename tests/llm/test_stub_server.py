"""The stub server must look like the real thing to the official client, or tests against it prove nothing."""

import asyncio
import itertools
import math
from typing import Any

import pytest

from tests.llm.stub import reset, stats, stub_server

openai = pytest.importorskip("openai")

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rate this text 1-5."}]


def ask(url: str, text: str | None = None, *, key: str = "sk-0123456789abcdef", **params: Any) -> Any:
    messages = MESSAGES if text is None else [{"role": "user", "content": text}]
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=params.pop("timeout", 10))
    return client.chat.completions.create(model="m", messages=messages, **params)


def scores(reply: Any) -> list[str]:
    return [choice.message.content for choice in reply.choices]


@pytest.mark.slow
def test_an_answer_is_complete_and_repeats() -> None:
    with stub_server() as url:
        reply = ask(url, n=8, temperature=1, seed=1)
        assert scores(reply) == scores(ask(url, n=8, temperature=1, seed=1))
        assert scores(reply)[:3] == scores(ask(url, n=3, temperature=1, seed=1))
        assert scores(reply) != scores(ask(url, n=8, temperature=1, seed=2))
        assert set(scores(reply)) <= set("12345")
        assert reply.usage.prompt_tokens == 6
        assert reply.usage.completion_tokens == 8
        assert [model.id for model in openai.OpenAI(base_url=url, api_key="k").models.list()] == ["stub"]
        counted = stats(url)
        assert counted["calls"] == 4
        assert counted["statuses"] == {"200": 4}
        assert sorted(counted["paid"].values()) == [1, 1, 2]
        assert counted["bodies"][0]["messages"] == MESSAGES
        assert "authorization" in counted["headers"][0]
        reset(url)
        assert stats(url)["calls"] == 0
    with stub_server() as url:
        assert scores(ask(url, n=8, temperature=1, seed=1)) == scores(reply)


@pytest.mark.slow
def test_log_probabilities_are_a_distribution_around_the_answer() -> None:
    with stub_server("--answer", "explain") as url:
        choice = ask(url, logprobs=True, top_logprobs=20).choices[0]
        content = choice.logprobs.content
        assert "".join(token.token for token in content) == choice.message.content
        assert choice.message.content.endswith(f"Rating:{content[-1].token}")
        top = {each.token: math.exp(each.logprob) for each in content[-1].top_logprobs}
        assert content[-1].token in top
        assert len(top) == 20
        assert 0.9 < sum(top.values()) <= 1
        assert len({token.strip() for token in top} & set("12345")) >= 3
        cut = ask(url, max_tokens=3).choices[0]
        assert cut.finish_reason == "length"
        assert choice.message.content.startswith(cut.message.content)
    with stub_server() as url:
        tokens = {
            each.token
            for each in ask(url, logprobs=True, top_logprobs=20).choices[0].logprobs.content[0].top_logprobs
        }
        assert tokens & {" 1", " 2", " 3", " 4", " 5"}
        assert tokens & {"one", "two", "three", "four", "five"}


def outcomes(url: str) -> list[str]:
    found = []
    for text, _ in itertools.product(map(str, range(20)), range(2)):
        try:
            found.append(scores(ask(url, text, timeout=0.3))[0])
        except (openai.OpenAIError, ValueError) as e:
            found.append(type(e).__name__)
    return found


@pytest.mark.slow
def test_faults_come_as_ordered_and_repeat() -> None:
    options = ("--faults", "429=0.25,500=0.15,drop=0.15,hang=0.05,garbage=0.15", "--retry-after", 0.2)
    with stub_server(*options) as url:
        first, counted = outcomes(url), stats(url)
        reset(url)
        assert outcomes(url) == first
    statuses = counted["statuses"]
    assert set(statuses) == {"200", "429", "500", "drop", "hang", "garbage"}
    assert sum(statuses.values()) == counted["calls"] == 40
    assert sum(counted["paid"].values()) == statuses["200"] == sum(map(str.isdigit, first))
    assert first.count("RateLimitError") == statuses["429"]
    assert first.count("APITimeoutError") == statuses["hang"]
    with stub_server("--faults", "429=1", "--retry-after", 0.2) as url:
        with pytest.raises(openai.RateLimitError) as failed:
            ask(url)
        assert failed.value.response.headers["retry-after"] == "0.2"


def test_calls_in_flight_are_counted_and_limited() -> None:
    async def crowd(url: str) -> list[object]:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
            calls = (client.chat.completions.create(model="m", messages=MESSAGES, seed=i) for i in range(6))
            return await asyncio.gather(*calls, return_exceptions=True)

    with stub_server("--latency", 0.3, "--busy-above", 4) as url:
        replies = asyncio.run(crowd(url))
        counted = stats(url)
    refused = [r for r in replies if isinstance(r, openai.RateLimitError)]
    assert len(refused) == counted["statuses"]["429"] == 2
    assert counted["max_in_flight"] == 6
    assert counted["in_flight"] == 0
