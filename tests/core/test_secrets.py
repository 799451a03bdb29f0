"""What looks like a key is hidden, and nothing else."""

import pytest

from dhp.core.secrets import masked
from dhp.llm.settings import read_fields
from dhp.plugins.improve.best_config import _without_secrets


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"api_key": "plainword"}, {"api_key": "***"}),
        ({"metadata": {"authorization": "Bearer abc"}}, {"metadata": {"authorization": "***"}}),
        ({"extra": ["x", "sk-proj-0123456789"]}, {"extra": ["x", "***"]}),
        ({"note": "Bearer abcdef"}, {"note": "Bearer ***"}),
        ({"user": "hf_abcdefghijkl and more"}, {"user": "*** and more"}),
        ({"x-session-token": "abc"}, {"x-session-token": "***"}),
        ({"id": "0f8fad5b-d9cb-469f-a165-70867728950e"}, {"id": "***"}),
        ({"k": "a1b2c3d4e5f6a7b8c9d0e1f2"}, {"k": "***"}),
    ],
)
def test_what_looks_like_a_key_is_hidden(value: object, written: object) -> None:
    assert masked(value) == written


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 5, "reasoning_effort": "low", "keyword": "monkey", "stop": ["\n", "Rating:"]},
        {"model": "meta-llama/Llama-3.1-8B-Instruct", "service_tier": "flex", "top_k": 40},
        {"model": "claude-3-5-sonnet-20241022", "prompt_cache_retention": "24h"},
    ],
)
def test_other_settings_stay(value: object) -> None:
    assert masked(value) == value


@pytest.mark.parametrize("pair", ["sk-proj-0123456789", 'metadata={"k": "sk-proj-0123456789"'])
def test_a_message_about_a_field_of_the_body_shows_no_key(pair: str) -> None:
    with pytest.raises(ValueError, match=r"\*\*\*") as error:
        read_fields([pair])
    assert "0123456789" not in str(error.value)


def test_a_config_that_is_written_holds_no_key() -> None:
    options = {"base-url": "https://gate.example/sk-proj-0123456789/v1", "body": ["api_key=plain"], "n": 5}
    assert _without_secrets(options) == {
        "base-url": "https://gate.example/***/v1",
        "body": ['api_key="***"'],
        "n": 5,
    }
