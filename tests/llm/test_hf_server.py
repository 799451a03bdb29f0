"""What `transformers serve` does with requests in the format of OpenAI, seen by the official client."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.llm.hf_server import Served
from tests.llm.tiny_model import END, sentences

openai = pytest.importorskip("openai")

TEXTS = sentences(12, seed=3)


@pytest.fixture(scope="module")
def client(transformers_server: Served) -> Iterator[Any]:
    with openai.OpenAI(base_url=transformers_server.base_url, api_key="none", max_retries=0) as client:
        yield client


def ask(client: Any, served: Served, prompt: str, **settings: Any) -> Any:
    return client.chat.completions.create(
        model=served.model, messages=[{"role": "user", "content": prompt}], **settings
    )


def text(completion: Any) -> str:
    return str(completion.choices[0].message.content)


def test_it_answers_and_counts(client: Any, transformers_server: Served) -> None:
    answered = [ask(client, transformers_server, prompt, temperature=0, max_tokens=8) for prompt in TEXTS[:8]]
    assert sum(text(a)[:1] in set("12345") for a in answered) >= 6
    for completion in answered:
        assert completion.choices[0].finish_reason in {"stop", "length"}
        assert END not in text(completion)
        assert completion.usage.prompt_tokens > 10
        assert 1 <= completion.usage.completion_tokens <= 8
    assert answered[0].model.startswith(transformers_server.model)


def test_it_heeds_temperature_seed_and_limit(client: Any, transformers_server: Served) -> None:
    def ten(**settings: Any) -> list[str]:
        return [text(ask(client, transformers_server, TEXTS[2], **settings)) for _ in range(10)]

    assert len(set(ten(temperature=0, max_tokens=8))) == 1
    assert len(set(ten(temperature=5.0, max_tokens=8))) > 1
    assert len(set(ten(temperature=5.0, max_tokens=8, seed=7))) == 1
    cut = ask(client, transformers_server, TEXTS[2], temperature=5.0, max_tokens=2, seed=1)
    assert (cut.usage.completion_tokens, cut.choices[0].finish_reason) == (2, "length")


def test_it_drops_samples_and_log_probabilities_in_silence(client: Any, transformers_server: Served) -> None:
    completion = ask(client, transformers_server, TEXTS[0], max_tokens=4, n=3, logprobs=True, top_logprobs=5)
    assert len(completion.choices) == 1
    assert completion.choices[0].logprobs is None
