"""Runs that stop asking about what is resolved: what they ask, what they save, and what their tables tell."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

import dhp
from dhp.cli.main import main
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, parse_variant
from dhp.plugins.adaptive.early_stopping import (
    SHARES,
    boundaries,
    interim_numbers,
    interim_sizes,
    repeated_log_p,
    spent,
)
from dhp.report.advice import notes, warnings
from dhp.runs.compare import compare
from dhp.stats.discernment import combined
from dhp.stats.wilcoxon import signed_rank
from tests.judges import ByRule

STOP = "stop_when_resolved"
FIGURES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew", "d_min_variant", "ratings", "n")


def texts(n: int) -> dhp.Dataset:
    """Examples of which each perturber for summaries can spoil each one."""
    names = ["Ada Brook", "Ben Carver", "Cora Dell", "Dan Ellis", "Eve Finch"]
    examples = [
        dhp.Example(
            f"{i}",
            f"{names[i % 5]} opened a bakery in Northwick in {1900 + i}. It sold {i + 2} kinds of bread.",
            f"{names[i % 5]} has run a bakery since {1900 + i}. The shop in Northwick sells bread. "
            f"It offers {i + 2} different kinds. Many people buy some every morning.",
        )
        for i in range(n)
    ]
    return dhp.Dataset.of(examples, name="bakeries", task="summarization", suite="summeval")


SEEN = ("random_typos", "random_deletions", "reordering")


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
    return dhp.run(judge, texts(60), schedule=STOP, controls=False, out=folder)[0], folder


@pytest.mark.slow
def test_what_is_seen_clearly_is_resolved_on_a_quarter(watched: tuple[dhp.Result, Path]) -> None:
    """All of 15 scores fell, so that the lower limit lies above 50 % at a quarter of the error."""
    row = next(v for v in watched[0].variants if v.variant == "random_typos.minor")
    assert (row.stopped_at, row.verdict) == (15, "noticed")
    assert {cell.n for cell in row.metrics.values()} == {15}


def test_what_is_not_seen_is_resolved_too(watched: tuple[dhp.Result, Path]) -> None:
    row = next(v for v in watched[0].variants if v.variant == "random_deletions.major")
    assert row.stopped_at in (15, 30, 45)
    assert (row.d, row.verdict) == (0, "missed")


def test_what_was_stopped_is_decided_and_what_is_undecided_got_all(watched: tuple[dhp.Result, Path]) -> None:
    verdicts = {(row.verdict, row.stopped_at is None) for row in watched[0].variants}
    assert ("undecided", False) not in verdicts
    assert ("undecided", True) in verdicts, "for the others chance decides"


def test_nothing_is_asked_about_what_is_resolved(watched: tuple[dhp.Result, Path], judge: ByRule) -> None:
    numbers = interim_numbers([str(i) for i in range(60)], 0, "bakeries")
    assert [len({e for e, _ in turn}) for turn in judge.turns] == [15] * len(judge.turns)
    stopped = {v.variant: v.stopped_at or 60 for v in watched[0].variants}
    asked = Counter(variant for turn in judge.turns for _, variant in turn)
    assert asked == {**stopped, ORIGINAL: max(stopped.values())}
    for number, turn in enumerate(judge.turns, 1):
        assert {numbers[example] for example, _ in turn} == {number}
        assert {v for _, v in turn} - {ORIGINAL} == {v for v, end in stopped.items() if end >= 15 * number}


def test_where_all_is_resolved_nothing_more_is_asked_not_even_originals() -> None:
    judge = judge_of(*SEEN)
    result = dhp.run(judge, texts(60), schedule=STOP, controls=False)
    assert len(judge.turns) == 1
    assert result.ratings["asked"] == 15 * 7 * 4
    assert result.ratings["stopped"] == 45 * 7 * 4


def test_the_table_tells_it_all(watched: tuple[dhp.Result, Path]) -> None:
    result, folder = watched
    table = pd.read_parquet(folder / "ratings.parquet")
    for frame in (table, table.sample(frac=1, random_state=3)):
        again = dhp.analyze(frame, suite="summeval")[0]
        for name in FIGURES:
            assert getattr(again, name) == getattr(result, name), name
        for one, two in zip(again.variants, result.variants, strict=True):
            assert replace(one, metrics={}) == replace(two, metrics={})
    csv = folder.parent / "ratings.csv"
    table.to_csv(csv, index=False)
    assert dhp.analyze(csv, suite="summeval")[0].variants == result.variants
    parts = dict(part.split(":", 1) for part in result.signature.split("|"))
    assert parts["n"].startswith("<=60@")
    assert parts["statistics"] == "default+hmp-asymptotic+looks"


def test_what_is_asked_is_a_part_of_a_full_run(watched: tuple[dhp.Result, Path], judge: ByRule) -> None:
    full = dhp.run(judge_of("random_typos", unseen="random_deletions"), texts(60), controls=False)
    assert full.ratings["asked"] == watched[0].ratings["asked"] + watched[0].ratings["stopped"]
    noticed = {v.variant for v in watched[0].variants if v.verdict == "noticed"}
    assert noticed <= {v.variant for v in full.variants if v.verdict == "noticed"}
    assert watched[0].ratings["asked"] < 0.8 * full.ratings["asked"]
    assert "stopped" not in full.ratings


@pytest.mark.slow
@pytest.mark.parametrize("model", ["baseline/surface", "mock/noisy?sensitivity=0.4&random_typos=5"])
def test_ratings_are_those_of_a_full_run(tmp_path: Path, model: str) -> None:
    for name, stop in (("all", False), ("less", True)):
        folder = tmp_path / name
        dhp.run(model, "mini/story_cloze", schedule=STOP if stop else "all", out=folder)
    key = ["example", "variant", "metric", "sample"]
    every, less = (pd.read_parquet(tmp_path / n / "ratings.parquet").set_index(key) for n in ("all", "less"))
    asked = less[less["status"] == "scored"]
    assert 0 < len(asked) < len(every)
    assert (every.loc[asked.index, "score"] == asked["score"]).all()


def test_no_kind_is_stopped_while_harmless_edits_may_be_noticed_as_often() -> None:
    result = dhp.run("mock/noisy", "mini/story_cloze", schedule=STOP)
    assert result.controls[0].verdict == "not decided"
    stopped = {v.variant: v.verdict for v in result.variants if v.stopped_at is not None}
    assert "undecided" not in stopped.values()


def test_a_reader_is_told(watched: tuple[dhp.Result, Path]) -> None:
    said = "\n".join([*notes(watched[0]), *warnings([watched[0]])])
    asked, stopped = (watched[0].ratings[name] for name in ("asked", "stopped"))
    assert f"so {asked:,} of {asked + stopped:,} ratings were asked" in said
    assert "Compare these averages with no other run" in said
    assert "D is adjusted for the interim analyses" in said
    assert "have no score" not in said
    saved = json.loads((watched[1] / "results.json").read_text())
    assert {v["stopped_at"] for v in saved["variants"]} >= {15}


@pytest.mark.slow
def test_the_last_analysis_has_a_boundary_of_its_own_without_any_stop(tmp_path: Path) -> None:
    judge, data = "mock/noisy?sensitivity=0.5", "mini/story_cloze"
    result = dhp.run(judge, data, schedule=STOP, out=tmp_path / "run")
    plain = dhp.run(judge, data, analysis=dhp.AnalysisConfig(combination="hmp-asymptotic"))
    assert result.ratings["stopped"] == 0
    less = [b.d - a.d for a, b in zip(result.variants, plain.variants, strict=True)]
    assert all(0.02 < each < 0.1 for each in less)
    again = dhp.analyze(tmp_path / "run" / "ratings.parquet", suite="story_cloze")
    assert [v.d for v in again.variants] == [v.d for v in result.variants]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "most"), [("mock/ideal", 0.76), ("mock/blind", 1.0)])
def test_mock_judges(model: str, most: float) -> None:
    """What is seen is resolved early; that nothing is seen takes more than 24 examples to tell."""
    result = dhp.run(model, "mini/summeval", schedule=STOP, controls=False)
    assert {v.d >= 1 for v in result.variants} == {model == "mock/ideal"}
    assert {v.verdict for v in result.variants} == {"noticed" if model == "mock/ideal" else "undecided"}
    assert result.ratings["asked"] <= most * 24 * 13 * 4
    assert result.variants == dhp.run(model, "mini/summeval", schedule=STOP).variants


def test_controls_and_attacks_get_all_examples_and_one_analysis() -> None:
    stopping, plain = (
        dhp.run(
            "mock/ideal",
            "mini/story_cloze",
            controls=True,
            attacks=True,
            analysis=dhp.AnalysisConfig(combination="hmp"),
            schedule=STOP if stop else "all",
        )
        for stop in (True, False)
    )
    assert all(v.stopped_at is not None for v in stopping.variants)
    assert (stopping.controls, stopping.attacks) == (plain.controls, plain.attacks)


@pytest.mark.slow
def test_clusters_count_at_each_analysis(tmp_path: Path) -> None:
    data = texts(60)
    pairs = [replace(e, fields={"cluster": str(int(e.id) // 2)}) for e in data.examples]
    judge = judge_of("random_typos", "reordering", unseen="random_deletions")
    paired = dhp.Dataset.of(pairs, name="bakeries", task="summarization", suite="summeval")
    (result,) = dhp.run(judge, paired, schedule=STOP, out=tmp_path / "r")
    assert result.clusters == 30
    assert all(row.verdict != "undecided" for row in result.variants if row.stopped_at is not None)
    assert result.ratings["stopped"] > 0
    (again,) = dhp.analyze(tmp_path / "r" / "ratings.parquet", suite="summeval")
    assert again.variants == result.variants


def test_failed_ratings_and_several_samples() -> None:
    result = dhp.run("mock/mumbling?samples=3", "mini/story_cloze", schedule=STOP)
    plain = dhp.run("mock/mumbling?samples=3", "mini/story_cloze")
    assert result.ratings["asked"] + result.ratings["stopped"] == plain.ratings["asked"]
    assert result.ratings["unparsed"] > 0
    assert result.ratings["stopped"] > 0


def test_progress_ends_at_what_was_asked() -> None:
    shown = []
    result = dhp.run(
        "mock/ideal",
        "mini/story_cloze",
        schedule=STOP,
        progress=lambda what, done, total, cost: shown.append((what, done, total)),
    )
    judging = [numbers for what, *numbers in shown if what.startswith("mock/ideal on")]
    assert judging[-1] == [result.ratings["asked"]] * 2


def test_the_order_is_drawn_by_seed_and_dataset() -> None:
    names = [f"{i}" for i in range(100)]
    numbers = interim_numbers(names, 0, "a")
    assert Counter(numbers.values()) == {1: 25, 2: 25, 3: 25, 4: 25}
    assert numbers == interim_numbers(names[::-1], 0, "a")
    assert numbers != interim_numbers(names, 1, "a") != interim_numbers(names, 0, "b")
    assert [numbers[name] for name in names] != sorted(numbers.values())


@pytest.mark.slow
def test_runs_that_stopped_elsewhere_are_not_compared(tmp_path: Path) -> None:
    for name, model in (("ideal", "mock/ideal"), ("noisy", "mock/noisy?sensitivity=0.5")):
        dhp.run(model, "mini/story_cloze", schedule=STOP, out=tmp_path / name)
    dhp.run(
        "mock/ideal",
        "mini/story_cloze",
        analysis=dhp.AnalysisConfig(combination="hmp-asymptotic"),
        out=tmp_path / "full",
    )
    for other in ("noisy", "full"):
        with pytest.raises(InputError, match="n differs"):
            compare(tmp_path / "ideal", tmp_path / other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--doses", "1,5"], "--doses: cannot be used with --stop-when-resolved"),
        (["--doses", "1,5", "--dry-run"], "--doses: cannot be used with --stop-when-resolved"),
        (["--statistics", "paper"], "--stop-when-resolved: the combination 'printed' finds too much"),
        (["--combination", "printed"], "allowed: hmp, hmp-asymptotic, joint"),
        (["--find-threshold"], "--stop-when-resolved: cannot be used with --find-threshold; allowed: one of"),
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
        main(["benchmark", "--model", "mock/ideal", "--stop-when-resolved", *arguments])
    return ended.value.code, *capsys.readouterr()


@pytest.mark.slow
def test_the_command_line_says_what_was_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = said_by(capsys, "--dataset", "mini/story_cloze", "--out", str(tmp_path / "run"))
    assert code in (0, None)
    said = " ".join(out.split())
    assert "note: Compare these averages with no other run: 6 kinds were resolved early, so " in said
    assert (
        "upper limit: variants that are resolved early need fewer ratings" in said_by(capsys, "--dry-run")[1]
    )


def small() -> pd.DataFrame:
    rows = [
        (f"{e}", variant, 5.0 if variant == ORIGINAL else 3.0, "scored", 1 + (e >= 6))
        for e in range(12)
        for variant in (ORIGINAL, "worse", "bad")
    ]
    table = pd.DataFrame(rows, columns=["example", "variant", "score", "status", "look"]).assign(metric="m")
    late = (table["variant"] == "worse") & (table["look"] == 2)
    table.loc[late, ["score", "status"]] = [None, "stopped"]
    return table


def asked(table: pd.DataFrame, where: pd.Series, status: str, score: float | None) -> pd.DataFrame:
    """The table with another outcome of the variant `worse`."""
    changed = table.copy()
    changed.loc[where & (table["variant"] == "worse"), ["score", "status"]] = [score, status]
    return changed


def test_a_table_of_ones_own() -> None:
    result = dhp.analyze(small())
    assert {v.variant: (v.stopped_at, v.metrics["m"].n) for v in result.variants} == {
        "worse": (6, 6),
        "bad": (None, 12),
    }
    assert all(v.not_applicable == 0 for v in result.variants)
    unmarked = dhp.analyze(small().query("status == 'scored'").drop(columns="look"))
    assert all(a.d < b.d for a, b in zip(result.variants, unmarked.variants, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="look"), "'stopped' needs a column 'look'"),
        (lambda t: t.assign(look=range(1, 1 + len(t))), "one number for each example"),
        (lambda t: t.assign(look=t["look"] * 2), "without a gap"),
        (lambda t: t.assign(look=t["look"] / 2), "without a gap"),
        (lambda t: t.assign(look="soon"), "column 'look'"),
        (lambda t: t.assign(look=1), "status 'stopped' of a variant: allowed from look 2 on"),
        (lambda t: t.assign(look=3 - t["look"]), "status 'stopped' of a variant: allowed from look 2 on"),
        (
            lambda t: asked(t, t["example"] == "11", "scored", 3.0),
            "status 'stopped' of a variant: allowed from look 2 on",
        ),
        (
            lambda t: asked(t, t["look"] == 1, "stopped", None),
            "status 'stopped' of a variant: allowed from look 2 on",
        ),
    ],
)
def test_looks_that_contradict_themselves_are_refused(change: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dhp.analyze(change(small()))


RUNS = 1000
MOST = 64
"""Of 1,000 runs with a chance of 0.05 each, no more than so many find something in 97.7 % of cases."""


# Lan and DeMets 1983 and later tables: spending of O'Brien and Fleming's type, one-sided 0.025, equal steps.
@pytest.mark.parametrize(
    "published",
    [
        [1.9600],
        [2.9626, 1.9686],
        [3.7103, 2.5114, 1.9930],
        [4.3326, 2.9631, 2.3590, 2.0141],
        [4.8769, 3.3570, 2.6803, 2.2898, 2.0310],
    ],
)
def test_published_lines(published: list[float]) -> None:
    k = len(published)
    found = boundaries(tuple((i + 1) / k for i in range(k)), 0.025)
    assert norm.isf(found) == pytest.approx(published, abs=2e-4)


@pytest.mark.parametrize("fractions", [SHARES, (0.267, 0.5, 0.767, 1.0), (0.1, 0.9, 1.0), (0.5, 1.0)])
def test_each_analysis_spends_its_share_of_the_error(fractions: tuple[float, ...]) -> None:
    limits = norm.isf(boundaries(fractions))
    covariance = [[math.sqrt(min(a, b) / max(a, b)) for a in fractions] for b in fractions]
    for k in range(1, len(fractions) + 1):
        below = multivariate_normal.cdf(limits[:k], np.zeros(k), np.array(covariance)[:k, :k], abseps=1e-7)
        assert 1 - below == pytest.approx(spent(fractions[k - 1]), abs=1e-5)


@pytest.mark.parametrize("fractions", [(), (0.0, 1.0), (0.5, 0.5, 1.0), (0.6, 0.5), (0.5, 1.1)])
def test_fractions_that_do_not_rise_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="fractions must rise"):
        boundaries(fractions)


@pytest.mark.parametrize(
    ("n", "sizes"), [(100, (25, 50, 75, 100)), (30, (8, 15, 23, 30)), (3, (1, 2, 3)), (1, (1,))]
)
def test_sizes_of_interim_analyses(n: int, sizes: tuple[int, ...]) -> None:
    assert interim_sizes(n) == sizes


def log_ps(differences: np.ndarray) -> np.ndarray:
    """Of one test a row."""
    return np.array([signed_rank(row) for row in differences])


def analysed(runs: int, n: int, metrics: int, drawn: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Whether each analysis reaches its boundary, shape (runs, analyses); metrics correlate by 0.5."""
    rng = np.random.default_rng(metrics * 1000 + n)
    shared = rng.normal(size=(runs, n, 1))
    x = drawn((shared + rng.normal(size=(runs, n, metrics))) / math.sqrt(2))
    sizes = interim_sizes(n)
    lines = np.log(boundaries(tuple(size / n for size in sizes)))
    logs = [
        combined(
            np.stack([log_ps(x[:, :size, m]) for m in range(metrics)], axis=-1)[:, None],
            None,
            "hmp-asymptotic",
        )
        for size in sizes
    ]
    return np.concatenate(logs, axis=1) <= lines


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize(
    "drawn", [lambda z: z, np.round, lambda z: np.round(0.6 * z)], ids=["continuous", "points", "mostly ties"]
)
def test_a_judge_that_notices_nothing_is_found_out_no_more_often_than_promised(
    metrics: int, n: int, drawn: Callable[[np.ndarray], np.ndarray]
) -> None:
    found = analysed(RUNS, n, metrics, drawn).any(axis=1)
    assert found.sum() <= MOST, "whatever ends the runs: some analysis reaches its boundary"


@pytest.mark.slow
def test_what_is_there_is_found_early_and_hardly_less_often() -> None:
    strong = analysed(300, 100, 4, lambda z: np.round(z + 1.2))
    assert strong[:, 1].mean() > 0.99, "half the examples suffice"
    weak = analysed(RUNS, 100, 1, lambda z: z + 0.3)
    once = norm.sf(norm.isf(0.05) - 0.3 * math.sqrt(100) * math.sqrt(3 / math.pi))
    assert weak.any(axis=1).mean() == pytest.approx(once, abs=0.05)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("level", [1e-4, 0.05 / 12, 0.02, 0.05, 0.3])
def test_a_repeated_p_value_is_the_level_at_which_the_boundary_is_met(number: int, level: float) -> None:
    at_boundary = math.log(boundaries(SHARES, level)[number - 1])
    assert math.exp(repeated_log_p(at_boundary, SHARES, number)) == pytest.approx(level, rel=2e-3)


def test_repeated_p_values_far_out_and_without_several_analyses() -> None:
    logs = np.array([-1e5, -700.0, -30.0, -3.0, -0.5, -1e-3, 0.0, np.nan])
    for number in (1, 4):
        found = repeated_log_p(logs, SHARES, number)
        assert (np.diff(found[:-1]) >= 0).all()
        assert (found[:-1] >= logs[:-1]).all()
        assert np.isnan(found[-1])
        assert found[-2] == 0
    assert repeated_log_p(-30.0, SHARES, 1) == pytest.approx(-30 / 4, rel=0.2), "spent on a quarter so far"
    assert repeated_log_p(logs[:4], (1.0,), 1) == pytest.approx(logs[:4], rel=2e-3)


def test_repeated_p_values_hold_at_every_level_and_through_holm() -> None:
    rng = np.random.default_rng(5)
    walks = rng.normal(size=(20_000, 5, 4)).cumsum(axis=2) / np.sqrt([1, 2, 3, 4])
    logs = np.stack([repeated_log_p(norm.logsf(walks[..., k]), SHARES, k + 1) for k in range(4)], axis=-1)
    smallest = np.exp(logs.min(axis=-1))
    for level in (0.05, 0.01, 0.002):
        band = 4 * math.sqrt(level / smallest.size)
        assert (smallest <= level).mean() == pytest.approx(level, abs=band)
    by_bonferroni = (smallest.min(axis=1) <= 0.01).mean()
    assert by_bonferroni == pytest.approx(1 - 0.99**5, abs=4 * math.sqrt(0.05 / len(walks)))
