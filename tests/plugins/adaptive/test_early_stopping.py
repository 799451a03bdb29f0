"""Runs that stop asking about what is decided: what they ask, what they save, and how sure they are."""

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.cli.main import main
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.records import ORIGINAL, parse_variant
from dhp.plugins.adaptive.early_stopping import early_stopping, look_numbers, look_sizes
from dhp.report.advice import notes, warnings
from dhp.runs.compare import compare
from tests.judges import ByRule
from tests.llm.stub import stats, stub_server
from tests.scripts import loaded

texts = loaded("early_stopping").texts
SEEN = ("random_typos", "random_deletions", "reordering", "rewriting_insertion")


def judge_of(*seen: str, unseen: str = "") -> ByRule:
    """Punishes some perturbers, is blind to another, and gives the others now more and now less."""
    points = {**dict.fromkeys(seen, 2.0), unseen: 4.0}

    def score(c: dhp.Candidate, metric: str) -> float:
        if c.variant == ORIGINAL:
            return 4.0
        chance = (int(c.example) * 7 + len(c.variant)) % 3
        return points.get(parse_variant(c.variant).perturber, 3.0 + chance)

    return ByRule(score)


@pytest.fixture(scope="module")
def judge() -> ByRule:
    return judge_of("random_typos", unseen="random_deletions")


@pytest.fixture(scope="module")
def watched(judge: ByRule, tmp_path_factory: pytest.TempPathFactory) -> tuple[dhp.Result, Path]:
    folder = tmp_path_factory.mktemp("watched") / "run"
    return early_stopping(judge, texts(60), controls=False, out=folder)[0], folder


def asked_of(judge: ByRule) -> Counter[str]:
    """Variant -> texts that a judge was asked about."""
    return Counter(variant for turn in judge.turns for _, variant in turn)


def test_what_is_seen_clearly_is_decided_on_a_quarter(watched: tuple[dhp.Result, Path]) -> None:
    """All of 15 scores fell, so that the lower limit lies above 55 % at a quarter of the error."""
    row = next(v for v in watched[0].variants if v.variant == "random_typos.minor")
    assert (row.n, row.verdict) == (15, "noticed")


def test_what_is_not_seen_is_decided_too(watched: tuple[dhp.Result, Path]) -> None:
    row = next(v for v in watched[0].variants if v.variant == "random_deletions.major")
    assert row.n in (15, 30, 45)
    assert (row.d, row.verdict) == (0, "missed")


def test_what_was_stopped_is_decided_and_what_is_undecided_got_all(watched: tuple[dhp.Result, Path]) -> None:
    verdicts = {(row.verdict, row.n == 60) for row in watched[0].variants}
    assert ("undecided", False) not in verdicts
    assert ("undecided", True) in verdicts, "for the others chance decides"
    assert {row.not_applicable for row in watched[0].variants} == {0}


def test_each_text_is_asked_about_once_and_none_of_what_is_decided(
    watched: tuple[dhp.Result, Path], judge: ByRule
) -> None:
    numbers = look_numbers([str(i) for i in range(60)], 0, "bakeries")
    assert [len({e for e, _ in turn}) for turn in judge.turns] == [15] * len(judge.turns)
    pairs = {v.variant: v.n for v in watched[0].variants}
    assert asked_of(judge) == {**pairs, ORIGINAL: max(pairs.values())}
    for number, turn in enumerate(judge.turns, 1):
        assert {numbers[example] for example, _ in turn} == {number}
        assert {v for _, v in turn} - {ORIGINAL} == {v for v, n in pairs.items() if n >= 15 * number}


def test_if_all_is_decided_nothing_more_is_asked_not_even_originals() -> None:
    judge = judge_of(*SEEN)
    (result,) = early_stopping(judge, texts(60), controls=False)
    assert len(judge.turns) == 1
    assert (result.n, result.ratings["asked"]) == (15, 15 * 9 * 4)


@pytest.mark.slow
def test_a_recording_of_some_kinds_has_no_failures_of_the_others(tmp_path: Path) -> None:
    (whole,) = dhp.run(judge_of(*SEEN), texts(60), controls=False, out=tmp_path / "whole")
    ratings = pd.read_parquet(tmp_path / "whole" / "ratings.parquet")
    recorded = ratings[~ratings["variant"].str.startswith("reordering")]
    recorded[["example", "variant", "metric", "score"]].to_csv(tmp_path / "recorded.csv", index=False)
    (result,) = early_stopping(f"recorded/{tmp_path / 'recorded.csv'}", texts(60), controls=False)
    kinds = {row.variant for row in whole.variants if not row.variant.startswith("reordering")}
    assert {row.variant for row in result.variants if row.n} == kinds
    assert result.ratings["failed"] == 0


def test_the_table_tells_it_all_with_the_number_of_looks(watched: tuple[dhp.Result, Path]) -> None:
    result, folder = watched
    table = pd.read_parquet(folder / "ratings.parquet")
    shared = dhp.AnalysisConfig(looks=4)
    again = dhp.analyze(table.sample(frac=1, random_state=3), suite="summeval", analysis=shared)[0]
    untold = {"metrics": {}, "not_applicable": 0, "misplaced": None, "method": None, "stand_in": None}
    for one, two in zip(again.variants, result.variants, strict=True):
        assert replace(one, **untold) == replace(two, **untold), "a table does not tell how texts were made"
    alone = dhp.analyze(table, suite="summeval")[0]
    less = [a.d - b.d for a, b in zip(alone.variants, again.variants, strict=True) if b.d]
    assert less == pytest.approx([math.log(4) / math.log(20)] * len(less)), "p times four"
    parts = dict(part.split(":", 1) for part in result.signature.split("|"))
    assert parts["statistics"].endswith("+4looks")


def test_what_is_asked_is_a_part_of_a_full_run(watched: tuple[dhp.Result, Path]) -> None:
    full = dhp.run(judge_of("random_typos", unseen="random_deletions"), texts(60), controls=False)
    noticed = {v.variant for v in watched[0].variants if v.verdict == "noticed"}
    assert noticed <= {v.variant for v in full.variants if v.verdict == "noticed"}
    assert watched[0].ratings["asked"] < 0.8 * full.ratings["asked"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["baseline/surface", "mock/noisy?sensitivity=0.4&random_typos=5"])
def test_ratings_are_those_of_a_full_run(tmp_path: Path, model: str) -> None:
    for name, way in (("all", dhp.run), ("less", early_stopping)):
        way(model, "mini/story_cloze", out=tmp_path / name)
    key = ["example", "variant", "metric", "sample"]
    every, less = (pd.read_parquet(tmp_path / n / "ratings.parquet").set_index(key) for n in ("all", "less"))
    assert 0 < len(less) < len(every)
    assert (every.loc[less.index, "score"] == less["score"]).all()


def test_no_kind_is_stopped_while_harmless_edits_may_be_noticed_as_often() -> None:
    (result,) = early_stopping("mock/noisy", "mini/story_cloze")
    assert result.controls[0].verdict == "not decided"
    assert "undecided" not in {v.verdict for v in result.variants if v.n < result.n}


def test_a_reader_is_told(watched: tuple[dhp.Result, Path]) -> None:
    said = "\n".join([*notes(watched[0]), *warnings([watched[0]])])
    assert "Compare these averages with no other run" in said
    assert "verdicts and D share their error over 4 looks" in said
    assert "the kinds of damage have 15 to 60 pairs" in said
    assert json.loads((watched[1] / "results.json").read_text())["looks"] == 4


@pytest.mark.slow
def test_controls_and_attacks_get_all_examples_and_one_look() -> None:
    way = {"controls": True, "attacks": True}
    (stopping,), (plain,) = (
        run("mock/ideal", "mini/story_cloze", **way) for run in (early_stopping, dhp.run)
    )
    assert all(v.n < stopping.n for v in stopping.variants)
    assert [(c.n, c.p) for c in stopping.controls] == [(c.n, c.p) for c in plain.controls]
    assert [(a.n, a.p) for a in stopping.attacks] == [(a.n, a.p) for a in plain.attacks]


@pytest.mark.slow
def test_clusters_count_at_each_look() -> None:
    data = texts(60)
    pairs = [replace(e, fields={"cluster": str(int(e.id) // 2)}) for e in data.examples]
    judge = judge_of("random_typos", "reordering", unseen="random_deletions")
    paired = dhp.Dataset.of(pairs, name="bakeries", task="summarization", suite="summeval")
    (result,) = early_stopping(judge, paired)
    assert result.clusters == 30
    stopped = [row for row in result.variants if row.n < 60]
    assert stopped
    assert all(row.verdict != "undecided" for row in stopped)


@pytest.mark.slow
def test_a_model_is_paid_once_for_each_text_and_limits_hold_for_all_looks(tmp_path: Path) -> None:
    with stub_server() as url:
        settings = dhp.ModelSettings(base_url=url, cache=str(tmp_path / "cache"))
        way = {"n": 8, "controls": False, "settings": settings}
        few = {**way, "settings": replace(settings, limits=dhp.Limits(calls=40))}
        with pytest.raises(StoppedEarly, match="40"):
            early_stopping("openai/stub", "mini/story_cloze", **few)
        assert stats(url)["calls"] == 40
        (result,) = early_stopping("openai/stub", "mini/story_cloze", **way)
        assert set(stats(url)["paid"].values()) == {1}
        calls = stats(url)["calls"]
        assert early_stopping("openai/stub", "mini/story_cloze", **way)[0].variants == result.variants
        assert stats(url)["calls"] == calls


@pytest.mark.slow
def test_several_datasets_are_one_run(tmp_path: Path) -> None:
    sets = ["mini/story_cloze", "mini/summeval"]
    results = early_stopping("mock/ideal", sets, controls=False, out=tmp_path / "r")
    assert [r.dataset for r in results] == sets
    assert all(r.looks == 4 for r in results)


def test_the_order_is_drawn_by_seed_and_dataset() -> None:
    names = [f"{i}" for i in range(100)]
    numbers = look_numbers(names, 0, "a")
    assert Counter(numbers.values()) == {1: 25, 2: 25, 3: 25, 4: 25}
    assert numbers == look_numbers(names[::-1], 0, "a")
    assert numbers != look_numbers(names, 1, "a") != look_numbers(names, 0, "b")
    assert [numbers[name] for name in names] != sorted(numbers.values())


@pytest.mark.slow
def test_runs_that_stopped_elsewhere_are_not_compared(tmp_path: Path) -> None:
    for name, model in (("ideal", "mock/ideal"), ("noisy", "mock/noisy?sensitivity=0.5")):
        early_stopping(model, "mini/story_cloze", out=tmp_path / name)
    dhp.run("mock/ideal", "mini/story_cloze", out=tmp_path / "full")
    for other in ("noisy", "full"):
        with pytest.raises(InputError, match="differ"):
            compare(tmp_path / "ideal", tmp_path / other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--looks", "0"], "--looks"),
        (["--model", "mock/blind"], "--model: 2 judges are given; allowed: one of mock/ideal, mock/blind"),
        (["--preset", "paper"], "No such option '--preset'"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, _, err = said_by(capsys, "--dataset", "mini/summeval", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["early-stopping", "--model", "mock/ideal", *arguments])
    return ended.value.code, *capsys.readouterr()


def test_the_command_line_says_what_was_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = said_by(capsys, "--dataset", "mini/story_cloze", "--out", str(tmp_path / "run"))
    assert code in (0, None)
    assert "mini/story_cloze: 6 of 6 kinds are decided after " in err
    assert "share their error over 4 looks" in " ".join(out.split())
    assert (
        "upper limit: kinds of damage that are decided early"
        in said_by(capsys, "--dataset", "mini/story_cloze", "--dry-run")[1]
    )


@pytest.mark.parametrize(
    ("n", "sizes"), [(100, (25, 50, 75, 100)), (30, (8, 15, 23, 30)), (3, (1, 2, 3)), (1, (1,))]
)
def test_sizes_of_looks(n: int, sizes: tuple[int, ...]) -> None:
    assert look_sizes(n) == sizes


@pytest.mark.slow
def test_a_judge_that_notices_nothing_is_said_to_notice_something_no_more_often_than_promised() -> None:
    """Of 300 runs with a chance of at most 0.05, 22 or more would come with a chance of 3 %."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        judge = ByRule(lambda c, metric, rng=rng: float(rng.integers(1, 6)))
        (result,) = early_stopping(judge, texts(24), controls=False, metrics=["fluency"], seed=seed)
        found += any(row.verdict in ("noticed", "faint") for row in result.variants)
    assert found <= 21
