"""The published files themselves."""

from pathlib import Path

import pytest

from dhp.content.catalog import read_card
from dhp.loaders.dataset import measure, select
from dhp.loaders.published import read_published

pytestmark = pytest.mark.realdata


@pytest.mark.slow
def test_summeval_measures_as_in_the_paper(real: Path) -> None:
    card = read_card("summeval")
    examples = read_published(card, real / "summeval")
    figures = measure(examples)
    assert len(examples) == card.n == len(select(examples, card.n, seed=0, dataset=card.dataset))
    assert figures.characters == pytest.approx(card.paper.characters, rel=0.03)
    assert figures.words == pytest.approx(card.paper.words, rel=0.03)
    assert figures.sentences == pytest.approx(card.paper.sentences, rel=0.03)


def test_sumpubmed_all_articles_are_eligible(real: Path) -> None:
    examples = read_published(read_card("sumpubmed"), real / "sumpubmed")
    assert len(examples) == 200
    assert all(len(e.source) > len(e.output) for e in examples[:20])
    assert not any("RESULTS" in e.output for e in examples)


@pytest.mark.slow
def test_wmt22_zhen_single_segments(real: Path) -> None:
    card = read_card("wmt22_zhen")
    examples = read_published(card, real / "wmt22")
    assert len(examples) == 224
    assert all(len(e.output) > 300 for e in examples)
    assert measure(examples).characters == pytest.approx(card.paper.characters, rel=0.03)


def test_wmt22_deen_has_hardly_any_without_document_bounds(real: Path) -> None:
    card = read_card("wmt22_deen")
    examples = read_published(card, real / "wmt22" / "txt")
    assert 0 < len(examples) < card.n
    assert all(e.id.startswith("line-") for e in examples)
