"""What looks like a key is hidden, and nothing else."""

import pytest

from dhp.core.secrets import masked


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
