"""A gate: passes what holds, names what does not, refuses what cannot be compared."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import dhp as library
from dhp.cli.main import main
from dhp.core.verdicts import FALSE_ALARM, MISSED

from .conftest import Run

SUMMARIES, STORIES = "mini/summeval", "mini/story_cloze"


@pytest.fixture(scope="module")
def results() -> library.Results:
    """Two results of which only the first misses a kind of damage (on 24 texts undecided)."""
    blind = library.run("mock/ideal?random_typos=0", SUMMARIES)[0]
    variants = tuple(
        replace(row, verdict=MISSED, detection_ci=(0.42, 0.58)) if row.verdict == "undecided" else row
        for row in blind.variants
    )
    ideal = library.run("mock/ideal", STORIES)[0]
    return library.Results([replace(blind, variants=variants), replace(ideal, model=blind.model)])


def write(folder: Path, results: library.Results, *, rated: bool = False) -> Path:
    """A run folder with these results, and with ratings of judges that all say the same."""
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(results.to_dict()))
    if rated:
        tables = [
            pd.DataFrame(
                [
                    (f"e{i}", name, metric, 5.0 - (name != "original"), r.model, r.protocol, r.dataset)
                    for i in range(8)
                    for name in ("original", *(v.variant for v in r.variants))
                    for metric in r.variants[0].metrics
                ],
                columns=["example", "variant", "metric", "score", "model", "protocol", "dataset"],
            )
            for r in results
        ]
        pd.concat(tables).to_parquet(folder / "ratings.parquet")
    return folder


def changed(results: library.Results, place: int, **changes: object) -> library.Results:
    each = list(results)
    each[place] = replace(each[place], **changes)  # type: ignore[arg-type]
    return library.Results(each)


@pytest.mark.slow
def test_what_holds_passes_with_a_line_that_says_it(
    dhp: Run, tmp_path: Path, results: library.Results
) -> None:
    write(tmp_path / "r", results)
    done = dhp("gate", "r", "--min-detection", "60")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    assert done.out.startswith(f"met: {SUMMARIES}")
    assert done.out.endswith("60 % or more in all; 2 results\n")


@pytest.mark.slow
def test_a_limit_is_read_off_the_interval(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    """Met up to the lower end, not met above the upper one, undecided in between."""
    low, high = (100 * end for end in results[0].detection.ci["avg"])
    write(tmp_path / "r", library.Results([results[0]]))
    met, doubt, lost = (
        dhp("gate", "r", "--min-detection", f"{x:.2f}") for x in (low - 0.1, low + 1, high + 0.1)
    )
    assert (met.code, met.out.partition(":")[0]) == (0, "met")
    assert (doubt.code, doubt.out.partition(":")[0]) == (0, "undecided")
    assert re.search(r"may or may not reach [\d.]+ %, (no number of|[\d,]+) texts", doubt.out)
    assert (lost.code, lost.out.partition(":")[0]) == (1, "not met")
    assert dhp("gate", "r", "--min-detection", f"{low + 1:.2f}", "--require-proof").code == 1


@pytest.mark.slow
def test_kinds_that_must_be_noticed(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    write(tmp_path / "r", results)
    assert dhp("gate", "r", "--must-notice", "missing letters, minor").code == 0
    assert dhp("gate", "r", "--must-notice", "random_deletions.major,reordering.minor").code == 0
    done = dhp("gate", "r", "--must-notice", "random_typos.minor")
    assert (done.code, done.err) == (1, "")
    judge = f"{SUMMARIES}, mock/ideal?random_typos=0"
    start = f"not met: {judge}: not shown to notice 1 of 1 kind; typos, minor: missed, 50.0 %"
    assert done.out.startswith(start)
    every = dhp("gate", "r", "--must-notice", "all")
    assert every.code == 1
    assert every.out.startswith(
        f"not met: {judge}: not shown to notice 2 of 12 kinds; typos, minor: missed, "
    )


@pytest.mark.slow
def test_what_must_be_noticed_must_be_proven(dhp: Run, tmp_path: Path) -> None:
    """A judge that gives every text the same score notices nothing, and no number of texts would show it."""

    def constant(*, outputs: str) -> float:
        return 0.7

    settings = library.JudgeSettings(scale=(0, 1), version="1")
    library.run(constant, SUMMARIES, judge_settings=settings, out=tmp_path / "r")
    done = dhp("gate", "r", "--must-notice", "all")
    assert (done.code, done.out.count("\n")) == (1, 1)
    assert ": not shown to notice 12 of 12 kinds; " in done.out
    assert len(done.out) < 260
    outcome = library.gate(tmp_path / "r", must_notice="all")
    assert len(outcome.checks["must-notice"]) == 13, "all kinds are there for who wants them"
    assert dhp("gate", "r", "--must-notice", "typos", "--min-detection", "40").code == 1


def test_a_false_alarm_fails_unless_controls_are_ignored(
    dhp: Run, tmp_path: Path, results: library.Results
) -> None:
    alarm = replace(results[0].controls[0], verdict=FALSE_ALARM, detection=0.7, detection_ci=(0.6, 0.8))
    write(tmp_path / "r", changed(results, 0, controls=(alarm,)))
    done = dhp("gate", "r", "--min-detection", "50")
    assert (done.code, ": false alarm, " in done.out) == (1, True)
    assert dhp("gate", "r", "--min-detection", "50", "--ignore-controls").code == 0


def table(*, lost: float, of_originals: float = 0.0, n: int = 40) -> pd.DataFrame:
    """Ratings of a judge that notices all damage that it scores, and leaves a share of each kind unscored."""
    rows = []
    for i in range(n):
        for variant in ("original", "random_typos.minor", "random_typos.major"):
            share = of_originals if variant == "original" else lost
            failed = (i * 7) % n < share * n
            score = None if failed else 5.0 - (variant != "original")
            rows.append((f"e{i}", variant, "quality", score, "failed" if failed else "scored"))
    return pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "status"])


@pytest.mark.parametrize(
    ("lost", "of_originals", "code"), [(0.75, 0.0, 1), (0.1, 0.0, 0), (0.125, 0.125, 1), (0.05, 0.05, 0)]
)
def test_missing_scores_fail_a_gate(
    dhp: Run, tmp_path: Path, lost: float, of_originals: float, code: int
) -> None:
    """All scores that are there fell, so that detection is 100 %."""
    table(lost=lost, of_originals=of_originals).to_csv(tmp_path / "ratings.csv", index=False)
    (tmp_path / "r.json").write_text(dhp("analyze", "ratings.csv", "--json").out)
    done = dhp("gate", "r.json", "--min-detection", "60")
    assert done.code == code, done.out
    if code:
        worst = f"not met: ratings.csv, the judge: scores are missing for {100 * lost:.1f} % of "
        assert done.out.startswith(worst)
    assert dhp("gate", "r.json", "--min-detection", "60", "--max-missing", "80").code == 0
    assert dhp("gate", "r.json", "--min-detection", "60", "--max-missing", "4").code == (lost > 0.04)


def test_scores_that_go_missing_on_damage_are_the_first_doubt(dhp: Run, tmp_path: Path) -> None:
    results = library.analyze(table(lost=0.75))
    outcome = library.gate(results, min_detection=60)
    assert "typos, major (75% and 0%)" in outcome.doubts[0]
    words = "75.0 % of typos, minor (originals 0.0 %), more than 10 % in 2 of 3 kinds of text"
    assert words in outcome.sentence
    assert next(iter(outcome.checks)) == "max-missing"
    assert library.gate(results, min_detection=60, max_missing=80).passed


def test_an_undefined_figure_fails(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    nothing = replace(results[1].detection, avg=None, ci={"avg": None, "min": None})
    write(tmp_path / "r", changed(results, 1, detection=nothing))
    done = dhp("gate", "r", "--min-detection", "1")
    assert done.code == 1
    assert "detection is undefined, no kind of damage has five pairs" in done.out


def rated(folder: Path, model: str, seed: int = 0) -> Path:
    library.run(model, STORIES, out=folder, seed=0)
    return folder


@pytest.mark.slow
def test_a_loss_fails_where_it_is_proven(dhp: Run, tmp_path: Path) -> None:
    """Sampling judges: the same one with other draws, one that sees less, one blind to a single damage."""
    rated(tmp_path / "old", "mock/noisy?noise=0.7")
    rated(tmp_path / "again", "mock/noisy?noise=0.71")
    rated(tmp_path / "worse", "mock/noisy?noise=0.7&sensitivity=0.2")
    rated(tmp_path / "gap", "mock/noisy?noise=0.7&wrong_ending=0&random_typos=0&random_deletions=-1")
    drop = ("--against", "old", "--max-drop", "5")
    for name in ("again", "old"):
        done = dhp("gate", name, *drop)
        assert (done.code, done.err) == (0, ""), done.out
        assert "points against old" in done.out
    lost = dhp("gate", "worse", *drop)
    assert lost.code == 1
    assert re.search(r"sensitivity=0.2: detection fell by [\d.]+ points, more than 5 \(p = ", lost.out)
    one = dhp("gate", "gap", "--against", "old", "--max-drop", "20")
    assert one.code == 1
    assert "random_deletions" in one.out
    assert dhp("gate", "worse", "--against", "old", "--max-drop", "60").code == 0


@pytest.mark.slow
def test_what_is_neither_proven_nor_ruled_out_is_undecided(dhp: Run, tmp_path: Path) -> None:
    rated(tmp_path / "old", "mock/noisy?noise=0.7")
    rated(tmp_path / "new", "mock/noisy?noise=0.7&sensitivity=0.9")
    done = dhp("gate", "new", "--against", "old", "--max-drop", "2.8")
    assert done.code == 0, done.out
    assert re.match(r"undecided: .* a loss of 2.8 is neither proven nor ruled out", done.out)


def test_a_loss_needs_ratings(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    write(tmp_path / "r", results)
    write(tmp_path / "old", results)
    done = dhp("gate", "r", "--against", "old", "--max-drop", "5")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("dhp: r: without ratings; allowed:")


@pytest.mark.slow
def test_judges_of_other_names_compare_where_each_run_has_one(
    dhp: Run, tmp_path: Path, results: library.Results
) -> None:
    renamed = library.Results([replace(r, model="mock/after") for r in results])
    write(tmp_path / "old", results, rated=True)
    write(tmp_path / "one", renamed, rated=True)
    write(tmp_path / "both", library.Results([*results, *renamed]), rated=True)
    drop = ("--against", "old", "--max-drop", "0")
    assert dhp("gate", "one", *drop).code == 0
    several = dhp("gate", "both", *drop)
    assert several.code == 2
    assert f"old: holds no result on '{SUMMARIES}' under protocol 'none' by model 'mock/after'" in several.err
    assert dhp("gate", "one", "--against", "both", "--max-drop", "0").code == 0


def test_runs_that_differ_are_refused(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    signed: Mapping[str, str] = results[1].signed.parts
    other = "|".join(f"{k}:{'other' if k == 'weights' else v}" for k, v in signed.items())
    write(tmp_path / "r", results, rated=True)
    write(tmp_path / "old", changed(results, 1, signature=other), rated=True)
    done = dhp("gate", "r", "--against", "old", "--max-drop", "1")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    said = f"dataset '{STORIES}': weights differs, '{signed['weights']}' in r and 'other' in old"
    assert said in done.err


def test_seed_and_version_may_differ(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    other = results[0].signature.replace("|dhp:", "|dhp:9.")
    assert other != results[0].signature
    write(tmp_path / "r", results, rated=True)
    write(tmp_path / "old", changed(results, 0, signature=other), rated=True)
    assert dhp("gate", "r", "--against", "old", "--max-drop", "0").code == 0


@pytest.mark.slow
def test_a_dataset_that_vanished_is_no_pass(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    other = [replace(r, model="mock/other") for r in results]
    write(tmp_path / "old", results, rated=True)
    write(tmp_path / "less", library.Results([results[0]]), rated=True)
    write(tmp_path / "both", library.Results([*results, *other]), rated=True)
    write(tmp_path / "ragged", library.Results([*results, other[0]]), rated=True)
    for run, against in (("less", "old"), ("ragged", "both")):
        done = dhp("gate", run, "--against", against, "--max-drop", "9")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"dhp: {run}: lacks dataset '{STORIES}', on which {against} has a result; "
            "allowed: a run of all datasets of the earlier one\n"
        )
    assert dhp("gate", "old", "--against", "both", "--max-drop", "0").code == 0, "one judge of two"


def test_a_way_of_asking_is_named_where_there_is_one(
    dhp: Run, tmp_path: Path, results: library.Results
) -> None:
    for protocol, said in (("none", ""), ("unknown", ""), ("stars@0a1b", ", stars@0a1b")):
        write(tmp_path / protocol, changed(results, 0, protocol=protocol))
        done = dhp("gate", protocol, "--must-notice", "random_typos.minor")
        assert done.out.startswith(f"not met: {SUMMARIES}, mock/ideal?random_typos=0{said}: not shown")


@pytest.mark.slow
def test_doses_and_doubts(dhp: Run, tmp_path: Path, results: library.Results) -> None:
    dosed = library.run("mock/ideal", SUMMARIES, n=6, doses=(1, 10))
    write(tmp_path / "dosed", dosed)
    refused = dhp("gate", "dosed", "--min-detection", "50")
    assert refused.code == 2
    assert "is a run with doses, its averages mean nothing" in refused.err
    write(tmp_path / "doubtful", changed(results, 1, warnings=("9 % of the ratings failed",)))
    passed = dhp("gate", "doubtful", "--min-detection", "50")
    assert passed.code == 0
    assert f"dhp: warning: {STORIES}, mock/ideal?random_typos=0: 9 % of the ratings failed\n" == passed.err


def test_names_cannot_break_the_line(
    tmp_path: Path,
    results: library.Results,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    evil = library.Results([replace(r, model="m\n\x1b[2Jmet") for r in results])
    with pytest.raises(SystemExit):
        main(["gate", str(write(tmp_path / "r", evil)), "--min-detection", "60"])
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "\x1b" not in said


@pytest.mark.slow
def test_an_earlier_run_may_be_named_by_its_results(dhp: Run) -> None:
    dhp("benchmark --model mock/ideal --dataset mini/story_cloze --n 8 --out r --quiet")
    done = dhp("gate r --against r/results.json --max-drop 0")
    assert (done.code, done.err) == (0, "")
