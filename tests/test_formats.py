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


def test_results_of_version_1() -> None:
    wrote = json.loads((FORMATS / "run-1" / "results.json").read_text())
    assert wrote["schema"] == "dhp.results/1"
    (result,) = read_run(FORMATS / "run-1").results
    assert (result.detection, result.variants[0].verdict) == (None, None), "undefined, not guessed"
    for name in ("model", "dataset", "n", "d_avg", "d_min", "d_min_variant", "d_avg_ew", "signature"):
        assert getattr(result, name) == wrote[name]
    for variant, row in zip(result.variants, wrote["variants"], strict=True):
        assert (variant.variant, variant.d, variant.effect) == (row["variant"], row["d"], row["effect"])
        assert {m: cell.p for m, cell in variant.metrics.items()} == {
            m: cell["p"] for m, cell in row["metrics"].items()
        }


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
    assert {sample: each.reply for sample, each in found.items()} == {
        0: Reply("4", "stop", 10, 2, 1, (Position("4", (("4", -0.1), ("5", -2.5))),)),
        1: Reply("五", "length", 0, 0, 0),
    }


def test_newer_versions_are_refused_and_left_alone(store: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = store.read_bytes()
    with pytest.raises(InputError, match="99"):
        Store(store).find(keys("openai/stub", "here", ASKED))
    assert store.read_bytes()[100:] == before[100:]
    (tmp_path / "run").mkdir()
    text = (FORMATS / "run-1" / "results.json").read_text().replace("dhp.results/1", "dhp.results/99")
    (tmp_path / "run" / "results.json").write_text(text)
    with pytest.raises(InputError, match=r"dhp\.results/"):
        read_run(tmp_path / "run")
