"""Runs side by side: planted differences are found, equals stay together, unlike runs are refused."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.specs import Task
from dhp.runs.compare import compare, compare_rated
from dhp.runs.reader import read_run

DATASET = "mini/story_cloze"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a good and of a noisy judge."""
    folder = tmp_path_factory.mktemp("runs")
    for name, model in (("good", "mock/ideal"), ("noisy", "mock/noisy")):
        dhp.run(model, DATASET, out=folder / name)
    return folder


@pytest.mark.slow
def test_a_better_judge_is_told_apart(runs: Path, tmp_path: Path) -> None:
    dhp.run("baseline/random", DATASET, out=tmp_path / "floor")
    (found,) = compare(runs / "good", runs / "noisy", tmp_path / "floor")
    assert found.judges == ("mock/ideal", "mock/noisy", "baseline/random")
    by_detection = found.scores["detection"]
    assert by_detection.rank.tolist() == [1, 2, 3]
    assert by_detection.groups == ((0,), (1,), (2,))
    assert all(pair.differs and pair.high < 0 for pair in by_detection.pairs)
    results = json.loads((runs / "noisy" / "results.json").read_text())
    assert by_detection.point[1] == pytest.approx(results["detection"]["avg"])
    assert (by_detection.low[1], by_detection.high[1]) == pytest.approx(
        tuple(results["detection"]["ci"]["avg"])
    )
    assert (found.d_avg[1], found.d_min[1]) == (results["d_avg"], results["d_min"])


@pytest.mark.slow
def test_equals_cannot_be_told_apart(runs: Path, tmp_path: Path) -> None:
    dhp.run("mock/ideal?samples=2", DATASET, out=tmp_path / "twin")
    (found,) = compare(runs / "good", tmp_path / "twin")
    for comparison in found.scores.values():
        assert comparison.groups == ((0, 1),)
        assert comparison.pairs[0].difference == 0
        assert comparison.pairs[0].p == 1
    plain = json.dumps(found.to_json(), allow_nan=False)
    assert '"judges": ["mock/ideal", "mock/ideal?samples=2"]' in plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"n": 12, "seed": 1}, r"dataset differs \(seed 0 and 1\)"),
        ({"seed": 1}, r"suite differs \(seed 0 and 1\)"),
        ({"analysis": dhp.AnalysisConfig(weights="uniform")}, "weights differs"),
        ({"analysis": dhp.AnalysisConfig(statistics="paper")}, "statistics differs"),
        (
            {"metrics": ["fluency"]},
            r"metrics differs \(coherence, consistency, fluency and fluency\)",
        ),
        ({"doses": (5, 10)}, "suite differs"),
    ],
)
def test_unlike_runs_are_refused_and_the_difference_is_named(
    runs: Path, tmp_path: Path, change: dict[str, object], what: str
) -> None:
    dhp.run("mock/noisy", DATASET, out=tmp_path / "other", **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=what) as caught:
        compare(runs / "good", tmp_path / "other")
    assert str(tmp_path / "other") in str(caught.value)


@pytest.mark.slow
def test_faults_are_one_line(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text("{")
    shutil.copytree(runs / "good", tmp_path / "copy")
    for folders, message in (
        ([tmp_path / "broken"], "results.json"),
        ([runs / "good"], "has one judge only; must have two or more"),
        ([runs / "good", tmp_path / "copy"], "duplicate judge 'mock/ideal'"),
    ):
        with pytest.raises(InputError, match=message):
            compare(*folders)  # type: ignore[arg-type]
    both = [runs / "good", runs / "noisy"]
    with pytest.raises(InputError, match="`allow` 'dataset'"):
        compare(*both, allow=["dataset"])
    with pytest.raises(InputError, match="`resamples` 0: must be 1 or more"):
        compare(*both, resamples=0)


@pytest.mark.slow
def test_protocols_are_compared_on_purpose(tmp_path: Path) -> None:
    from tests.llm.stub import stub_server

    with stub_server() as url:
        settings = dhp.ModelSettings(base_url=url, cache=tmp_path / "cache")
        for name in ("dhp", "stars"):
            way = {"n": 5, "protocol": name, "settings": settings}
            dhp.run("openai/stub", "mini/answer_equivalence", out=tmp_path / name, **way)
    folders = [tmp_path / "dhp", tmp_path / "stars"]
    with pytest.raises(InputError, match=r"protocol differs, .* or `allow` protocol to compare protocols"):
        compare(*folders)
    (found,) = compare(*folders, allow=["protocol"])
    assert [judge.partition("@")[0] for judge in found.judges] == ["openai/stub (dhp", "openai/stub (stars"]


@pytest.mark.slow
def test_a_variant_that_applies_to_no_example_is_no_obstacle(tmp_path: Path) -> None:
    texts = [{"id": str(i), "source": "It rained all day.", "output": "Rain."} for i in range(6)]
    (tmp_path / "short.jsonl").write_text("\n".join(map(json.dumps, texts)))
    for name, model in (("a", "mock/ideal"), ("b", "mock/lenient")):
        (result,) = dhp.run(model, str(tmp_path / "short.jsonl"), suite="summeval", out=tmp_path / name)
        assert result.left_out
        assert all(v.not_applicable < 6 for v in (*result.variants, *result.probes)), "it is no kind"
    (found,) = compare(tmp_path / "a", tmp_path / "b", resamples=20)
    assert found.d_avg[1] == result.d_avg
    assert found.styles.damaged[0, 1] > 0.7


@pytest.mark.slow
def test_averages_over_doses_compare_with_no_other_run(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for samples, folder in enumerate(folders, 1):
        dhp.run(f"mock/ideal?samples={samples}", DATASET, doses=(5, 10), out=folder)
    with pytest.raises(InputError, match="a run with `doses` compares with no other"):
        compare(*folders)


@pytest.mark.slow
def test_many_judges_can_still_be_told_apart(tmp_path: Path) -> None:
    """105 pairs: with 2,000 resamples the smallest adjusted p would be 105 / 2,001 = 0.052."""
    for name, model in (("good", "mock/ideal"), ("floor", "baseline/random")):
        dhp.run(model, DATASET, metrics=["fluency"], out=tmp_path / name)
    (good,), (floor,) = (read_run(tmp_path / name).rated for name in ("good", "floor"))
    poor = [replace(floor, result=replace(floor.result, model=f"poor {i}")) for i in range(14)]
    scores = compare_rated({DATASET: [good, *poor]})[0].scores
    for compared in scores.values():
        assert compared.groups == ((0,), tuple(range(1, 15)))
    assert min(pair.p_adjusted for pair in scores["detection"].pairs) < 0.05


@pytest.mark.slow
def test_a_judge_without_scores_in_a_test_is_named(runs: Path, tmp_path: Path) -> None:
    class Silent:
        model, protocol = "own/silent", "none"

        def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
            for c in candidates:
                for m in task.metrics:
                    mute = c.variant == "wrong_ending" and m.name == "fluency"
                    yield dhp.Rating(
                        c.example, c.variant, m.name, 0, None if mute else 3, "failed" if mute else "scored"
                    )

    dhp.run(Silent(), DATASET, out=tmp_path / "silent")
    message = "judge 'own/silent' has no pair of .* for metric 'fluency' of variant 'wrong_ending'"
    for folders in ([runs / "good", tmp_path / "silent"], [tmp_path / "silent", runs / "good"]):
        with pytest.raises(InputError, match=message):
            compare(*folders)


@pytest.mark.slow
def test_a_mute_judge_compares_as_one_that_sees_nothing(runs: Path, tmp_path: Path) -> None:
    dhp.run("mock/noisy?unparsable=1", DATASET, out=tmp_path / "mute")
    (found,) = compare(runs / "good", tmp_path / "mute", resamples=200)
    for name, blind in (("detection", 0.5), ("auroc", 0.5)):
        assert found.scores[name].point[1] == pytest.approx(blind)
    assert found.scores["detection"].point[0] > 0.6


@pytest.mark.slow
def test_a_dataset_of_one_judge_is_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dhp.run("mock/ideal", ["mini/story_cloze", "mini/wmt22_deen"], n=6, out=tmp_path / "a")
    dhp.run("mock/harsh", "mini/story_cloze", n=6, out=tmp_path / "b")
    (found,) = compare(tmp_path / "a", tmp_path / "b", resamples=10)
    assert caplog.messages == ["dataset 'mini/wmt22_deen' has one judge only and is left out"]
    assert found.dataset == "mini/story_cloze"


@pytest.mark.slow
def test_runs_of_different_size_compare_by_the_smaller_one(tmp_path: Path) -> None:
    for name, model, n in (("few", "mock/harsh", 8), ("same", "mock/noisy", 8), ("more", "mock/noisy", 14)):
        dhp.run(model, "mini/story_cloze", n=n, out=tmp_path / name)
    (equal,) = compare(tmp_path / "few", tmp_path / "same", resamples=40)
    (found,) = compare(tmp_path / "few", tmp_path / "more", resamples=40)
    assert found.n == equal.n == 8
    assert found.scores["detection"].point == pytest.approx(equal.scores["detection"].point)
    lines = (tmp_path / "more" / "perturbed.jsonl").read_text().splitlines()
    few = {json.loads(line)["id"] for line in (tmp_path / "few" / "examples.jsonl").read_text().splitlines()}
    at = next(i for i, line in enumerate(lines) if json.loads(line)["example"] in few)
    lines[at] = json.dumps(json.loads(lines[at]) | {"text": "Other words."})
    (tmp_path / "more" / "perturbed.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"dataset differs|n differs"):
        compare(tmp_path / "few", tmp_path / "more", resamples=40)
