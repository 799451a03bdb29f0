"""What stands on a leaderboard, in which table, on which rank."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.analysis.results import DoseResponse
from dhp.core.errors import InputError
from dhp.leaderboard.entries import Entry, judge_names, safe_name
from dhp.leaderboard.reading import read_entries
from dhp.leaderboard.tables import (
    MOST_PAIRED,
    RULES,
    competition_ranks,
    group_ranks,
    make_tables,
    overlap_ranks,
)
from tests.unsealed import unsealed

from .conftest import DATASETS, MODELS, run_with_own_weights, signed, soon


@pytest.mark.slow
def test_runs_with_ratings_are_ranked_by_the_paired_comparison(runs: Path) -> None:
    tables = make_tables(read_entries([runs / name for name in MODELS]))
    assert sorted(table.dataset for table in tables) == sorted(DATASETS)
    for table in tables:
        assert table.rule == "paired"
        shown = [(row.entry.result.model, row.rank, row.groups) for row in table.rows]
        assert shown == [("mock/ideal", 1, "a"), ("mock/noisy", 2, "b"), ("mock/blind", 3, "c")]
    assert {table.task for table in tables} == {"summarization", "question_answering"}


@pytest.mark.slow
def test_equals_share_a_rank_and_a_group(runs: Path, tmp_path: Path) -> None:
    dhp.run("mock/ideal?samples=2", "mini/summeval", out=tmp_path / "twin")
    tables = make_tables(read_entries([runs / "good", runs / "blind", tmp_path / "twin"]))
    (table,) = [t for t in tables if t.dataset == "mini/summeval"]
    assert [(row.rank, row.tied, row.groups) for row in table.rows] == [
        (1, True, "a"),
        (1, True, "a"),
        (3, False, "b"),
    ]


@pytest.mark.slow
def test_results_without_ratings_are_ranked_by_their_intervals(runs: Path) -> None:
    entries = read_entries([runs / name / "results.json" for name in MODELS])
    for table in make_tables(entries):
        assert table.rule == "intervals"
        ranks = [row.rank for row in table.rows]
        assert ranks == sorted(ranks)
        assert (ranks[0], ranks[-1]) == (1, 3), "no interval overlaps with that of a blind judge"


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("dataset", "mini/summeval@000000000000"),
        ("n", "12"),
        ("suite", "summeval@000000000000"),
        ("method", "llm:openai/some+rule"),
        ("weights", "design.v1@000000000000"),
        ("statistics", "{statistics}+printed"),
    ],
)
def test_unlike_results_stand_in_separate_tables(
    runs: Path, edited: Callable[..., Path], part: str, value: str
) -> None:
    first = json.loads((runs / "noisy" / "results.json").read_text())[0]
    value = value.format(**first)

    def change(result: dict[str, Any]) -> None:
        signed(result, part, value)
        if part == "n":
            result["n"] = int(value)
        if part == "statistics":
            result["combination"] = "printed"

    other = edited("other.json", change)
    tables = [t for t in make_tables(read_entries([runs / "good", other])) if t.dataset == "mini/summeval"]
    assert [len(t.rows) for t in tables] == [1, 1]
    assert {t.parts[part] for t in tables} == {tables[0].parts[part], tables[1].parts[part]}
    assert value in {t.parts[part] for t in tables}
    assert tables[0].parts | {part: ""} == tables[1].parts | {part: ""}


@pytest.mark.slow
def test_protocols_stand_in_one_table(runs: Path, edited: Callable[..., Path]) -> None:
    def change(result: dict[str, Any]) -> None:
        result["protocol"] = "stars@0123456789ab"
        signed(result, "protocol", "stars@0123456789ab")

    tables = make_tables(read_entries([runs / "noisy", edited("other.json", change)]))
    (table,) = [t for t in tables if t.dataset == "mini/summeval"]
    assert {row.entry.result.protocol for row in table.rows} == {"none", "stars@0123456789ab"}
    assert [row.rank for row in table.rows] == [1, 1]


@pytest.mark.slow
def test_undefined_scores_have_no_rank(runs: Path, edited: Callable[..., Path]) -> None:
    def change(result: dict[str, Any]) -> None:
        result.update(model="own/failed", d_avg=None)
        result["detection"].update(avg=None)

    entries = read_entries([runs / "noisy" / "results.json", edited("other.json", change)])
    (table,) = [t for t in make_tables(entries) if t.dataset == "mini/summeval"]
    assert [row.rank for row in table.rows] == [None, None], "nor has one that is alone"


def test_no_intervals_no_ties_but_of_equal_figures(runs: Path, edited: Callable[..., Path]) -> None:
    def named(name: str, **detection: object) -> Callable[[dict[str, Any]], object]:
        return lambda r: (r.update(model=name), r["detection"].update(detection))

    none = {"avg": None, "min": None}
    one = edited("one.json", named("own/one", ci=none))
    two = edited("two.json", named("own/two", ci=none))
    three = edited("three.json", named("own/three", avg=0.5))
    (table,) = make_tables(read_entries([three, one, two]))
    assert table.rule == "figures"
    assert [(row.rank, row.tied) for row in table.rows] == [(1, True), (1, True), (3, False)]


@pytest.mark.slow
def test_the_newest_of_two_runs_counts(
    runs: Path, edited: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    newer = edited("newer.json", lambda r: r.update(created=soon(), d_avg=9.0))
    for order in ([newer, runs / "noisy"], [runs / "noisy", newer]):
        caplog.clear()
        entries = read_entries(order)
        assert re.search(r"two runs of model 'mock/noisy' .*newest counts, .*newer\.json \(", caplog.text)
        found = {e.result.dataset: e.result.d_avg for e in entries}
        assert found["mini/summeval"] == 9.0
        assert len(entries) == 2


@pytest.mark.slow
def test_the_same_result_twice_is_one(runs: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = runs / "noisy" / "results.json"
    for order in ([file, runs / "noisy"], [runs / "noisy", file]):
        assert [entry.ratings is not None for entry in read_entries(order)] == [True, True]
    assert not caplog.messages


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


def without_method(result: dict[str, Any]) -> None:
    """Take that part out of the signature."""
    parts = result["signature"].split("|")
    result["signature"] = "|".join(part for part in parts if not part.startswith("method:"))


@pytest.mark.slow
def test_a_folder_of_runs_stands_for_its_runs(runs: Path) -> None:
    one_by_one = read_entries(sorted(runs.iterdir()))
    assert [entry.result for entry in read_entries([runs])] == [entry.result for entry in one_by_one]
    assert len({entry.place for entry in one_by_one}) == len(MODELS)


@pytest.mark.slow
def test_a_folder_may_hold_runs_and_results_files(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "noisy", tmp_path / "noisy")
    shutil.copyfile(runs / "good" / "results.json", tmp_path / "of others.json")
    assert {entry.result.model for entry in read_entries([tmp_path])} == {MODELS["good"], MODELS["noisy"]}


def test_json_files_of_others_are_passed_over_and_named(
    runs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copyfile(runs / "good" / "results.json", tmp_path / "good.json")
    for name, content in {"package": {"name": "x", "schema": "2"}, "list": [1, "two"], "null": None}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert {entry.result.model for entry in read_entries([tmp_path])} == {MODELS["good"]}
    said = f"{tmp_path}: passed over, as they hold no results of dhp: list.json, null.json, package.json"
    assert said in caplog.text
    (tmp_path / "good.json").unlink()
    with pytest.raises(InputError, match="no results files"):
        read_entries([tmp_path])
    with pytest.raises(InputError, match=r"package.json: .*schema"):
        read_entries([tmp_path / "package.json"])
    (tmp_path / "broken.json").write_text('{"schema": "dhp.results/3"')
    with pytest.raises(InputError, match=r"broken\.json"):
        read_entries([tmp_path])


@pytest.mark.slow
def test_faults_are_named(runs: Path, tmp_path: Path, edited: Callable[..., Path]) -> None:
    (tmp_path / "empty").mkdir()
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "results.json").write_text((runs / "good" / "results.json").read_text())
    (mixed / "ratings.parquet").write_bytes((runs / "noisy" / "ratings.parquet").read_bytes())
    faults = {
        "nowhere": "nowhere: does not exist; allowed: a run folder",
        tmp_path / "empty": r"holds no run \(results.json\) and no results files",
        mixed: "no ratings of model 'mock/ideal'",
        edited("old.json", lambda r: r.update(schema="dhp.results/0")): "allowed: schema dhp.results/3",
        edited("nan.json", lambda r: r.update(d_avg=float("nan"))): "d_avg nan",
        edited("low.json", lambda r: r.update(d_min=-1.0)): "D is -1; allowed: 0 to 1e",
        edited("high.json", lambda r: r["variants"][0].update(d=1e300)): "D is 1e",
        edited("counts.json", lambda r: r.update(ratings={})): "lack 'asked'",
        edited("repeats.json", lambda r: r.update(repeats={"fluency": {}})): "lack 'dominance'",
        edited("when.json", lambda r: r.update(created="soon")): "created 'soon' is not a time",
        edited("sig.json", lambda r: signed(r, "statistics", "paper+printed")): "signature: statistics is",
        edited("data.json", lambda r: r.update(dataset="other")): "signature: dataset is",
        edited("begins.json", lambda r: signed(r, "statistics", "default+hmp-asymptotic-x")): "statistics is",
        edited("hmp.json", lambda r: r.update(combination="hmp")): r"statistics is 'default\+hmp-asymptotic'",
        edited("short.json", lambda r: r.update(dataset="mini/summ")): "signature: dataset is",
        edited("way.json", lambda r: r.update(protocol="no")): "signature: protocol is 'none', not 'no'",
        edited("few.json", lambda r: r.update(n=23)): "signature: n is '24', not '23'",
        edited("w.json", lambda r: r.update(weights="desig")): "signature: weights is 'design', not 'desig'",
        edited("part.json", without_method): "signature lacks 'method'",
        edited("cost.json", lambda r: r.update(cost=-1.0)): "cost is -1; allowed: 0 or more",
        edited("use.json", lambda r: r.update(usage={"calls": -2})): r"usage.calls is -2; allowed: 0",
        edited("asked.json", lambda r: r["ratings"].update(failed=-3)): r"ratings.failed is -3; allowed: 0",
        edited("future.json", lambda r: r.update(created="9999-12-31")): "'9999-12-31' lies in the future",
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
    with pytest.raises(InputError, match="n is 24, but 23 follows from the ratings"):
        read_entries([folder])


def rewritten(run: Path, place: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a run whose first result was changed."""
    shutil.copytree(run, place)
    results = json.loads((place / "results.json").read_text())
    change(results[0] if isinstance(results, list) else results)
    (place / "results.json").write_text(json.dumps(results))
    return place


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["variants"][2].update(d=0.1), r"d is 0\.1, but"),
        (lambda r: r["variants"][0]["metrics"]["fluency"].update(weight=0.9), "its weights are invalid"),
    ],
)
def test_a_run_whose_figures_were_edited_is_refused(
    runs: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_entries([rewritten(runs / "noisy", tmp_path / "run", change)])


@pytest.mark.slow
def test_a_run_with_weights_of_its_own_is_read(tmp_path: Path) -> None:
    run_with_own_weights(tmp_path)
    (entry,) = read_entries([tmp_path / "run"])
    assert entry.result.weights == "own"
    edited = rewritten(unsealed(tmp_path / "run"), tmp_path / "edited", lambda r: r.update(d_min_ew=9.0))
    with pytest.raises(InputError, match=r"d_min_ew is 9\.0, but"):
        read_entries([edited])


def copies(runs: Path, counts: dict[str, int]) -> list[Entry]:
    """So many judges each that rate as the judge of a run does."""
    found = {name: read_entries([runs / name]) for name in counts}
    originals = {n: next(e for e in es if e.result.dataset == DATASETS[1]) for n, es in found.items()}
    return [
        replace(originals[name], result=replace(originals[name].result, model=f"{name}/{i}"))
        for name, count in counts.items()
        for i in range(count)
    ]


@pytest.mark.slow
def test_as_many_judges_as_are_compared_by_pairs_can_be_told_apart(runs: Path) -> None:
    (table,) = make_tables(copies(runs, {"good": 1, "blind": MOST_PAIRED - 1}))
    assert table.rule == "paired"
    assert [row.rank for row in table.rows] == [1] + [2] * (MOST_PAIRED - 1)
    (table,) = make_tables(copies(runs, {"good": 1, "blind": MOST_PAIRED}))
    assert table.rule == "intervals"
    assert str(MOST_PAIRED) in RULES["intervals"]


@pytest.mark.slow
def test_runs_with_doses_are_not_compared_by_pairs(runs: Path) -> None:
    entries = copies(runs, {"good": 1, "blind": 1})
    curve = DoseResponse("random_typos", (1, 2))
    dosed = [replace(e, result=replace(e.result, curves=(curve,))) for e in entries]
    assert [make_tables(some)[0].rule for some in (entries, dosed)] == ["paired", "intervals"]


def test_judges_are_told_apart_by_no_more_than_it_takes(edited: Callable[..., Path]) -> None:
    def entry(model: str, protocol: str) -> Entry:
        def change(result: dict[str, Any]) -> None:
            result.update(model=model, protocol=protocol)
            signed(result, "protocol", protocol)

        return read_entries([edited("some.json", change)])[0]

    alone, first, second = entry("own/a", "none"), entry("own/b", "stars@1"), entry("own/b", "stars@2")
    bare, other = entry("own/b", "none"), entry("own/b", "words@3")
    assert judge_names([alone, first])[alone.judge] == "own/a"
    assert judge_names([alone, first])[first.judge] == "own/b (stars)"
    assert [judge_names([first, second, bare])[e.judge] for e in (first, second)] == [
        "own/b (stars@1)",
        "own/b (stars@2)",
    ]
    assert [judge_names([bare, other])[e.judge] for e in (bare, other)] == ["own/b (none)", "own/b (words)"]
