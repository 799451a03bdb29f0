"""The library call: results as objects, judges of the user's own, real data."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.specs import Task

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


class Judge:
    """Lowers fluency by the share of words that a text lost, and sees nothing else."""

    model = "own/judge"
    protocol = "none"

    def __init__(self) -> None:
        self.seen: list[dhp.Candidate] = []

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        self.seen += candidates
        for c in candidates:
            for metric in task.metrics:
                score = max(1.0, min(5.0, len(c.text.split()) / 20)) if metric.name == "fluency" else 3.0
                yield dhp.Rating(c.example, c.variant, metric.name, 0, score)


def test_result_object() -> None:
    result = dhp.run("baseline/surface", "mini/summeval")
    assert result.d_avg > 1
    assert result.d_min == min(v.d for v in result.variants)
    frame = result.to_frame()
    assert len(frame) == (12 + 1) * 4  # harmless edits, too
    assert {"variant", "level", "metric", "p", "n", "verdict", "detection", "d", "d_ew"} <= set(frame.columns)


def test_a_judge_of_ones_own() -> None:
    judge = Judge()
    result = dhp.run(judge, "mini/wmt22_deen")
    noticed = {v.variant for v in result.variants if v.metrics["fluency"].p < 0.05}
    assert noticed >= {"word_deletions.minor", "word_deletions.major"}
    assert result.model == "own/judge"
    texts = [c.text for c in judge.seen]
    assert len(texts) == len(set(texts)) == 24 * 12


def test_examples_of_ones_own() -> None:
    examples = [
        dhp.Example(f"{i}", f"Ann has {i} cats and two dogs.", f"Ann has {i} cats.") for i in range(9)
    ]
    dataset = dhp.Dataset.of(examples, name="pets", task="summarization")
    result = dhp.run("baseline/surface", dataset)
    assert (result.dataset, result.n, result.left_out) == ("pets", 9, ())
    assert {v.variant: v.d for v in result.variants}["reordering.minor"] is None


def test_choices_apply_to_a_dataset_object_or_are_refused() -> None:
    examples = [
        dhp.Example(f"{i}", f"Ann has {i} cats. She likes them.", f"Ann has {i} cats.") for i in range(9)
    ]
    dataset = dhp.Dataset.of(examples, name="pets", task="summarization")
    result = dhp.run("baseline/surface", dataset, n=4, suite="sumpubmed")
    assert result.n == 4
    assert "suite:sumpubmed@" in result.signature
    for choice, message in (
        ({"task": "translation"}, "`task` is for"),
        ({"suite": "wmt22_deen"}, "is for task"),
    ):
        with pytest.raises(InputError, match=message):
            dhp.run("baseline/surface", dataset, **choice)
    with pytest.raises(InputError, match="no model is given"):
        dhp.run([], dataset)


def test_replaced_texts_do_not_depend_on_n() -> None:
    few, many = (
        {(t.example, t.variant): t.text for t in dhp.perturb_datasets("mini/story_cloze", n=n)[0].texts}
        for n in (5, 20)
    )
    assert few.items() <= many.items()


@pytest.mark.slow
def test_all_six_bundled_sets() -> None:
    results = dhp.run("baseline/surface", n=6)
    assert [len(r.variants) for r in results] == [12, 12, 6, 9, 10, 10]
    assert len({r.signature for r in results}) == 6
    assert {v.level for r in results for v in r.variants} == {"character", "word", "sentence"}


def test_the_surface_judge_beats_the_floor_and_has_its_blind_spot() -> None:
    stories = dhp.run(["baseline/surface", "baseline/constant"], "mini/story_cloze")
    by_variant = {v.variant: v.d for v in stories[0].variants}
    assert by_variant["random_typos"] > 2
    assert by_variant["wrong_ending"] < 1
    assert stories[1].d_avg == 0


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.skipif(not DATA.is_dir(), reason="the published datasets are not in ../shared/data")
@pytest.mark.parametrize(
    ("dataset", "path", "variants"),
    [("summeval", "summeval/summeval.jsonl", 6), ("sumpubmed", "sumpubmed", 6), ("wmt22_zhen", "wmt22", 6)],
)
def test_real_data(dataset: str, path: str, variants: int) -> None:
    result = dhp.run("baseline/surface", dataset, data=DATA / path)
    assert (result.n, len(result.variants)) == (100, variants)
    characters = [v for v in result.variants if v.level == "character"]
    assert all(v.d > 5 and v.metrics["fluency"].detection > 0.9 for v in characters)


def test_the_same_judge_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'baseline/constant' is given twice"):
        dhp.run(["baseline/constant", "baseline/constant"], "mini/story_cloze")
