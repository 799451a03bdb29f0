"""The other examples of a dataset: as a list without the one, however they are kept."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.records import Example
from dhp.perturb import apply as module
from dhp.perturb.apply import Others, other_texts
from dhp.perturb.rules.sentences import random_ending, sentence_insertion

TEXTS = ["One. Two.", "Two. Three.", "Four.", "Five. Six.", "Seven."]
outputs = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=9)


def examples(texts: Sequence[str]) -> list[Example]:
    return [Example(f"e{i}", "", text) for i, text in enumerate(texts)]


@given(outputs, st.randoms(use_true_random=False))
def test_others_are_the_list_without_the_example(texts: list[str], shuffler: random.Random) -> None:
    pool = examples(texts)
    known = Others(shuffler.sample(pool, len(pool)), "en", 0, "d")
    for place, example in enumerate(pool):
        plain = pool[:place] + pool[place + 1 :]
        found = known.of(example.id, "en")
        assert list(found) == plain
        assert [found[i] for i in range(-len(plain), len(plain))] == plain * 2
        assert found[1:] == plain[1:]
        assert list(other_texts(found, example.output)) == other_texts(plain, example.output)
        for perturb in (random_ending, sentence_insertion):
            made = [
                attempt(perturb.function, example.output, list_or_view) for list_or_view in (plain, found)
            ]
            assert made[0] == made[1]
    assert list(known.of("unknown", "en")) == pool
    assert list(known.of("e0", "de")) == []


def attempt(function: object, text: str, others: Sequence[Example]) -> str:
    """What a perturber makes of a text, or why it does not."""
    try:
        return str(function(text, random.Random(3), others=others))  # type: ignore[operator]
    except Exception as e:  # noqa: BLE001  compared
        return repr(e)


def test_of_a_large_dataset_the_same_few_are_the_others_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    pool = examples([f"Text {i}." for i in range(40)])
    first, again, other = (Others(pool, "en", seed, "d") for seed in (1, 1, 2))
    chosen = {e.id for e in first.of("none", "en")}
    assert len(chosen) == 5
    assert {e.id for e in again.of("none", "en")} == chosen != {e.id for e in other.of("none", "en")}
    for example in pool:
        assert {e.id for e in first.of(example.id, "en")} == chosen - {example.id}
