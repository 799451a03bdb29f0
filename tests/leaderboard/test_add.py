"""Results are added by file: figures that do not follow from the ratings are refused."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

import dhp
from dhp.analysis.results import Results, results_schema
from dhp.core.errors import InputError
from dhp.core.specs import Task
from dhp.leaderboard.reading import add_results, read_entries
from tests.unsealed import unsealed

from .conftest import run_with_own_weights, signed

Result = dict[str, Any]


@pytest.mark.slow
def test_untouched_results_are_taken_in(runs: Path, tmp_path: Path) -> None:
    file, ratings = runs / "noisy" / "results.json", runs / "noisy" / "ratings.parquet"
    written = add_results(file, tmp_path / "board", ratings=ratings)
    assert [path.parent for path in written] == [tmp_path / "board"] * 2
    assert [json.loads(path.read_text()) for path in written] == json.loads(file.read_text())
    pd.read_parquet(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    csv = tmp_path / "ratings.csv"
    assert add_results(file, tmp_path / "board", ratings=csv) == written
    assert add_results(runs / "noisy", tmp_path / "board") == written
    assert len(read_entries([tmp_path / "board"])) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(d_avg=r["d_avg"] * 1.00001), "d_avg is"),
        (lambda r: r.update(d_min_ew=None), "d_min_ew is None"),
        (lambda r: r.update(d_min_variant="random_typos.minor"), "d_min_variant is random_typos.minor"),
        (lambda r: r["detection"]["ci"].update(avg=[0.9, 1.0]), "detection.ci.avg"),
        (lambda r: r["ratings"].update(scored=1), "ratings.scored is 1"),
        (lambda r: r["variants"][1].update(d=9.0), "variants.random_deletions.major.d is 9.0"),
        (lambda r: r["variants"][0].update(level="word"), "variants.random_deletions.minor.level is word"),
        (lambda r: r["variants"][0]["metrics"]["fluency"].update(p=1e-9), "metrics.fluency.p is 1e-09"),
        (lambda r: r["variants"][0]["metrics"]["fluency"].update(n=23), "metrics.fluency.n is 23"),
        (lambda r: r["variants"][0]["metrics"].pop("fluency"), "metrics.fluency is None"),
        (
            lambda r: r["variants"].pop(),
            "lacks the variant 'rewriting_insertion.major', which was rated",
        ),
        (lambda r: r.update(model="mock/other"), "model 'mock/other'"),
        (lambda r: (signed(r, "n", "100"), r.update(n=100)), "n is 100, but 24 follows"),
        (lambda r: r.update(warnings=["it cheats"]), "warnings is"),
        (lambda r: r.update(failures={"made up": 1}), "failures.made up is 1, but None"),
        (lambda r: r.update(rules={"parse:last": 3}), "rules.parse:last is 3"),
        (lambda r: r.update(missing_mass=0.5), "missing_mass is 0.5, but None"),
        (lambda r: r.update(left_out=["random_typos.minor"]), "left_out is"),
        (lambda r: r.update(levels="none"), "levels is none, but suite"),
        (lambda r: r["detection"].update(avg=0.99), "detection.avg is 0.99"),
        (lambda r: r["variants"][0].update(verdict="missed"), "verdict 'missed'"),
        (
            lambda r: r["variants"][0].update(verdict="faint"),
            "variants.random_deletions.minor.verdict is faint",
        ),
        (lambda r: signed(r, "weights", "design.v1@0"), r"weights are 'design.v1@0', not .* `weights` FILE"),
    ],
)
def test_figures_that_do_not_follow_from_the_ratings_are_refused(
    runs: Path, tmp_path: Path, edited: Callable[..., Path], change: Callable[[Result], object], message: str
) -> None:
    file = edited("edited.json", change)
    with pytest.raises(InputError, match=message) as caught:
        add_results(file, tmp_path / "board", ratings=runs / "noisy" / "ratings.parquet")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "board").exists()


@pytest.mark.slow
def test_probes_curves_and_other_ways_of_analysis_can_be_checked(tmp_path: Path) -> None:
    config = dhp.AnalysisConfig
    ways: list[dict[str, Any]] = [
        {"controls": True, "attacks": True, "analysis": config(statistics="paper")},
        {"doses": (2, 8), "analysis": config(weights="uniform")},
        {
            "metrics": ["answer_quality"],
            "analysis": config(combination="hmp-asymptotic"),
        },
    ]
    for number, way in enumerate(ways):
        run = tmp_path / str(number)
        dhp.run("mock/noisy", "mini/answer_equivalence", out=run, **way)
        assert add_results(run, tmp_path / "board")
    assert len(read_entries([tmp_path / "board"])) == len(ways)


@pytest.mark.slow
def test_weights_that_do_not_ship_are_asked_for(tmp_path: Path) -> None:
    file = run_with_own_weights(tmp_path)
    with pytest.raises(InputError, match="weights 'own' do not ship with dhp; give their file by `weights`"):
        add_results(tmp_path / "run", tmp_path / "board")
    assert add_results(tmp_path / "run", tmp_path / "board", weights=str(file))
    file.write_text(file.read_text().replace("0.7", "0.5").replace("fluency: 0.1", "fluency: 0.3"))
    with pytest.raises(InputError, match=r"weights are 'own.v1@.*', not 'own.v1@"):
        add_results(tmp_path / "run", tmp_path / "board", weights=str(file))


@pytest.mark.slow
def test_ratings_without_names_fit_the_only_result(runs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    dhp.run("mock/noisy", "mini/answer_equivalence", out=run)
    table = pd.read_parquet(run / "ratings.parquet")
    table[["example", "variant", "metric", "score", "status"]].to_csv(tmp_path / "r.csv", index=False)
    assert add_results(run / "results.json", tmp_path / "b", ratings=tmp_path / "r.csv")


def test_the_newer_result_stays_on_the_board(
    tmp_path: Path, edited: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    board = tmp_path / "board"
    (path,) = add_results(edited("old.json", lambda r: r.update(created="2001-01-01T00:00:00+00:00")), board)
    assert add_results(edited("new.json", lambda r: r.update(cost=1.0)), board) == [path]
    assert add_results(tmp_path / "old.json", board) == []
    replaced, kept = caplog.messages
    assert re.search("the newest counts, .*new.json", replaced)
    assert re.search("not .*old.json", kept)
    assert [json.loads(p.read_text())["cost"] for p in board.iterdir()] == [1.0]


@pytest.mark.parametrize("figure", ["d_avg", "d_min", "d_avg_ew", "d_min_ew"])
def test_an_average_that_its_variants_do_not_have_is_refused(
    tmp_path: Path, edited: Callable[..., Path], figure: str
) -> None:
    with pytest.raises(InputError, match=f"{figure} is 22.0, but .* follows from its variants"):
        add_results(edited("some.json", lambda r: r.update({figure: 22.0})), tmp_path / "board")
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize(
    "name", ["../../up", "/etc/x", "a\\..\\b", "<script>", "", ".", "con\u202e\n\x00", "é" * 999]
)
def test_names_never_leave_the_board(tmp_path: Path, edited: Callable[..., Path], name: str) -> None:
    file = edited("in/some.json", lambda r: r.update(model=name))
    board = tmp_path / "deep" / "board"
    (path,) = add_results(file, board)
    assert path.resolve().parent == board.resolve()
    assert [p.name for p in board.iterdir()] == [path.name]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "in"]
    assert read_entries([board])[0].result.model == name


def broken(result: Result) -> dict[str, Result]:
    """Results, each with one fault."""
    first = result["variants"][0]
    cell = first["metrics"]["fluency"]

    def but(**changes: object) -> Result:
        return result | changes

    lacking = {
        name: {k: v for k, v in result.items() if k != name} for name in ("schema", "d_avg", "cost", "n")
    }
    return {
        **lacking,
        "version": but(schema="dhp.results/4"),
        "unknown field": but(note="well done"),
        "text for a number": but(d_avg="3.2"),
        "true for a number": but(d_avg=True),
        "fraction for a count": but(n=24.5),
        "number for text": but(model=7),
        "one end": but(detection={**result["detection"], "ci": {"avg": [0.5]}}),
        "three ends": but(detection={**result["detection"], "ci": {"avg": [0.5, 0.6, 0.7]}}),
        "combination": but(combination="mean"),
        "variants": but(variants={}),
        "variant": but(variants=[{**first, "d": [1]}]),
        "field of a variant": but(variants=[{**first, "rank": 1}]),
        "cell": but(variants=[{**first, "metrics": {"fluency": {**cell, "n": None}}}]),
        "lacking in a cell": but(variants=[{**first, "metrics": {"fluency": {"p": 0.5}}}]),
        "counts": but(ratings={"asked": "many"}),
        "warnings": but(warnings="none"),
        "scales": but(scales={"fluency": [1]}),
    }


@pytest.mark.slow
def test_schema_and_reader_agree(runs: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(results_schema())
    checker = jsonschema.Draft202012Validator(results_schema())
    results = json.loads((runs / "noisy" / "results.json").read_text())
    for good in (results, results[0], [results[1]]):
        assert checker.is_valid(good)
        assert Results.from_json(good, "file")
    for fault, found in broken(results[0]).items():
        for given in (found, [results[1], found]):
            assert not checker.is_valid(given), fault
            with pytest.raises(InputError, match="file: "):
                Results.from_json(given, "file")
    for nothing in (None, 1, "x", {}):
        assert not checker.is_valid(nothing)
        with pytest.raises(InputError):
            Results.from_json(nothing, "file")


def test_a_board_must_be_a_folder(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "good" / "results.json", tmp_path / "board")
    with pytest.raises(InputError, match="is a file; allowed: a folder of results files"):
        add_results(runs / "good", tmp_path / "board")


class Careless:
    """Gives no score to the first texts, and says why and by which rule it read the others."""

    model, protocol = "own/careless", "none"

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        """A rating for each candidate and metric."""
        for place, c in enumerate(candidates):
            for metric in task.metrics:
                if place < 40:
                    yield dhp.Rating(c.example, c.variant, metric.name, 0, None, "failed", raw="it slept")
                else:
                    score = 4.0 - (c.variant != "original")
                    yield dhp.Rating(
                        c.example, c.variant, metric.name, 0, score, "scored", "4", "parse:last", 0.25
                    )


@pytest.mark.slow
@pytest.mark.parametrize("field", ["warnings", "failures", "rules", "missing_mass"])
def test_what_makes_figures_doubtful_cannot_be_taken_away(tmp_path: Path, field: str) -> None:
    run = tmp_path / "run"
    dhp.run(Careless(), "mini/answer_equivalence", out=run)
    bare = unsealed(shutil.copytree(run, tmp_path / "bare"))
    result = json.loads((bare / "results.json").read_text())
    assert result[field]
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(result | {field: type(result[field])() if field != "missing_mass" else None}))
    table = pd.read_parquet(run / "ratings.parquet")
    table.to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(InputError, match=f"{field}.* is "):
        add_results(file, tmp_path / "board", ratings=tmp_path / "all.csv")
    table.drop(columns=["raw", "rule", "missing_mass"]).to_csv(tmp_path / "few.csv", index=False)
    assert add_results(run / "results.json", tmp_path / "board", ratings=tmp_path / "few.csv")


@pytest.mark.slow
def test_the_wording_of_a_warning_shuts_out_no_run_of_ones_own(runs: Path, tmp_path: Path) -> None:
    run = shutil.copytree(runs / "noisy", tmp_path / "run")
    results = json.loads((run / "results.json").read_text())
    reworded = [result | {"warnings": ["as another version said it"]} for result in results]
    (run / "results.json").write_text(json.dumps(reworded))
    assert len(read_entries([run])) == len(results)
    reworded[0]["variants"][0]["verdict"] = "faint"
    (run / "results.json").write_text(json.dumps(reworded))
    with pytest.raises(InputError, match="verdict is faint"):
        read_entries([run])


@pytest.mark.slow
def test_variants_that_were_left_out_must_be_named(runs: Path, tmp_path: Path) -> None:
    table = pd.read_parquet(runs / "noisy" / "ratings.parquet")
    table = table[(table["dataset"] == "mini/summeval") & (table["variant"] != "random_typos.minor")]
    table.to_csv(tmp_path / "r.csv", index=False)
    found = dhp.analyze(tmp_path / "r.csv", suite="summeval").to_dict()
    for left_out, taken in ((["random_typos.minor"], True), ([], False)):
        (tmp_path / "r.json").write_text(json.dumps(found | {"left_out": left_out}))
        if taken:
            assert add_results(tmp_path / "r.json", tmp_path / "board", ratings=tmp_path / "r.csv")
        else:
            with pytest.raises(InputError, match="left_out is"):
                add_results(tmp_path / "r.json", tmp_path / "board", ratings=tmp_path / "r.csv")


@pytest.mark.slow
def test_results_of_a_table_without_levels_can_be_checked(runs: Path, tmp_path: Path) -> None:
    table = pd.read_parquet(runs / "noisy" / "ratings.parquet").drop(columns="level")
    table.to_csv(tmp_path / "r.csv", index=False)
    found = dhp.analyze(tmp_path / "r.csv", analysis=dhp.AnalysisConfig(weights="uniform")).to_dict()
    assert {result["levels"] for result in found} == {"none"}
    (tmp_path / "r.json").write_text(json.dumps(found))
    assert add_results(tmp_path / "r.json", tmp_path / "board", ratings=tmp_path / "r.csv")
    found[0]["variants"][0]["level"] = "word"
    (tmp_path / "r.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match=r"level is word, but all follows"):
        add_results(tmp_path / "r.json", tmp_path / "board", ratings=tmp_path / "r.csv")
