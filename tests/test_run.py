"""The library: its names, results as objects, judges of the user's own, real data."""

from pathlib import Path

import pytest

import dhp
import dhp.judge.judges.llm
from dhp.core.errors import InputError
from tests.judges import ByRule


def test_result_object() -> None:
    result = dhp.run("baseline/surface", "mini/summeval")
    assert result.d_avg > 1
    assert result.d_min == min(v.d for v in result.variants)
    frame = result.to_frame()
    assert len(frame) == (12 + 1) * 4  # harmless edits, too
    expected = "variant level metric p pairs metric_pairs verdict detection d d_ew"
    assert set(expected.split()) <= set(frame.columns)


@pytest.mark.slow
def test_a_judge_of_ones_own() -> None:
    texts = set()

    def fluency_by_length(candidate: dhp.Candidate, metric: str) -> float:
        texts.add(candidate.text)
        return max(1.0, min(5.0, len(candidate.text.split()) / 20)) if metric == "fluency" else 3.0

    result = dhp.run(ByRule(fluency_by_length, "own/judge"), "mini/wmt22_deen")
    noticed = {v.variant for v in result.variants if v.metrics["fluency"].p < 0.05}
    assert noticed >= {"word_deletions.minor", "word_deletions.major"}
    assert result.model == "own/judge"
    assert len(texts) == 24 * 12


@pytest.fixture
def pets() -> dhp.Dataset:
    examples = [
        dhp.Example(f"{i}", f"Ann has {i} cats and two dogs.", f"Ann has {i} cats.") for i in range(9)
    ]
    return dhp.Dataset.of(examples, name="pets", task="summarization")


@pytest.mark.slow
def test_examples_of_ones_own(pets: dhp.Dataset) -> None:
    result = dhp.run("baseline/surface", pets)
    assert (result.dataset, result.n) == ("pets", 9)
    assert "wrong_names.major" in result.left_out, "no text has two names"
    assert all(row.n for row in result.variants)
    assert "reordering.minor" in result.left_out, "a text of one sentence has no order"


def test_choices_apply_to_a_dataset_object_or_are_refused(pets: dhp.Dataset) -> None:
    result = dhp.run("baseline/surface", pets, n=4, suite="sumpubmed")
    assert result.n == 4
    assert "suite:sumpubmed@" in result.signature
    for choice, message in (
        ({"task": "translation"}, "`task` is for"),
        ({"suite": "wmt22_deen"}, "is for task"),
    ):
        with pytest.raises(InputError, match=message):
            dhp.run("baseline/surface", pets, **choice)
    with pytest.raises(InputError, match="no model is given"):
        dhp.run([], pets)


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


@pytest.mark.slow
def test_the_surface_judge_beats_the_floor_and_has_its_blind_spot() -> None:
    stories = dhp.run(["baseline/surface", "baseline/constant"], "mini/story_cloze")
    by_variant = {v.variant: v.d for v in stories[0].variants}
    assert by_variant["random_typos"] > 2
    assert by_variant["wrong_ending"] < 1
    assert stories[1].d_avg == 0


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("dataset", "path", "variants"),
    [
        ("summeval", "summeval/summeval.jsonl", 12),
        ("sumpubmed", "sumpubmed", 12),
        ("wmt22_zhen", "wmt22", 10),
    ],
)
def test_real_data(dataset: str, path: str, variants: int, real: Path) -> None:
    result = dhp.run("baseline/surface", dataset, data=real / path)
    assert (result.n, len(result.variants)) == (100, variants)
    characters = [v for v in result.variants if v.level == "character"]
    assert all(v.d > 5 and v.metrics["fluency"].detection > 0.9 for v in characters)


def test_the_same_judge_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'baseline/constant' is given twice"):
        dhp.run(["baseline/constant", "baseline/constant"], "mini/story_cloze")


def test_every_name_is_there() -> None:
    assert [name for name in dhp.__all__ if getattr(dhp, name, None) is None] == []
    assert callable(dhp.judge)
    assert dhp.judge.judges.llm.LlmJudge is dhp.LlmJudge


def test_scores_of_given_texts_go_to_the_correlation() -> None:
    rows = [
        {"id": f"s{i // 2}", "system": "ab"[i % 2], "source": "S", "output": "word " * i} for i in range(1, 9)
    ]
    ratings = dhp.judge("mock/ideal", rows, metrics="fluency")
    human = ratings[["source", "system", "metric"]].assign(score=[float(i) for i in range(8)])
    (judge,) = dhp.correlate(ratings, human, resamples=0).judges
    assert judge.metrics[0].items == 8


def test_a_judge_made_by_hand_is_one_of_the_benchmark() -> None:
    judge = dhp.llm_judge("openai/none", "da", settings=dhp.ModelSettings(base_url="http://127.0.0.1:9/v1"))
    assert isinstance(judge, dhp.LlmJudge)
    assert (judge.model, judge.protocol.partition("@")[0]) == ("openai/none", "da")
    with pytest.raises(InputError, match="'mock/ideal': is not one language model"):
        dhp.llm_judge("mock/ideal")
    with pytest.raises(InputError, match="must have the form NAME=FILE"):
        dhp.read_human_scores("summeval")
