"""Pairwise judges in the benchmark: what is asked, the sign-flip test, and judges that follow the order."""

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import dhp
from dhp.core.errors import InputError, Unreadable
from dhp.judge.factory import llm_judge
from dhp.judge.pairs import ORDERS, OVERALL, PairVerdict
from dhp.run import judge_texts
from dhp.stats.discernment import discernment
from dhp.stats.wilcoxon import signed_rank
from tests.cli.conftest import Run
from tests.cli.conftest import dhp as dhp_command
from tests.judges import ByRule
from tests.llm.stub import stats, stub_server
from tests.server import Answer, Call, reply, scripted_server

command = dhp_command
HALVES = st.lists(st.sampled_from([1, 0.5, 0, -0.5, -1]), min_size=1, max_size=9)


@given(HALVES)
def test_the_sign_flip_method_equals_enumeration(scores: list[float]) -> None:
    sums = []
    for signs in itertools.product([-1, 1], repeat=len(scores)):
        flipped = [sign * abs(score) for sign, score in zip(signs, scores, strict=True)]
        sums.append(math.fsum(flipped))
    observed = sum(scores)
    greater = len([each for each in sums if each >= observed - 1e-9]) / len(sums)
    less = len([each for each in sums if each <= observed + 1e-9]) / len(sums)
    assert math.exp(signed_rank(scores, "sign-flip")) == pytest.approx(greater)
    both = min(1.0, 2 * min(greater, less))
    assert math.exp(signed_rank(scores, "sign-flip", "two-sided")) == pytest.approx(both)


def test_whole_scores_are_a_sign_test_and_never_underflow() -> None:
    scores = [1] * 60 + [-1] * 20 + [0] * 20
    expected = binomtest(60, 80, alternative="greater").pvalue
    assert math.exp(signed_rank(scores, "sign-flip")) == pytest.approx(expected)
    assert signed_rank([1] * 5000, "sign-flip") == pytest.approx(-5000 * math.log(2))
    assert signed_rank([0] * 10, "sign-flip") == 0


def test_other_values_are_no_two_order_scores() -> None:
    with pytest.raises(ValueError, match="multiples of 1/2"):
        signed_rank([0.3, 1], "sign-flip")


def benchmark(command: Run, url: str, *more: str) -> dict[str, object]:
    given = ("--model", "openai/stub", "--base-url", url, "--cache", "cache")
    done = command("benchmark", "--dataset", "mini/story_cloze", "--n", "8", *given, "--json", *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.slow
def test_original_against_degraded_through_the_server(command: Run) -> None:
    with stub_server("--say", "tests.judge.pairwise.test_benchmark:prefers_whole_words") as url:
        dry = command("benchmark", "--dataset", "mini/story_cloze", "--n", "8", "--model", "openai/stub",
                      "--base-url", url, "--cache", "cache", "--protocol", "choose", "--dry-run")  # fmt: skip
        assert "112 ratings" in dry.out
        one = benchmark(command, url, "--protocol", "choose", "--concurrency", "1", "--out", "one")
        assert stats(url)["calls"] == 2 * 7 * 8
        assert set(stats(url)["paid"].values()) == {1}
        two = benchmark(command, url, "--protocol", "choose", "--refresh", "--out", "two")
    assert "protocol:pairwise:choose@" in str(one["signature"])
    assert "statistics:sign-flip+" in str(one["signature"])
    assert one["variants"] == two["variants"], "concurrency changes nothing"
    typos = next(v for v in one["variants"] if v["variant"] == "random_typos")  # type: ignore[attr-defined]
    won = round(8 * typos["detection"])
    assert won >= 6
    assert typos["d"] == pytest.approx(discernment(signed_rank([1] * won + [-1] * (8 - won), "sign-flip")))
    shown = json.loads(Path("one/prompts.json").read_text())
    assert [p["metric"] for p in shown] == ["overall"]


@pytest.mark.slow
def test_a_judge_that_always_says_first_detects_nothing(command: Run) -> None:
    with stub_server("--say", "tests.judge.pairwise.pairs:always_first") as url:
        for protocol in ("choose", "battle", "swap"):
            found = benchmark(command, url, "--protocol", protocol, "--out", protocol)
            assert found["d_avg"] == found["d_min"] == 0.0
            assert {v["detection"] for v in found["variants"]} == {0.5}  # type: ignore[attr-defined]
            assert "100% of the verdicts follow the order" in str(found["warnings"])


def prefers_whole_words(prompt: str) -> str:
    """Prefers the text whose words are in the other text, or the longer one."""
    from tests.judge.pairwise.pairs import shown

    tags = ("ending", "answer", "output", "summary")
    tag = next(t for t in tags if f"<{t}-a" in prompt)
    first, second = shown(prompt.replace(f"{tag}-a", "answer-a").replace(f"{tag}-b", "answer-b"))
    known = set("the a to and he she it was they his her of in had for".split())
    one = len([word for word in first.split() if word.strip(".,").lower() in known])
    two = len([word for word in second.split() if word.strip(".,").lower() in known])
    return "A" if (one, first) > (two, second) else "B"


@pytest.mark.slow
def test_by_metric_and_beside_pointwise(command: Run) -> None:
    more = ("--model", "mock/noisy", "--protocol", "dhp", "--protocol", "choose", "--metric", "coherence")
    done = command("benchmark", "--dataset", "mini/story_cloze", *more, "--out", "x")
    assert done.code == 0
    assert "mock/noisy  ·  none beside pairwise:compared" in " ".join(done.out.split()).replace(
        " · ", "  ·  "
    )
    pointwise, pairwise = dhp.run(
        "mock/noisy", "mini/story_cloze", protocol=["dhp", "choose"], metrics=["coherence"]
    )
    for one, other in zip(pointwise.variants, pairwise.variants, strict=True):
        assert one.detection == other.detection, "the same ratings, compared"
    assert pairwise.statistics == "sign-flip"


@pytest.mark.slow
def test_ratings_of_comparisons_are_analysed_again(tmp_path: Path) -> None:
    (made,) = dhp.run("mock/noisy", "mini/story_cloze", protocol="choose", out=tmp_path / "run")
    analysis = dhp.AnalysisConfig(statistics="sign-flip")
    (again,) = dhp.analyze(str(tmp_path / "run" / "ratings.parquet"), analysis=analysis)
    assert [v.d for v in again.variants] == [v.d for v in made.variants]


def test_pairwise_options_and_protocols_that_do_not_fit(command: Run) -> None:
    for more, message in (
        (("--steps", "none"), "--steps: is for pointwise protocols, not for 'choose'"),
        (("--samples", "0"), "samples"),
        (("--answer", "stars"), "protocol 'choose': answer"),
    ):
        given = ("--model", "openai/x", "--base-url", "http://127.0.0.1:1/v1", "--protocol", "choose")
        done = command("benchmark", "--dataset", "mini/story_cloze", *given, *more)
        assert done.code == 2
        assert message in done.err
    with pytest.raises(InputError, match="needs originals; allowed: pointwise"):
        judge_texts("mock/ideal", [], protocol="choose")
    shown = command("show", "battle", "--dataset", "mini/story_cloze", "--variant", "random_typos")
    assert "'original' against 'random_typos', metric 'overall', order given" in shown.out


@pytest.mark.slow
def test_a_judge_of_ones_own_compares_too() -> None:
    judge = ByRule(lambda c, metric: 1 + 4 * min(1.0, len(c.text) / 1000))
    (found,) = dhp.run(judge, "mini/story_cloze", protocol="choose")
    assert found.protocol == "pairwise:compared"
    assert found.statistics == "sign-flip"


def _two_metrics(outputs: str) -> list[dict[str, object]]:
    return [{"key": "long", "score": len(outputs) > 60}, {"key": "words", "score": "the" in outputs}]


def _is_long(outputs: str) -> bool:
    return len(outputs) > 60


@pytest.mark.parametrize("judge", [_two_metrics, _is_long])
def test_ratings_of_a_function_are_compared_whatever_it_returns(judge: object) -> None:
    (found,) = dhp.run(judge, "mini/story_cloze", n=4, protocol="choose")
    assert found.protocol == "pairwise:compared"
    assert found.ratings["scored"] == found.ratings["asked"]


class Longer(dhp.Judge):
    """Prefers the longer text."""

    model, protocol, compare = "own/longer", "none", True

    def verdicts(self, pairs, task, metrics=(OVERALL,)):  # type: ignore[no-untyped-def]
        for pair in pairs:
            more = len(pair.first.text) - len(pair.second.text)
            choice = (more > 0) - (more < 0)
            for metric, order in itertools.product(metrics, ORDERS):
                yield PairVerdict(pair, metric, order, 0, choice)


@pytest.mark.slow
def test_a_comparing_judge_of_ones_own_compares_under_any_protocol() -> None:
    (whole,) = dhp.run(Longer(), "mini/story_cloze")
    assert (whole.protocol, whole.statistics) == ("pairwise:compared", "sign-flip")
    deletions = next(v for v in whole.variants if v.variant.startswith("random_deletions"))
    assert deletions.detection == 1.0
    (by_metric,) = dhp.run(Longer(), "mini/story_cloze", metrics=["coherence"])
    assert list(by_metric.variants[0].metrics) == ["coherence"]


def _thinks(call: Call) -> Answer:
    status, headers, body = reply("A" if call.body["max_tokens"] > 100 else "")
    if call.body["max_tokens"] <= 100:
        body["choices"][0]["finish_reason"] = "length"  # type: ignore[index]
    return status, headers, body


@pytest.mark.slow
def test_the_token_limit_of_comparisons_is_raised_too(tmp_path: Path) -> None:
    with scripted_server(_thinks) as server:
        settings = dhp.ModelSettings(base_url=f"{server.url}/v1", cache=tmp_path)
        (found,) = dhp.run("openai/m", "mini/story_cloze", n=6, protocol="choose", settings=settings)
    assert found.ratings["scored"] == found.ratings["asked"]
    assert found.protocol.startswith("pairwise:choose@")
    short = [call for call in server.calls if call.body and call.body.get("max_tokens") == 16]
    assert len(short) == 2 * 3, "both orders of the first three examples"


@pytest.mark.slow
def test_a_judge_that_compares_is_handed_over_like_any_other(tmp_path: Path) -> None:
    with scripted_server(lambda call: reply("A")) as server:
        settings = dhp.ModelSettings(base_url=f"{server.url}/v1", cache=tmp_path)
        data = ("mini/story_cloze",)
        (named,) = dhp.run("openai/m", data, n=2, protocol="choose", settings=settings)
        calls = len(server.calls)
        judge = llm_judge("openai/m", "choose", settings=settings)
        (handed,) = dhp.run(judge, data, n=2)
        assert len(server.calls) == calls
    assert str(handed.signature) == str(named.signature)
    assert handed.variants == named.variants


@pytest.mark.slow
def test_comparisons_that_cannot_be_read_stop_the_run_with_a_remedy(tmp_path: Path) -> None:
    with scripted_server(lambda call: reply("Well.")) as server:
        settings = dhp.ModelSettings(base_url=f"{server.url}/v1", cache=tmp_path)
        with pytest.raises(Unreadable, match=r"Well\..*remedy"):
            dhp.run("openai/m", "mini/story_cloze", protocol="choose", settings=settings)
