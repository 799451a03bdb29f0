"""Certainty and asking a person from a table of ratings: all sources of probabilities, sentence, gate."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.analysis.results import Result
from dhp.report.certainty_words import asking_sentence, certainty_notes, certainty_sentence

MARKED = dhp.AnalysisConfig(pass_mark=3)
POINTS = np.arange(1, 6)


def judged(n: int = 80, variant: str = "swapped claim", seed: int = 0) -> pd.DataFrame:
    """Ratings with probabilities of five points: shifted by the text's quality, too narrow."""
    rng, rows = np.random.default_rng(seed), []
    for example in range(n):
        for name, centre in (("original", 3.8), (variant, 2.2)):
            middle = centre + rng.normal(0, 1.0)
            shares = np.exp(-((POINTS - middle) ** 2) / 0.5)
            shares /= shares.sum()
            score = float((POINTS * shares).sum())
            rows.append((f"e{example}", name, "quality", score, json.dumps(shares.round(4).tolist())))
    return pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "probabilities"])


def analyzed(table: pd.DataFrame, **more: object) -> Result:
    (result,) = dhp.analyze(table, analysis=MARKED, **more)
    return result


@pytest.mark.slow
def test_probabilities_of_levels_become_one_of_passing() -> None:
    """The suite gives the scale: P(3 or more) of five points, against the column that says the same."""
    table = judged(variant="fictional_named_entities.minor").replace({"metric": {"quality": "coherence"}})
    by_points = analyzed(table, suite="summeval").certainty
    lists = table["probabilities"].map(json.loads)
    column = table.drop(columns="probabilities").assign(probability=[min(sum(each[2:]), 1) for each in lists])
    by_column = analyzed(column, suite="summeval").certainty
    assert by_points is not None
    assert by_column is not None
    assert by_points.source == "probabilities"
    assert by_column.source == "column"
    assert by_points.verdicts.sure == pytest.approx(by_column.verdicts.sure, abs=1e-3)
    assert by_points.verdicts.low > 0, "planted: too sure"
    assert "too sure by" in certainty_sentence(by_points)


@pytest.mark.slow
def test_a_confidence_is_that_of_the_verdict() -> None:
    table = judged().drop(columns="probabilities")
    table["confidence"] = 0.95
    certainty = analyzed(table).certainty
    assert certainty is not None
    assert certainty.verdicts.sure == pytest.approx(0.95)
    right = np.where(table["variant"] == "original", table["score"] >= 3, table["score"] < 3).mean()
    assert certainty.verdicts.right == pytest.approx(right)


@pytest.mark.slow
def test_repeated_answers_give_the_share_that_passes() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (f"e{e}", v, "q", s, int(rng.integers(1, 6)))
        for e in range(60)
        for v in ("original", "worse")
        for s in range(4)
    ]
    table = pd.DataFrame(rows, columns=["example", "variant", "metric", "sample", "score"])
    certainty = analyzed(table).certainty
    assert certainty is not None
    assert certainty.source == "samples"
    share = table.assign(up=table["score"] >= 3).groupby(["example", "variant"])["up"].mean()
    up = table.groupby(["example", "variant"])["score"].mean() >= 3
    sure = np.where(up, share, 1 - share)
    assert certainty.verdicts.sure == pytest.approx(sure.mean())


@pytest.mark.slow
def test_without_mark_probabilities_or_content_nothing_is_said() -> None:
    table = judged()
    (unmarked,) = dhp.analyze(table)
    assert unmarked.certainty is None
    assert unmarked.asking is None
    assert analyzed(table.drop(columns="probabilities")).certainty is None
    spelling = analyzed(judged(variant="random_typos.minor"))
    assert spelling.certainty is None
    assert spelling.asking is None


@pytest.mark.slow
def test_columns_that_mean_something_else_are_no_probabilities() -> None:
    table = judged().drop(columns="probabilities")
    assert analyzed(table.assign(confidence="high")).certainty is None
    assert analyzed(table.assign(confidence=80)).certainty is None


@pytest.mark.slow
def test_asking_a_person_needs_sixty_examples_and_says_whom_it_sends() -> None:
    few = analyzed(judged(59))
    assert few.asking is None
    assert any("Too few examples (59)" in note for note in certainty_notes(few))
    asking = analyzed(judged(200)).asking
    assert asking is not None
    assert [row.share for row in asking.of_all] == [0, 0.05, 0.1, 0.2, 0.5]
    row = asking.of_all[3]
    assert row.passing < asking.of_all[0].passing
    assert 0 < row.damaged < row.of_passing
    assert "instead of" in asking_sentence(asking)


@pytest.mark.slow
def test_sentence_json_page_and_gate_tell_the_same(tmp_path: Path) -> None:
    table = judged(300).drop(columns="probabilities").assign(confidence=0.97)
    (result,) = results = dhp.analyze(table, analysis=MARKED)
    path = tmp_path / "results.json"
    path.write_text(results.to_json())
    assert result.asking is not None
    assert result.certainty is not None
    left = 100 * result.asking.of_passing[3].passing
    met = dhp.gate(path, max_pass=round(left + 8), ask=20)
    assert met.passed
    assert "a person reads 20 %" in str(dhp.gate(path, max_pass=1, ask=20))
    assert not dhp.gate(path, max_pass=1, ask=20, require_proof=True).passed
    with pytest.raises(dhp.InputError, match=r"`ask` 30: was not analysed; allowed: 5, 10, 20, 50"):
        dhp.gate(path, max_pass=5, ask=30)
    with pytest.raises(dhp.InputError, match="max_pass"):
        dhp.gate(path, ask=20, min_detection=50)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["probability", "confidence", "probabilities", "verdict"])
def test_a_run_keeps_what_a_file_says_of_certainty(column: str, tmp_path: Path) -> None:
    """A run of recorded ratings says the same as an analysis of the file."""
    table = judged(variant="fictional_named_entities.minor").replace({"metric": {"quality": "coherence"}})
    rng, mark = np.random.default_rng(2), MARKED
    if column == "verdict":
        verdicts = {"verdict": table["score"] >= 3, "confidence": rng.uniform(0.5, 1, len(table))}
        table, mark = (
            table.drop(columns=["score", "probabilities"]).assign(**verdicts),
            dhp.AnalysisConfig(pass_mark=0.5),
        )
    elif column != "probabilities":
        table = table.drop(columns="probabilities").assign(**{column: rng.uniform(0, 1, len(table))})
    path = tmp_path / "ratings.csv"
    table.to_csv(path, index=False)
    data = None
    if column == "probabilities":  # whose scale is that of the task
        kind = "fictional_named_entities.minor"
        texts = [{"output": f"Text {e}.", "perturbed": f"Txt {e}.", "kind": kind} for e in range(80)]
        data = [{"id": f"e{e}", "source": f"S {e}"} | text for e, text in enumerate(texts)]
    (read,) = dhp.analyze(path, analysis=mark, suite="summeval" if data else None)
    more = {"task": "summarization"} if data else {}
    (ran,) = dhp.run(f"recorded/{path}", data, analysis=mark, progress=None, **more)
    assert ran.certainty is not None
    assert ran.certainty == read.certainty


@pytest.mark.slow
def test_a_run_keeps_which_reasons_name_the_change(tmp_path: Path) -> None:
    table = judged().drop(columns="probabilities")
    table["named"] = np.where(table["variant"] == "original", "", np.where(table.index % 8 < 2, "no", "yes"))
    table["named_by_chance"] = np.where(table["variant"] == "original", "", "0.25")
    path = tmp_path / "ratings.csv"
    table.to_csv(path, index=False)
    (read,) = dhp.analyze(path)
    (ran,) = dhp.run(f"recorded/{path}", progress=None)
    assert read.reasons
    assert ran.reasons == read.reasons


def of_several_metrics(too_sure: float, n: int = 1500) -> pd.DataFrame:
    """A judge that knows only how likely each of three faults is; damage has one of them, never two.

    It states that a text passes a metric with the true probability, or one that is nearer to 0 or 1.
    """
    rng, rows = np.random.default_rng(5), []
    for example in range(n):
        for variant in ("original", "swapped claim"):
            fault = -1 if variant == "original" else int(rng.integers(3))
            signs = rng.normal(0, 1, 3) + 1.5 * (np.arange(3) == fault)
            odds = np.exp(1.5 * signs - 1.5**2 / 2) / 3  # of each fault against none
            bad = odds / (1 + odds.sum())
            stated = 1 / (1 + (bad / (1 - bad)) ** too_sure)
            for metric, likely in zip("abc", stated, strict=True):
                rows.append((f"e{example}", variant, metric, 5 if likely >= 0.6 else 1, likely))
    return pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "probability"])


@pytest.mark.slow
def test_with_several_marks_it_is_said_how_sure_the_judge_is_at_least() -> None:
    """Planted: an honest judge is not called too sure, one that exaggerates is."""
    honest = analyzed(of_several_metrics(1)).certainty
    assert honest is not None
    assert honest.verdicts.low < 0
    assert "says at least" in certainty_sentence(honest)
    assert "no more sure than right" in certainty_sentence(honest)
    boaster = analyzed(of_several_metrics(4)).certainty
    assert boaster is not None
    assert boaster.verdicts.low > 0
    assert "too sure by at least" in certainty_sentence(boaster)
    assert boaster.verdicts.brier is None
    assert not boaster.bins
