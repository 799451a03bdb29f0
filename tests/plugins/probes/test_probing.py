"""Planted judges are found, an ideal one passes; the same through a server, resumed, and wrong input."""

import json
from pathlib import Path

import pandas as pd
import pytest

from dhp.core.records import ORIGINAL, Candidate
from dhp.perturb.settings import Choice
from dhp.plugins.probes.lines import lines_of
from dhp.plugins.probes.options import ProbeChoice
from dhp.plugins.probes.probing import ProbeSpec, probed
from dhp.plugins.probes.result import ProbeResult
from tests.cli.conftest import Run
from tests.judges import ByRule
from tests.llm.stub import stats, stub_server

SET = "mini/summeval"


def probe(model: object, *probes: str, repeats: int = 3, **more: object) -> ProbeResult:
    chosen = ProbeChoice(probes=probes, repeats=repeats)
    (result,) = probed(ProbeSpec(model, SET, chosen=chosen, progress=None, **more)).results  # type: ignore[arg-type]
    return result


def states(result: ProbeResult) -> dict[str, str]:
    """Line -> its state, without what has no text."""
    return {f"{line.probe} {line.what}": line.state for line in lines_of(result) if line.n != "0"}


@pytest.mark.slow
def test_an_ideal_judge_passes_every_probe() -> None:
    assert set(states(probe("mock/ideal")).values()) == {"still", "does not rise", "falls", "stable"}


def test_rows_in_another_order_give_the_same_figures_and_files(tmp_path: Path, dhp: Run) -> None:
    rows = [f'{{"source": "Ann has {i} cats.", "output": "She has {i}, all at sea."}}\n' for i in range(9)]
    way = "--model mock/noisy --metric fluency --probe calibration --probe stability --task summarization"
    written = []
    for name, lines in (("one", rows), ("other", rows[::-2] + rows[-2::-2])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.jsonl").write_text("".join(lines))
        done = dhp("probe", *way.split(), "--dataset", f"{name}/t.jsonl", "--out", f"{name}/o")
        assert done.code == 0, done.err
        files = ("probes.json", "ratings.parquet")
        written.append([(tmp_path / name / "o" / file).read_bytes() for file in files])
    assert written[0] == written[1]


def likes_length(c: Candidate, metric: str) -> float:
    return min(5.0, 1 + len(c.text) / 200)


def likes_lists(c: Candidate, metric: str) -> float:
    return 5.0 if c.text.startswith("- ") else 3.0


def zigzags(c: Candidate, metric: str) -> float:
    return {"word_deletions.k2": 2.0, "word_deletions.k4": 4.0}.get(c.variant, 5.0)


def drifts(c: Candidate, metric: str) -> float:
    """Lower each time for the original alone: it starts above its copies and ends below."""
    return 5.0 - 2 * c.repeat if c.variant == ORIGINAL else 4.0


def test_a_judge_that_likes_length_is_found() -> None:
    result = probe(ByRule(likes_length), "verbosity")
    assert (result.verbosity.state, result.verbosity.net.value) == ("rises", 1.0)
    changes = [dose.change or 0 for dose in result.verbosity.doses]
    assert changes == sorted(changes)


def test_a_judge_that_likes_lists_is_found_there_alone() -> None:
    result = probe(ByRule(likes_lists), "invariance")
    assert states(result) == {
        "invariance as bullets": "prefers edits",
        "invariance other paragraphs": "still",
        "invariance first sentence bold": "still",
    }
    bullets = result.invariance["layout.bullets"]
    assert (bullets.moved.value, bullets.change.value, bullets.again.value) == (1.0, 0.5, 0.0)


def test_a_scale_that_goes_up_and_down_is_found() -> None:
    result = probe(ByRule(zigzags), "calibration")
    assert (result.calibration.state, result.calibration.rises_at) == ("not monotone", (4, 8))
    (line,) = lines_of(result)
    assert "scores rise again at 4 and 8" in line.meaning
    assert "points used: 2, 4 and 5, never 1 and 3" in line.meaning


def test_orders_that_flip_are_found() -> None:
    result = probe(ByRule(drifts), "stability", repeats=2)
    assert (result.stability.state, result.stability.flips.value) == ("unstable", 1.0)
    assert result.stability.identical.value == 0.5, "that of the copies alone"


@pytest.mark.slow
def test_a_blind_judge_is_flat_and_a_noisy_one_is_no_alarm_for_invariance() -> None:
    assert states(probe("mock/blind", "calibration")) == {"calibration missing words": "flat"}
    noisy = probe("mock/noisy")
    assert not {"false alarm", "prefers edits", "rises"} & set(states(noisy).values())
    assert noisy.stability.flips.value > 0.1
    some = next(iter(noisy.invariance.values()))
    assert some.again.value > 0.4, "noise is printed beside"


@pytest.mark.slow
def test_ratings_without_a_score_are_counted_and_left_out() -> None:
    result = probe("mock/mumbling", choice=Choice(n=8))
    assert result.ratings["unparsed"] > 0
    assert sum(result.ratings.values()) == 8 * 4 * (3 + 3 + 4 + 4 + 2)
    assert set(states(result).values()) <= {
        "still",
        "not decided",
        "not tested",
        "undecided",
        "does not rise",
        "falls",
        "stable",
    }


def test_only_what_is_asked_for_is_rated() -> None:
    result = probe("mock/ideal", "verbosity")
    assert sum(result.ratings.values()) == 24 * 4 * (3 + 4), "the original three times, for the noise"
    assert (result.invariance, result.calibration, result.points, result.stability) == ({}, None, {}, None)


def test_other_damage_and_several_judges() -> None:
    chosen = ProbeChoice(probes=("calibration",), damage="random_typos")
    found = probed(ProbeSpec(["mock/ideal", "mock/blind"], SET, chosen=chosen, progress=None))
    assert [r.model for r in found.results] == ["mock/ideal", "mock/blind"]
    assert {v.split(".")[0] for v in found.ratings["variant"]} == {ORIGINAL, "random_typos"}


SMALL = ("--dataset", SET, "--n", "4", "--metric", "fluency", "--repeats", "2", "--samples", "1")


def served(url: str, *more: str) -> tuple[str, ...]:
    return ("--model", "openai/stub", "--base-url", url, "--cache", "cache", *SMALL, *more)


@pytest.mark.slow
def test_a_server_is_asked_anew_for_each_repetition_once_and_again_after_a_stop(dhp: Run) -> None:
    with stub_server("--say", "tests.plugins.probes.says:fond_of_bullets") as url:
        dry = dhp("probe", *served(url), "--dry-run")
        # original three times, three layouts, four doses of padding and of damage, one copy once more
        assert "60 ratings\n" in dry.out, dry.out + dry.err
        stopped = dhp("probe", *served(url), "--out", "out", "--max-calls", "5", "--concurrency", "1")
        assert (stopped.code, stats(url)["calls"]) == (3, 5)
        assert not Path("out/probes.json").exists()
        done = dhp("probe", *served(url), "--out", "out")
        assert (done.code, stats(url)["calls"]) == (0, 60), done.err
        again = dhp("probe", *served(url, "--json"), "--out", "out")
        assert (again.code, stats(url)["calls"]) == (0, 60)
    (result,) = json.loads(again.out)["results"]
    assert result["invariance"]["layout.bullets"]["change"]["value"] == 0.5
    written = json.loads(Path("out/probes.json").read_text())
    assert written["schema"] == "dhp.probes/1"
    assert {line["probe"] for line in written["results"][0]["lines"]} == {
        "invariance",
        "verbosity",
        "calibration",
        "stability",
    }
    table = pd.read_parquet("out/ratings.parquet")
    repeated = table.groupby("variant")["repeat"].max()
    assert set(repeated.index[repeated > 0]) == {"original", "word_deletions.k4"}
    texts = [json.loads(line) for line in Path("out/perturbed.jsonl").read_text().splitlines()]
    assert {t["level"] for t in texts} == {"control", "attack", "word"}


@pytest.mark.slow
def test_paraphrases_come_from_the_perturb_model_and_pass_its_checks(dhp: Run) -> None:
    with stub_server("--say", "tests.plugins.probes.says:paraphrasing") as url:
        model = ("--perturb-model", "openai/writer")
        done = dhp("probe", *served(url, "--probe", "invariance", "--out", "out", "--json"), *model)
        assert done.code == 0, done.err
        (result,) = json.loads(done.out)["results"]
        assert result["invariance"]["paraphrase"]["moved"]["n"] == 4
        assert result["invariance"]["paraphrase"]["moved"]["value"] == 0
        assert "paraphrase" not in result["left_out"]
    with stub_server("--say", "tests.plugins.probes.says:losing_numbers") as url:
        refused = dhp("probe", *served(url, "--probe", "invariance"), *model, "--refresh")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "passed the check: a name or a number is missing; keep all of them" in refused.err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--probe", "verbose"), "--probe 'verbose'"),
        (("--protocol", "choose"), "compares texts; must be a pointwise one, which scores them"),
        (("--out", "full"), "--out full: "),
        (
            ("--probe", "verbosity", "--perturb-model", "openai/x"),
            "--perturb-model: is for the paraphrases of the probe invariance; leave it out",
        ),
        (("--samples", "3"), "--samples: "),
    ],
)
def test_wrong_input_is_one_line(dhp: Run, typed: tuple[str, ...], message: str) -> None:
    Path("full").mkdir()
    Path("full/notes.txt").write_text("x")
    done = dhp("probe", "--model", "mock/ideal", *typed)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert message in done.err


@pytest.mark.slow
def test_what_is_printed(dhp: Run) -> None:
    asked = ("--dataset", SET, "--n", "6", "--probe", "verbosity", "--probe", "invariance", "--out", "out")
    done = dhp("probe", "--model", "mock/ideal?padding=-2", *asked)
    assert done.code == 0, done.err
    assert any(line.split()[:2] == ["verbosity", "padding"] for line in done.out.splitlines())
    assert "with 1, 2, 4 and 8 empty sentences" in done.out
    assert "a language model writes them, and none is named" in done.out
    assert "written to out: probes.json, report.html" in done.out
