"""Files of earlier versions are read: `data/formats` holds one of each, as that version wrote it."""

import json
import sqlite3
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.llm.records import Params, Position, Reply, Request
from dhp.llm.store import Store, keys
from dhp.runs.reader import read_run

FORMATS = Path(__file__).parent / "data" / "formats"
ASKED = Request("Rate the text.", Params(1.0, None, 16, top_logprobs=2), (0, 1), "here")


def test_results_of_another_version_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"is not a results file of this version; allowed: schema dhp\.results/3"
    ):
        read_run(FORMATS / "run-1")


def test_a_perturbation_set_of_version_1() -> None:
    folder = FORMATS / "frozen-1"
    (part,) = dhp.perturb_datasets(perturbed=str(folder))
    texts = {(t.variant, t.example): t.text for t in part.texts}
    for variant in ("random_typos", "wrong_ending"):
        lines = (folder / "mini_story_cloze" / f"{variant}.jsonl").read_text().splitlines()
        for row in map(json.loads, lines):
            assert texts[variant, row["example"]] == row["text"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "replies.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript((FORMATS / "replies-1.sql").read_text())
    connection.close()
    return path


@pytest.mark.parametrize("read_only", [True, False])
def test_no_reply_of_a_store_of_version_1_is_lost(store: Path, read_only: bool) -> None:
    """The keys too: a reply that is not found is paid for again."""
    found = Store(store, read_only=read_only).find(keys("openai/stub", "http://127.0.0.1:1/v1", ASKED))
    assert {sample: reply for sample, (reply, _) in found.items()} == {
        0: Reply("4", "stop", 10, 2, 1, (Position("4", (("4", -0.1), ("5", -2.5))),)),
        1: Reply("五", "length", 0, 0, 0),
    }


@pytest.mark.parametrize("read_only", [True, False])
def test_a_damaged_reply_of_version_1_is_no_reply(store: Path, read_only: bool) -> None:
    """Its rows have no checksum, but what cannot be a reply is seen."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE replies SET positions = '[[' WHERE sample = 0")
        connection.execute("UPDATE replies SET completion_tokens = 'x' WHERE sample = 1")
    asked = keys("openai/stub", "http://127.0.0.1:1/v1", ASKED)
    assert Store(store, read_only=read_only).find(asked) == {}


def test_newer_versions_are_refused_and_left_alone(store: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = store.read_bytes()
    with pytest.raises(InputError, match=r"another version of dhp \(schema 99\)"):
        Store(store).find(keys("openai/stub", "here", ASKED))
    assert store.read_bytes()[100:] == before[100:]
    (tmp_path / "run").mkdir()
    text = (FORMATS / "run-1" / "results.json").read_text().replace("dhp.results/1", "dhp.results/99")
    (tmp_path / "run" / "results.json").write_text(text)
    with pytest.raises(InputError, match=r"dhp\.results/"):
        read_run(tmp_path / "run")
