"""What answers tell of the server: that another model answers, or that it cuts prompts in silence."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dhp.core.errors import StoppedEarly
from dhp.llm.cut_prompts import CutPrompts
from dhp.llm.records import Reply, Request
from dhp.llm.store import Store
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.server import Call, reply, scripted_server

ENGLISH = "The council met on Tuesday and agreed that the old bridge needs another pair of towers. "
CHINESE = "市议会周二开会并同意旧桥需要再建一对塔楼，居民们对此表示欢迎。"


def prompts(lengths: Sequence[int], text: str = ENGLISH) -> list[Request]:
    """Prompts of about so many characters, all different."""
    return [
        Request(f"{number} " + text * (length // len(text)), QUICK, (0,), f"text {number}", tag=number)
        for number, length in enumerate(lengths)
    ]


def found(asked: Sequence[Request], counts: Callable[[Request], int], cached: int = 0) -> str | None:
    """What is said of so many calls, the first time."""
    cuts = CutPrompts("openai/stub", stops=False)
    notes = (
        cuts.check(each, [Reply("4", "stop", counts(each), 1, 1, cached_tokens=cached)]) for each in asked
    )
    return next(filter(None, notes), None)


def tokens(request: Request) -> int:
    """About what a tokenizer counts: 4.5 characters of English, 1.4 of Chinese."""
    wide = (len(request.text.encode()) - len(request.text)) / 2  # three bytes each, others one
    return round((len(request.text) - wide) / 4.5 + wide / 1.4)


MANY = [3000 + 700 * (i % 23) for i in range(200)]


def test_prompts_of_different_length_with_one_count_are_cut() -> None:
    said = found(prompts(MANY), lambda request: min(2048, tokens(request)))
    assert said is not None
    assert "it counts 2,048 tokens for prompts of about" in said
    assert "OLLAMA_CONTEXT_LENGTH" in said


def test_prompts_of_one_length_with_far_too_few_tokens_are_cut() -> None:
    said = found(prompts([30_000] * 8), lambda request: 2048 - len(request.text) % 3)
    assert said is not None
    assert "at most 2,048 tokens for prompts of about 7," in said


@pytest.mark.parametrize(
    ("counts", "texts", "cached"),
    [
        (tokens, prompts(MANY), 0),
        (tokens, [*prompts(MANY, CHINESE), *prompts(MANY)], 0),
        (tokens, [*prompts(MANY), *prompts(MANY, "7 0 4 9 1 3 8 "), *prompts(MANY, CHINESE)], 0),
        (lambda request: 0, prompts(MANY), 0),
        (lambda request: 9, prompts(MANY), 0),
        (lambda request: 100, prompts(MANY), 0),
        (lambda request: min(2048, tokens(request)), prompts([300 + 10 * i for i in range(100)]), 0),
        (lambda request: 300, prompts(MANY), 2000),
        # Only what was not cached is counted, and that is not said: the first prompt of each kind is whole.
        (lambda r: 260 + len(r.text) % 41 if r.tag % 14 else tokens(r), prompts(MANY), 0),
        # Rows of spaces are few tokens.
        (lambda request: len(request.text.split()), prompts([30_000] * 20, f"word{' ' * 40}"), 0),
    ],
    ids="english chinese-too digits-too none nine hundred short cached secretly spaces".split(),
)
def test_honest_counts_and_none_are_not_taken_for_cut_prompts(
    counts: Callable[[Request], int], texts: Sequence[Request], cached: int
) -> None:
    assert found(texts, counts, cached) is None


def cuts(call: Call) -> object:
    """The answer of a server that cuts prompts at 2,048 tokens."""
    count = min(2048, len(call.body["messages"][0]["content"]) // 4)
    return reply("4", usage={"prompt_tokens": count, "completion_tokens": 1})


@pytest.mark.parametrize("transport", ["fast", "sdk"])
def test_a_run_stops_where_the_first_prompts_are_cut(transport: str, tmp_path: Path) -> None:
    with scripted_server(cuts) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", concurrency=4, transport=transport)
        with pytest.raises(StoppedEarly, match=r"the server cuts prompts in silence .*num_ctx"):
            answered(asked, prompts([12_000 + 2000 * (i % 10) for i in range(300)]))
        assert len(server.calls) <= 20 + 4


@pytest.mark.slow
def test_later_it_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with scripted_server(cuts) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", concurrency=1)
        lengths = [*[2000] * 30, *(12_000 + 2000 * (i % 10) for i in range(30))]
        assert len(answered(asked, prompts(lengths))) == 60
    assert sum("cuts prompts in silence" in message for message in caplog.messages) == 1


def changing(call: int) -> object:
    return reply("4", model="stub-2" if call in (11, 12) else "stub-1")


@pytest.mark.slow
def test_another_model_is_said_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with scripted_server(lambda call: changing(len(server.calls))) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", concurrency=1)
        answered(asked, list(requests(20)))
        assert asked.answered_by == {"stub-1": 18, "stub-2": 2}
        said = (
            "openai/stub: another model answers: 'stub-2', at first 'stub-1'; `same_model` stops a run then"
        )
        assert caplog.messages == [said]
        again = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite")
        answered(again, list(requests(20)))
        assert again.answered_by == asked.answered_by, "it is stored"
        assert len(server.calls) == 20


def test_a_store_of_the_version_before_is_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with scripted_server(lambda call: reply("4", model="stub-1")) as server:
        answered(cached_model(f"{server.url}/v1", path), list(requests(5)))
        connection = sqlite3.connect(path)
        connection.execute("ALTER TABLE replies DROP COLUMN answered_by")
        connection.execute("CREATE TABLE set_aside AS SELECT * FROM replies WHERE 0")
        connection.execute("PRAGMA user_version=2")
        connection.commit()
        connection.close()
        assert len(Store(path, read_only=True).models()) == 1
        again = cached_model(f"{server.url}/v1", path)
        assert len(answered(again, list(requests(8)))) == 8
        assert again.answered_by == {"stub-1": 3}
        assert len(server.calls) == 8
