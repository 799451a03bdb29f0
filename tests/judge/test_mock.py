"""Judges without a model: what is planted in a mock comes out of the benchmark; baselines notice nothing."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.core.specs import Scale
from dhp.judge.factory import find_judge
from dhp.judge.judges.mock import KINDS, mock_judge
from dhp.stats.discernment import discernment
from dhp.stats.wilcoxon import signed_rank
from tests.stats.test_combine import combine

_FLUENCY = next(m for m in read_task("summarization").metrics if m.name == "fluency")
METRICS = [_FLUENCY, _FLUENCY.model_copy(update={"name": "accuracy", "scale": Scale(min=0, max=100)})]
TASK = read_task("summarization").model_copy(update={"metrics": METRICS})


def candidates(
    n: int, variants: tuple[str, ...] = ("original", "typos.minor", "typos.major")
) -> list[Candidate]:
    return [
        Candidate(str(i), variant, f"{i} {variant}", f"source {i}") for i in range(n) for variant in variants
    ]


def mean(name: str, variant: str, metric: str = "fluency", n: int = 100) -> float:
    found = mock_judge(name).rate(candidates(n), TASK)
    return fmean(r.score for r in found if (r.variant, r.metric) == (variant, metric) and r.score is not None)


@pytest.mark.slow
def test_blind_sees_nothing_and_ideal_everything() -> None:
    assert dhp.run("mock/blind", "mini/summeval").d_avg == 0
    noise = [v.d for v in dhp.run("mock/blind?noise=1", "mini/summeval")[0].variants]
    assert max(noise) < 2
    for style in ("ideal", "lenient", "harsh"):
        result = dhp.run(f"mock/{style}", "mini/story_cloze")[0]
        assert result.d_min >= 1
        assert result.model == f"mock/{style}"


def test_a_style_shifts_the_mean_and_keeps_the_drop() -> None:
    drops = {}
    for style in ("ideal", "lenient", "harsh", "compressed"):
        drops[style] = mean(f"mock/{style}?step=0", "original") - mean(f"mock/{style}?step=0", "typos.minor")
    assert mean("mock/harsh", "original") < mean("mock/ideal", "original") < mean("mock/lenient", "original")
    assert drops["lenient"] == pytest.approx(drops["ideal"]) == pytest.approx(1)
    assert 0 < drops["compressed"] < 0.5


def test_major_damage_costs_twice_as_much_on_any_scale() -> None:
    for metric, point in (("fluency", 1), ("accuracy", 25)):
        scores = [mean("mock/ideal?step=0", f"typos.{degree}", metric) for degree in ("minor", "major")]
        original = mean("mock/ideal?step=0", "original", metric)
        assert original - scores[0] == pytest.approx(point)
        assert scores[0] - scores[1] == pytest.approx(point, rel=0.15), "less where the scale ends"


@pytest.mark.slow
def test_an_overlooked_perturber_is_the_weakest() -> None:
    result = dhp.run("mock/lenient?noise=0.5&random_typos=0&samples=3", "mini/summeval")[0]
    assert result.d_min_variant.startswith("random_typos")
    assert all(v.d >= 1 for v in result.variants if not v.variant.startswith("random_typos"))
    one = dhp.run("mock/ideal?random_typos.minor=0", "mini/summeval")[0]
    assert {v.variant for v in one.variants if v.d < 1} == {"random_typos.minor"}


@pytest.mark.slow
def test_answers_without_a_rating_are_counted_as_such() -> None:
    counted = dhp.run("mock/mumbling?samples=5", "mini/summeval")[0].ratings
    assert counted["unparsed"] / counted["asked"] == pytest.approx(0.2, abs=0.02)
    assert counted["scored"] + counted["unparsed"] == counted["asked"]
    found = list(mock_judge("mock/mumbling").rate(candidates(50), TASK))
    assert {(r.score is None, r.raw) for r in found if r.status == "unparsed"} == {
        (True, "It depends on what one looks for.")
    }
    assert all(r.raw == f"Rating: {r.score:g}" for r in found if r.status == "scored")


@pytest.mark.slow
def test_under_the_null_the_test_rejects_at_its_nominal_rate() -> None:
    ds, log_ps = [], []
    for seed in range(200):
        scores: dict[tuple[str, str], list[float]] = {}
        for r in mock_judge("mock/blind?noise=1", seed).rate(candidates(25, ("original", "typos")), TASK):
            scores.setdefault((r.metric, r.variant), []).append(r.score or 0)
        logs = [
            signed_rank(np.subtract(scores[m.name, "original"], scores[m.name, "typos"])) for m in METRICS
        ]
        log_ps += logs
        ds.append(discernment(combine(logs)))
    assert 0.025 < np.mean(np.exp(log_ps) <= 0.05) < 0.065
    assert 0.015 < np.mean(np.array(ds) >= 1) < 0.09


@given(st.permutations(range(6)), st.integers(1, 6))
def test_a_rating_depends_on_its_own_key_alone(order: list[int], kept: int) -> None:
    judge = mock_judge("mock/noisy?unparsable=0.3&samples=2", seed=3)
    everything = candidates(2)
    alone = set(judge.rate([everything[i] for i in order[:kept]], TASK))
    assert alone <= set(judge.rate(everything, TASK))


def test_samples_steps_and_seeds() -> None:
    judge = mock_judge("mock/noisy?samples=4&step=0.5")
    found = [r for r in judge.rate(candidates(20), TASK) if r.metric == "fluency"]
    assert len({(r.example, r.variant, r.sample) for r in found}) == len(found) == 20 * 3 * 4
    assert {r.score * 2 % 1 for r in found if r.score is not None} == {0}
    assert any(r.score != round(r.score or 0) for r in found)
    assert len({r.score for r in found if (r.example, r.variant) == ("0", "original")}) > 1
    other = list(mock_judge("mock/noisy?samples=4&step=0.5", seed=1).rate(candidates(20), TASK))
    assert [r.score for r in found] != [r.score for r in other if r.metric == "fluency"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mock/blnd", "unknown mock judge 'blnd'.*'blind'"),
        ("mock/", "unknown mock judge ''; allowed: blind"),
        ("mock/ideal?nois=1", "unknown dial 'nois'.*'noise'"),
        ("mock/ideal?noise=loud", "noise=loud is not a number"),
        ("mock/ideal?noise=nan", "`noise` nan"),
        ("mock/ideal?noise=-1", "`noise` -1"),
        ("mock/ideal?samples=1.5", "samples=1.5 is not a whole number"),
        ("mock/ideal?samples=0", "`samples` 0"),
        ("mock/ideal?unparsable=20", "`unparsable` 20"),
        ("mock/ideal?style=lax", "`style` 'lax': unknown; allowed: compressed"),
        ("mock/ideal?typos=inf", "`typos` inf"),
        ("mock/ideal?noise", "broken settings 'noise'; allowed: name=value"),
        ("mock/ideal?noise=1&noise=2", "duplicate setting 'noise'"),
        ("mok/ideal", "unknown provider 'mok'.*'mock'"),
        ("baseline/surfac", "unknown model 'baseline/surfac'.*'baseline/surface'"),
        ("judges.py:mine", "a function of a file is named python:FILE.py:FUNCTION"),
        ("surface", "must have the form provider/name"),
    ],
)
def test_wrong_names(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        find_judge(name)


@pytest.mark.slow
def test_a_sensitivity_for_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match=r"unknown dial or perturber 'random_typo'.*'random_typos'"):
        dhp.run("mock/ideal?random_typo=0", "mini/summeval")


def test_every_kind_and_dial_has_a_name() -> None:
    for kind in KINDS:
        judge = find_judge(f"mock/{kind}?samples=2", seed=1)
        assert len(list(judge.rate(candidates(1), TASK))) == 3 * 2 * 2


@pytest.mark.slow
def test_constant_judge_has_d_zero() -> None:
    results = dhp.run("baseline/constant", "mini/summeval", n=5)
    assert (results.d_avg, results.d_min) == (0.0, 0.0)


@pytest.mark.slow
def test_random_judge_is_seeded_and_blind() -> None:
    frames = [dhp.run("baseline/random", "mini/story_cloze", seed=s).to_frame() for s in (0, 0, 1)]
    one, same, other = frames
    assert one.equals(same)
    assert not one.equals(other)
    d = [
        v.d
        for seed in range(6)
        for r in dhp.run("baseline/random", "mini/answer_equivalence", seed=seed)
        for v in r.variants
    ]
    assert np.mean(np.array(d) >= 1) < 0.15, "near the nominal 5 to 7 per cent of a true null"
