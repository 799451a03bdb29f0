"""The choice of N examples and their figures."""

import json
import random
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.loaders.dataset import measure, select

ids = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), min_size=1, max_size=30, unique=True
)


@given(ids, st.integers(0, 5), st.randoms(use_true_random=False), st.data())
def test_the_choice_does_not_depend_on_file_order(
    names: list[str], seed: int, shuffler: random.Random, data: st.DataObject
) -> None:
    examples = [Example(name, "s", "o") for name in names]
    n = data.draw(st.integers(1, len(examples)))
    chosen = select(examples, n, seed=seed, dataset="d")
    assert len(chosen) == n
    assert list(chosen) == [e for e in examples if e in chosen]
    shuffled = shuffler.sample(examples, len(examples))
    assert {e.id for e in select(shuffled, n, seed=seed, dataset="d")} == {e.id for e in chosen}
    if n > 1:
        assert {e.id for e in select(examples, n - 1, seed=seed, dataset="d")} < {e.id for e in chosen}


def test_seed_and_dataset_change_the_choice() -> None:
    examples = [Example(str(i), "s", "o") for i in range(100)]
    one, two, three = (select(examples, 10, seed=s, dataset=d) for s, d in ((0, "a"), (1, "a"), (0, "b")))
    assert one != two
    assert one != three
    rank = {e.id: sha256(json.dumps([0, "a", e.id]).encode()).digest() for e in examples}
    assert {e.id for e in one} == set(sorted(rank, key=rank.__getitem__)[:10])


def test_impossible_numbers_are_refused() -> None:
    examples = [Example("a", "s", "o")]
    with pytest.raises(InputError, match="d: 2 examples asked for, 1 there"):
        select(examples, 2, seed=0, dataset="d")
    with pytest.raises(InputError, match="n is 0; allowed: 1 to 1"):
        select(examples, 0, seed=0, dataset="d")


def test_measure_means_over_outputs() -> None:
    figures = measure([Example("a", "long source", "One two. Three!"), Example("b", "s", "Four.")])
    assert (figures.characters, figures.words, figures.sentences) == (10, 2, 1.5)
    with pytest.raises(InputError, match="no examples"):
        measure([])
