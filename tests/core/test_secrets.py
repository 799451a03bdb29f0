"""What is secret is hidden in all that is written, in whatever form; all else stays as it is."""

import html
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from dhp.core import hiding
from dhp.core.errors import InputError
from dhp.core.hiding import hidden, hidden_bytes, hidden_table, hidden_value
from dhp.core.secrets import hidden_words, remember, remember_address, remember_fields
from dhp.llm.settings import read_fields

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=12, max_size=60)


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    known = hiding._replacements
    hiding._replacements = ()
    yield
    hiding._replacements = known


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ({"api_key": "plainword"}, {"api_key": "***"}),
        ({"api_key": 12345}, {"api_key": "***"}),
        ({"metadata": {"authorization": "Bearer abc"}}, {"metadata": {"authorization": "***"}}),
        ({"extra_headers": {"X-Api-Key": "abc"}}, {"extra_headers": {"X-Api-Key": "***"}}),
        ({"openaiApiKey": "abc"}, {"openaiApiKey": "***"}),
        ({"x-session-token": "abc"}, {"x-session-token": "***"}),
        ({"extra": ["x", "sk-proj-0123456789"]}, {"extra": ["x", "***"]}),
        ({"note": "Bearer abcdef"}, {"note": "Bearer ***"}),
        ({"user": "hf_abcdefghijkl and more"}, {"user": "*** and more"}),
        ({"url": "https://x.example/?api_key=abcd1234ef"}, {"url": "https://x.example/?api_key=***"}),
        ({"proxy": "http://me:hunter2-hunter2@host:80"}, {"proxy": "http://***@host:80"}),
        ({"key_1": "a1b2c3d4e5f6a7b8"}, {"key_1": "***"}),
    ],
)
def test_keys_in_a_body_are_hidden(body: object, written: object) -> None:
    remember_fields(body)
    assert hidden_value(body) == written


@pytest.mark.parametrize(
    "body",
    [
        {"max_tokens": 5, "reasoning_effort": "low", "keyword": "monkey", "stop": ["\n", "Rating:"]},
        {"model": "meta-llama/Llama-3.1-8B-Instruct", "service_tier": "flex", "top_k": 40},
        {"model": "claude-3-5-sonnet-20241022", "prompt_cache_retention": "24h"},
        {"adapter": "0f8fad5b-d9cb-469f-a165-70867728950e", "revision": "a1b2c3d4e5f6a7b8c9d0e1f2"},
        {"prompt_cache_key": "my-runs-of-november", "eos_token": "</s>", "tokenizer": "llama-3-tokenizer-8b"},
    ],
)
def test_other_settings_stay(body: object) -> None:
    remember_fields(body)
    assert hidden_value(body) == body


@pytest.mark.slow
@given(WORDS, st.text(), st.text())
def test_a_secret_is_hidden_in_every_form_of_file(secret: str, before: str, after: str) -> None:
    hiding._replacements = ()
    remember(f"Bearer {secret}")
    text = f"{before}{secret}{after}"
    written = [text, json.dumps({"a": text}), json.dumps([text], ensure_ascii=False)]
    written += [html.escape(text), str(escape(text)), quote(secret, safe="")]
    for each in written:
        assert secret not in hidden(each)
        assert secret.encode() not in hidden_bytes(each.encode(errors="replace"))
        assert "***" in hidden(each)
    for each in (hidden(written[1]), hidden(written[2])):
        json.loads(each)


@given(st.text())
def test_ordinary_text_stays(text: str) -> None:
    hiding._replacements = ()
    remember("sk-0123456789-abcdef", "none", "EMPTY")
    assert hidden(text) == text
    assert hidden_value({"text": text}) == {"text": text}
    assert hidden_bytes(text.encode(errors="replace")) == text.encode(errors="replace")


def test_a_word_for_a_key_is_no_secret() -> None:
    assert not remember("", "none", "EMPTY", "lm-studio", "not-needed")
    assert hidden("none of these is EMPTY") == "none of these is EMPTY"
    assert remember("s3cret-of-8")


def test_a_key_in_the_path_of_an_address_is_known() -> None:
    assert remember_address("https://gate.example/sk-proj-0123456789/v1") == ("sk-proj-0123456789",)
    assert remember_address("http://localhost:8000/v1") == ()
    assert hidden("at https://gate.example/sk-proj-0123456789/v1") == "at https://gate.example/***/v1"


def test_a_table_is_written_without_secrets() -> None:
    remember("gate-of-secrets-1")
    table = pyarrow.table({"text": ["a gate-of-secrets-1 b", None, "c"], "score": [1, 2, 3]})
    assert hidden_table(table).to_pydict() == {"text": ["a *** b", None, "c"], "score": [1, 2, 3]}


def test_errors_and_log_show_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    remember("gate-of-secrets-1")
    assert str(InputError("bad gate-of-secrets-1 in `body`")) == "bad *** in `body`"
    with caplog.at_level(logging.WARNING, "dhp"):
        logging.getLogger("dhp").warning("%s: is %d", "gate-of-secrets-1", 5)
    assert caplog.messages == ["***: is 5"]


def test_words_of_a_server_show_nothing_like_a_key() -> None:
    said = "Incorrect API key provided: sk-other0123456789. Unknown key: response_format"
    assert hidden_words(said) == "Incorrect API key provided: ***. Unknown key: response_format"


@pytest.mark.parametrize("pair", ["sk-proj-0123456789", 'metadata={"k": "sk-proj-0123456789"'])
def test_a_message_about_a_field_of_the_body_shows_no_key(pair: str) -> None:
    with pytest.raises(ValueError, match=r"\*\*\*") as error:
        read_fields([pair])
    assert "0123456789" not in str(error.value)
