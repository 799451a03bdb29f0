"""Runs side by side: planted differences are found, equals stay together, unlike runs are refused."""

import json
import shutil
from pathlib import Path

import pytest

import dhp
from dhp.comparing import compare_runs
from dhp.errors import InputError

DATASET = "mini/summeval"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, model in (("good", "mock/ideal"), ("noisy", "mock/noisy"), ("floor", "baseline/random")):
        dhp.run(model, DATASET, out=folder / name)
    dhp.run("mock/ideal?samples=2", DATASET, out=folder / "twin")
    return folder


def test_a_better_judge_is_told_apart(runs: Path) -> None:
    (found,) = compare_runs([runs / "good", runs / "noisy", runs / "floor"])
    assert found.judges == ("mock/ideal", "mock/noisy", "baseline/random")
    by_average = found.scores["d_avg"]
    assert by_average.rank.tolist() == [1, 2, 3]
    assert by_average.groups == ((0,), (1,), (2,))
    assert all(pair.p_holm < 0.05 and pair.low > 0 for pair in by_average.pairs)
    results = json.loads((runs / "noisy" / "results.json").read_text())
    assert by_average.point[1] == pytest.approx(results["d_avg"])
    assert found.scores["d_min_ew"].point[1] == pytest.approx(results["d_min_ew"])


def test_equals_cannot_be_told_apart(runs: Path) -> None:
    (found,) = compare_runs([runs / "good", runs / "twin"])
    for comparison in found.scores.values():
        assert comparison.groups == ((0, 1),)
        assert comparison.pairs[0].difference == 0
        assert comparison.pairs[0].p == 1
    plain = json.dumps(found.to_json(), allow_nan=False)
    assert '"judges": ["mock/ideal", "mock/ideal?samples=2"]' in plain


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"n": 12}, "dataset differs"),
        ({"seed": 1}, "suite differs"),
        ({"weights": "uniform"}, "weights differs"),
        ({"statistics": "paper"}, "statistics differs"),
        ({"metrics": ["fluency"]}, "metrics differs"),
        ({"doses": (5, 10)}, "suite differs"),
    ],
)
def test_unlike_runs_are_refused_and_the_difference_is_named(
    runs: Path, tmp_path: Path, change: dict[str, object], what: str
) -> None:
    dhp.run("mock/noisy", DATASET, out=tmp_path / "other", **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=what) as caught:
        compare_runs([runs / "good", tmp_path / "other"])
    assert str(tmp_path / "other") in str(caught.value)


def test_faults_are_one_line(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text("{")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.json").write_text('{"schema": "dhp.results/0"}')
    shutil.copytree(runs / "good", tmp_path / "copy")
    for folders, message in (
        (["nowhere"], "nowhere: holds no run"),
        ([tmp_path / "broken"], "broken JSON"),
        ([tmp_path / "old"], "is no results file of this version; allowed: schema dhp.results/1"),
        ([runs / "good"], "has one judge only; allowed: two or more"),
        ([runs / "good", tmp_path / "copy"], "judge 'mock/ideal' stands twice"),
    ):
        with pytest.raises(InputError, match=message):
            compare_runs(folders)  # type: ignore[arg-type]
    both = [runs / "good", runs / "noisy"]
    with pytest.raises(
        InputError, match="--allow 'dataset': would compare what cannot be; allowed: protocol"
    ):
        compare_runs(both, allow=["dataset"])
    with pytest.raises(InputError, match="resamples: 0; allowed: 1 or more"):
        compare_runs(both, resamples=0)


def test_protocols_are_compared_on_purpose(tmp_path: Path) -> None:
    from tests.llm.stub import stub_server

    with stub_server() as url:
        asking = dhp.Asking(base_url=url, cache=tmp_path / "cache")
        for name in ("dhp", "stars"):
            dhp.run(
                "openai/stub",
                "mini/answer_equivalence",
                n=5,
                protocol=name,
                asking=asking,
                out=tmp_path / name,
            )
    folders = [tmp_path / "dhp", tmp_path / "stars"]
    with pytest.raises(InputError, match=r"protocol differs, .* or --allow protocol to compare them"):
        compare_runs(folders)
    (found,) = compare_runs(folders, allow=["protocol"])
    assert [judge.partition("@")[0] for judge in found.judges] == ["openai/stub (dhp", "openai/stub (stars"]
