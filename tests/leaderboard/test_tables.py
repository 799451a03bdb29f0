"""What stands on a leaderboard, in which table, on which rank."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.errors import InputError
from dhp.leaderboard import make_tables, read_entries
from dhp.leaderboard.entries import safe_name
from dhp.leaderboard.tables import competition_ranks, group_ranks, overlap_ranks

from .conftest import DATASETS, MODELS, signed


def test_runs_with_ratings_are_ranked_by_the_paired_comparison(runs: Path) -> None:
    tables = make_tables(read_entries([runs / name for name in MODELS]))
    assert sorted(table.dataset for table in tables) == sorted(DATASETS)
    for table in tables:
        assert table.rule == "paired"
        shown = [(row.entry.result.model, row.rank, row.groups) for row in table.rows]
        assert shown == [("mock/ideal", 1, "a"), ("mock/noisy", 2, "b"), ("mock/blind", 3, "c")]
    assert {table.task for table in tables} == {"summarization", "question_answering"}


def test_equals_share_a_rank_and_a_group(runs: Path, tmp_path: Path) -> None:
    import dhp

    dhp.run("mock/ideal?samples=2", "mini/summeval", out=tmp_path / "twin")
    tables = make_tables(read_entries([runs / "good", runs / "blind", tmp_path / "twin"]))
    (table,) = [t for t in tables if t.dataset == "mini/summeval"]
    assert [(row.rank, row.tied, row.groups) for row in table.rows] == [
        (1, True, "a"),
        (1, True, "a"),
        (3, False, "b"),
    ]


def test_results_without_ratings_are_ranked_by_their_intervals(runs: Path) -> None:
    entries = read_entries(runs / name / "results.json" for name in MODELS)
    for table in make_tables(entries):
        assert table.rule == "intervals"
        assert [row.rank for row in table.rows] == [1, 2, 3]


@pytest.mark.parametrize(
    ("intervals", "ranks"),
    [
        ([(4, 5), (3, 4.5), (1, 2)], [1, 1, 3]),
        ([(4, 5), (3, 4), (2, 3)], [1, 1, 2]),  # ends that touch overlap
        ([(4, 5), (3, 3.9), (2, 3.5)], [1, 2, 2]),
        ([(4.9, 5), (4.8, 4.85), (4, 5.5)], [1, 2, 1]),  # a wide interval is beaten by nobody
        ([(1, 2)], [1]),
    ],
)
def test_ranks_by_intervals(intervals: list[tuple[float, float]], ranks: list[int]) -> None:
    assert overlap_ranks(intervals) == ranks


@given(st.lists(st.floats(0, 20), min_size=1))
def test_intervals_without_width_give_competition_ranks(scores: list[float]) -> None:
    assert overlap_ranks([(s, s) for s in scores]) == competition_ranks(scores)
    assert group_ranks(scores, []) == competition_ranks(scores)
    assert group_ranks(scores, [range(len(scores))]) == [1] * len(scores)


def test_ranks_by_hand() -> None:
    assert competition_ranks([3, 5, 3, 1]) == [2, 1, 2, 4]
    # A-B and B-C cannot be told apart, A and C can: only C has a better judge beyond doubt.
    assert group_ranks([3, 2, 1, 0], [(0, 1), (1, 2), (3,)]) == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("dataset", "mini/summeval@000000000000"),
        ("n", "12"),
        ("suite", "summeval@000000000000"),
        ("method", "llm:openai/some+rule"),
        ("weights", "design.v1@000000000000"),
        ("statistics", "{statistics}+{combination}+looks"),
    ],
)
def test_unlike_results_stand_in_separate_tables(
    runs: Path, edited: Callable[..., Path], part: str, value: str
) -> None:
    first = json.loads((runs / "noisy" / "results.json").read_text())[0]
    value = value.format(**first)
    other = edited("other.json", lambda r: signed(r, part, value))
    tables = [t for t in make_tables(read_entries([runs / "good", other])) if t.dataset == "mini/summeval"]
    assert [len(t.rows) for t in tables] == [1, 1]
    assert {t.parts[part] for t in tables} == {tables[0].parts[part], tables[1].parts[part]}
    assert value in {t.parts[part] for t in tables}
    assert tables[0].parts | {part: ""} == tables[1].parts | {part: ""}


def test_protocols_stand_in_one_table(runs: Path, edited: Callable[..., Path]) -> None:
    def change(result: dict[str, Any]) -> None:
        result["protocol"] = "stars@0123456789ab"
        signed(result, "protocol", "stars@0123456789ab")

    tables = make_tables(read_entries([runs / "noisy", edited("other.json", change)]))
    (table,) = [t for t in tables if t.dataset == "mini/summeval"]
    assert {row.entry.result.protocol for row in table.rows} == {"none", "stars@0123456789ab"}
    assert [row.rank for row in table.rows] == [1, 1]


def test_undefined_scores_have_no_rank(runs: Path, edited: Callable[..., Path]) -> None:
    def change(result: dict[str, Any]) -> None:
        result.update(model="own/failed", d_avg=None, ci={})

    entries = read_entries([runs / "noisy" / "results.json", edited("other.json", change)])
    (table,) = [t for t in make_tables(entries) if t.dataset == "mini/summeval"]
    assert [row.rank for row in table.rows] == [1, None]


def test_no_intervals_no_ties_but_of_equal_figures(runs: Path, edited: Callable[..., Path]) -> None:
    one = edited("one.json", lambda r: r.update(model="own/one", ci={}))
    two = edited("two.json", lambda r: r.update(model="own/two", ci={}))
    three = edited("three.json", lambda r: r.update(model="own/three", d_avg=0.5))
    (table,) = make_tables(read_entries([three, one, two]))
    assert table.rule == "figures"
    assert [(row.rank, row.tied) for row in table.rows] == [(1, True), (1, True), (3, False)]


def test_the_newest_of_two_runs_counts(runs: Path, edited: Callable[..., Path]) -> None:
    newer = edited("newer.json", lambda r: r.update(created="2999-01-01T00:00:00+00:00", d_avg=9.0))
    for order in ([newer, runs / "noisy"], [runs / "noisy", newer]):
        with pytest.warns(
            UserWarning, match=r"two runs of model 'mock/noisy' .*newest counts, .*newer\.json \(2999-"
        ):
            entries = read_entries(order)
        found = {e.result.dataset: e.result.d_avg for e in entries}
        assert found["mini/summeval"] == 9.0
        assert len(entries) == 2


def test_the_same_result_twice_is_one(runs: Path, recwarn: pytest.WarningsRecorder) -> None:
    file = runs / "noisy" / "results.json"
    for order in ([file, runs / "noisy"], [runs / "noisy", file]):
        assert [entry.group is not None for entry in read_entries(order)] == [True, True]
    assert not recwarn


def test_a_folder_of_results_files_is_a_board(runs: Path, tmp_path: Path) -> None:
    for name in MODELS:
        (tmp_path / f"{name}.json").write_text((runs / name / "results.json").read_text())
    assert len(read_entries([tmp_path])) == 6


def test_an_entry_says_what_its_name_does(edited: Callable[..., Path]) -> None:
    sizes = {
        "openai/some-large": None,
        "hf/Org/Model-7B-Instruct": 7,
        "hf/org/model-70b": 70,
        "mixed-8x7B-v0.1": 56,
        "hf/a/b-0.5B?samples=2": 0.5,
        "hf/a/tiny-135M": 0.135,
        "hf/a/Model-30B-A3B": 30,
        "own/alpha2b-x": None,
        "own/web2bot": None,
    }
    for name, size in sizes.items():
        (entry,) = read_entries([edited("some.json", lambda r, name=name: r.update(model=name))])
        assert entry.size == size, name
        assert entry.provider == (name.split("/")[0] if "/" in name else "unknown")


def test_cost_is_given_per_1000_judgements(edited: Callable[..., Path]) -> None:
    change = {"cost": 0.5, "ratings": {"asked": 2000, "scored": 1900}}
    (entry,) = read_entries([edited("some.json", lambda r: r.update(change))])
    assert entry.cost == 0.25
    (entry,) = read_entries([edited("some.json", lambda r: r.update(cost=None))])
    assert entry.cost is None


@given(st.lists(st.text(), min_size=1, max_size=3))
def test_file_names_are_safe(names: list[str]) -> None:
    made = safe_name(*names)
    assert made.isascii()
    assert made.replace("-", "").isalnum()
    assert len(made) < 140
    assert made != safe_name(*names, "x")
    assert made != safe_name(*names, key=["x"])


def test_faults_are_named(runs: Path, tmp_path: Path, edited: Callable[..., Path]) -> None:
    (tmp_path / "empty").mkdir()
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "results.json").write_text((runs / "good" / "results.json").read_text())
    (mixed / "ratings.parquet").write_bytes((runs / "noisy" / "ratings.parquet").read_bytes())
    faults = {
        "nowhere": "nowhere: does not exist; allowed: a run folder",
        tmp_path / "empty": r"holds no run \(results.json\) and no results files",
        runs: r"did you mean .*blind\? allowed: a run folder",
        mixed: "no ratings of model 'mock/ideal'",
        edited("old.json", lambda r: r.update(schema="dhp.results/0")): "allowed: schema dhp.results/1",
        edited("nan.json", lambda r: r.update(d_avg=float("nan"))): "should be a finite number",
        edited("low.json", lambda r: r.update(d_min=-1.0)): "D is -1; allowed: 0 to 1e",
        edited("high.json", lambda r: r["variants"][0].update(d=1e300)): "D is 1e",
        edited("counts.json", lambda r: r.update(ratings={})): "lack 'asked'",
        edited("repeats.json", lambda r: r.update(repeats={"fluency": {}})): "lack 'dominance'",
        edited("when.json", lambda r: r.update(created="soon")): "created 'soon' is no time",
        edited("sig.json", lambda r: signed(r, "statistics", "paper+printed")): "signature: statistics is",
        edited("data.json", lambda r: r.update(dataset="other")): "signature: dataset is",
    }
    for path, message in faults.items():
        with pytest.raises(InputError, match=message) as caught:
            read_entries([path])
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no run is given"):
        read_entries([])


def test_results_without_all_their_ratings_are_refused(runs: Path, tmp_path: Path) -> None:
    import pandas as pd

    folder = tmp_path / "less"
    folder.mkdir()
    (folder / "results.json").write_text((runs / "good" / "results.json").read_text())
    ratings = pd.read_parquet(runs / "good" / "ratings.parquet")
    first = (
        ratings["example"] == json.loads((runs / "good" / "examples.jsonl").read_text().split("\n")[0])["id"]
    )
    ratings[~first].to_parquet(folder / "ratings.parquet")
    with pytest.raises(InputError, match=r"ratings.parquet does not hold the ratings of results.json"):
        read_entries([folder])
