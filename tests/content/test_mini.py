"""The bundled examples are of the promised number, kind and length."""

import re

import pytest

from dhp.content.catalog import DATASETS, read_card, read_task
from dhp.core.sentences import sentences
from dhp.loaders.dataset import Dataset, measure
from dhp.loaders.resolve import resolve_datasets


@pytest.fixture(params=DATASETS)
def bundled(request: pytest.FixtureRequest) -> Dataset:
    (dataset,) = resolve_datasets([f"mini/{request.param}"])
    return dataset


def test_at_least_twenty_with_distinct_texts(bundled: Dataset) -> None:
    assert len(bundled.examples) >= 20
    assert len({e.output for e in bundled.examples}) == len(bundled.examples)
    assert len({e.source for e in bundled.examples}) == len(bundled.examples)


def test_lengths_are_like_the_papers(bundled: Dataset) -> None:
    here, paper = measure(bundled.examples), read_card(bundled.name.removeprefix("mini/")).paper
    assert here.characters == pytest.approx(paper.characters, rel=0.25)


def test_there_are_names_and_numbers_to_perturb(bundled: Dataset) -> None:
    whole = [f"{e.source} {e.output}" for e in bundled.examples]
    named = [t for t in whole if re.search(r"\w[,;]? [A-Z][a-z]+|[A-Z]\w+-\d", t)]
    numbered = [
        t for t in whole if re.search(r"\d|\b(two|three|four|five|six|seven|eight|nine|ten|hundred)\b", t)
    ]
    assert len(named) >= 0.8 * len(whole)
    assert len(numbered) >= 0.5 * len(whole)


@pytest.mark.parametrize("dataset", ["summeval"])
def test_news_summaries_have_four_sentences(dataset: str) -> None:
    (bundled,) = resolve_datasets([f"mini/{dataset}"])
    assert {len(sentences(e.output)) for e in bundled.examples} == {4}


def test_kinds_of_the_smaller_sets() -> None:
    stories, answers, german, chinese = resolve_datasets(
        ["mini/story_cloze", "mini/answer_equivalence", "mini/wmt22_deen", "mini/wmt22_zhen"]
    )
    for e in stories.examples:
        assert len(sentences(e.source)) == 4
        assert e.fields["wrong_ending"] not in ("", e.output)
    assert all(len(e.output) > 150 and e.fields["question"].endswith("?") for e in answers.examples)
    assert all(len(e.output) > 300 for e in (*german.examples, *chinese.examples))
    assert all(re.search(r"[\u4e00-\u9fff]{10}", e.source) for e in chinese.examples)
    assert sum(bool(re.search("[äöüß]", e.source)) for e in german.examples) >= 20


def test_every_task_is_served(bundled: Dataset) -> None:
    card = read_card(bundled.name.removeprefix("mini/"))
    languages = {"source_language": card.source_language, "output_language": "en"}
    task = read_task(card.task)
    assert bundled.task == (task.model_copy(update=languages) if task.names_languages else task)
    assert {e.language for e in bundled.examples} == {"en"}
