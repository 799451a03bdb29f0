"""Agreement on pass / fail labels against hand-worked tables, scipy and simulated coverage."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_1samp

from dhp.core.errors import InputError
from dhp.plugins.human.labels import LabelAgreement, cohens_kappa, kappa_interval, label_agreement
from tests.cli.conftest import Run


def tables(counts: tuple[int, int, int, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratings 5 or 2 and labels, for numbers of texts: good pass, good fail, bad pass, bad fail."""
    cells = [(1, 5), (1, 2), (0, 5), (0, 2)]
    rows = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["label", "score"]).assign(source=[f"s{i}" for i in range(len(rows))])
    return frame[["source", "score"]], frame[["source", "label"]]


def agreed(counts: tuple[int, int, int, int]) -> LabelAgreement:
    (found,) = label_agreement(*tables(counts), passes=4)
    return found


def test_a_table_worked_by_hand() -> None:
    """20, 5, 10, 15 of 50: agreement .7, by chance .5 x .6 + .5 x .4 = .5, so kappa is .2 / .5."""
    found = agreed((20, 5, 10, 15))
    assert found.counts == (20, 5, 10, 15)
    assert found.kappa == pytest.approx(0.4)
    assert (found.agreement.value, found.always_same) == (pytest.approx(0.7), 0.5)
    assert found.true_positive_rate.value == pytest.approx(20 / 25)
    assert found.true_negative_rate.value == pytest.approx(15 / 25)
    assert found.verdict == "better"


def test_the_paradox_of_unequal_marginals() -> None:
    """Feinstein and Cicchetti (1990): agreement of .85 is a kappa of .70 or of .32."""
    assert cohens_kappa(np.array([[40.0, 9], [6, 45]])) == pytest.approx(0.70, abs=0.005)
    assert cohens_kappa(np.array([[80.0, 10], [5, 5]])) == pytest.approx(0.32, abs=0.005)


def test_the_interval_of_kappa_is_the_large_sample_one() -> None:
    """Of many texts: the variance of the influence of each text, by its numerical derivative."""
    counts = np.array([[4000.0, 700], [900, 2400]])
    n, kappa = counts.sum(), cohens_kappa(counts)
    step, influences = 1e-4, []
    for cell in range(4):
        more = counts.ravel().copy()
        more[cell] += step
        influences.append((cohens_kappa(more.reshape(2, 2)) - kappa) / step * n)
    sample = np.repeat(influences, counts.ravel().astype(int))
    expected = ttest_1samp(sample, 0).confidence_interval()
    people = np.repeat([0, 0, 1, 1], counts.ravel().astype(int))
    judge = np.repeat([0, 1, 0, 1], counts.ravel().astype(int))
    found = kappa_interval(people, judge, np.arange(len(people)))
    assert found == pytest.approx((kappa + expected.low, kappa + expected.high), abs=2e-3)


@pytest.mark.parametrize(("n", "prevalence", "rates"), [(30, 0.8, (0.8, 0.7)), (60, 0.9, (0.97, 0.9))])
def test_the_interval_of_kappa_covers(n: int, prevalence: float, rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    good, bad = prevalence, 1 - prevalence
    shares = np.array([[bad * rates[1], bad * (1 - rates[1])], [good * (1 - rates[0]), good * rates[0]]])
    truth, held, runs = cohens_kappa(shares), 0, 1000
    for draw in rng.multinomial(n, shares.ravel(), size=runs):
        people, judge = np.repeat([0, 0, 1, 1], draw), np.repeat([0, 1, 0, 1], draw)
        low, high = kappa_interval(people, judge, np.arange(n))
        held += low <= truth <= high
    assert held / runs > 0.95 - 4 * sqrt(0.95 * 0.05 / runs)


def test_the_rates_have_wilsons_interval() -> None:
    found = agreed((70, 30, 20, 80))
    expected = binomtest(80, 100).proportion_ci(method="wilson")
    assert found.true_negative_rate.ci == pytest.approx((expected.low, expected.high), abs=0.003)


def test_a_judge_that_always_says_the_same_has_no_agreement_beyond_chance() -> None:
    found = agreed((45, 0, 5, 0))
    assert (found.kappa, found.agreement.value, found.always_same) == (0, 0.9, 0.9)
    assert found.verdict == "undecided"
    assert found.true_negative_rate.value == 0


def test_labels_that_are_all_the_same_decide_nothing() -> None:
    found = agreed((9, 0, 0, 0))
    assert (found.kappa, found.kappa_ci, found.true_negative_rate) == (None, None, None)
    assert found.verdict == "undefined"


def test_the_number_of_labels_that_would_decide() -> None:
    """With so many texts of the same kind about 80 % of draws show that kappa is above 0."""
    shares = np.array([16.0, 6, 8, 10]) / 40
    found = agreed((16, 6, 8, 10))
    assert found.verdict == "undecided"
    assert found.n_to_decide > 40
    rng, shown, runs = np.random.default_rng(2), 0, 600
    for good, missed, passed, bad in rng.multinomial(found.n_to_decide, shares, size=runs):
        people = np.repeat([1, 1, 0, 0], [good, missed, passed, bad])
        judge = np.repeat([1, 0, 1, 0], [good, missed, passed, bad])
        shown += kappa_interval(people, judge, np.arange(len(people)))[0] > 0
    assert 0.72 < shown / runs < 0.9


def test_texts_of_one_source_are_not_independent() -> None:
    ratings, labels = tables((20, 5, 10, 15))
    many = [
        pd.concat([t.assign(system=f"m{k}") for k in range(4)], ignore_index=True) for t in (ratings, labels)
    ]
    (copied,) = label_agreement(*many, passes=4)
    (alone,) = label_agreement(ratings, labels, passes=4)
    assert copied.n == 4 * alone.n
    width = [ci[1] - ci[0] for ci in (alone.kappa_ci, copied.kappa_ci)]
    assert width[1] > 0.9 * width[0], "copies of texts say nothing new"


def test_verdicts_raters_and_samples() -> None:
    """Majorities count, halves are left out, and a failed verdict is no verdict."""
    human = pd.DataFrame(
        [
            (s, r, v)
            for s, votes in {"a": "PPF", "b": "FFP", "c": "PF", "d": "PP", "e": "F"}.items()
            for r, v in enumerate(votes)
        ],
        columns=["source", "rater", "label"],
    ).replace({"label": {"P": "Pass", "F": "fail"}})
    judge = pd.DataFrame(
        {"source": ["a", "b", "c", "d", "e"], "label": ["true", "false", "true", "", "True"], "model": "m"}
    )
    (found,) = label_agreement(judge, human)
    assert (found.judge, found.counts, found.n, found.left_out) == ("m", (1, 0, 1, 1), 3, 2)


def test_faults_name_the_parameter() -> None:
    ratings, human = tables((1, 1, 1, 1))
    with pytest.raises(InputError, match=r"score '5'; allowed: pass, fail, true.* scores need --passes"):
        label_agreement(ratings.assign(score=5), human)
    with pytest.raises(InputError, match="column 'label' is missing"):
        label_agreement(ratings, human[["source"]], 3)
    with pytest.raises(InputError, match="label 'fine'; allowed: pass"):
        label_agreement(ratings, human.assign(label="fine"), 3)
    two = pd.concat([ratings.assign(system=name) for name in "xy"])
    with pytest.raises(InputError, match="column 'system' is missing; the ratings have several systems"):
        label_agreement(two, human, 3)


def test_options_of_scores_are_not_for_labels(dhp: Run) -> None:
    Path("ratings.csv").write_text("source,score\na,1\n")
    Path("human.csv").write_text("source,label\na,pass\n")
    done = dhp("correlate", "ratings.csv", "--human", "human.csv", "--tau-c")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--tau-c: is not for labels" in done.err


def test_the_command_prints_the_judge_beside_one_that_always_says_the_same(dhp: Run, tmp_path: Path) -> None:
    ratings, human = tables((60, 5, 10, 5))
    ratings.assign(model="mine", metric="fluency").to_csv(tmp_path / "ratings.csv", index=False)
    human.to_csv(tmp_path / "human.csv", index=False)
    done = dhp("correlate", "ratings.csv", "--human", "human.csv", "--passes", "3.5")
    assert done.code == 0, done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("mine") and "81%" in line for line in lines), done.out
    assert "always the same" in done.out
    found = json.loads(
        dhp("correlate", "ratings.csv", "--human", "human.csv", "--passes", "3.5", "--json").out
    )
    (row,) = found["agreement"]
    assert row["counts"] == [60, 5, 10, 5]
    assert row["kappa"] == pytest.approx(label_agreement(ratings, human, 3.5)[0].kappa)


def test_several_answers_show_how_often_a_verdict_changes() -> None:
    """Samples 5, 5 and 5, 2 of two texts in turn: half of the texts change their verdict."""
    _, human = tables((10, 10, 10, 10))
    rows = [(f"s{i}", k, 2 if k and i % 2 else 5, "m") for i in range(40) for k in range(2)]
    ratings = pd.DataFrame(rows, columns=["source", "sample", "score", "model"])
    (found,) = label_agreement(ratings, human, passes=4)
    assert (found.flips.value, found.flips.n) == (0.5, 40)


@pytest.mark.parametrize("passes", [0.3, 0.5, 1.0])
def test_of_several_answers_of_0_or_1_the_majority_counts_at_any_mark(passes: float) -> None:
    answers = {"a": (1, 1, 0), "b": (1, 1, 1), "c": (0, 0, 1), "d": (0, 0, 0), "e": (1, 0)}
    rows = [(source, i, score) for source, scores in answers.items() for i, score in enumerate(scores)]
    ratings = pd.DataFrame(rows, columns=["source", "sample", "score"])
    human = pd.DataFrame({"source": list("abcde"), "label": ["pass", "pass", "fail", "fail", "pass"]})
    (found,) = label_agreement(ratings, human, passes)
    assert found.counts == (2, 0, 0, 2)
    assert found.left_out == 1, "its answers are split in halves"
