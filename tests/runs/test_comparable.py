"""Which results compare: one rule, the same in `compare`, `gate` and `leaderboard`."""

from dataclasses import replace

import pytest

import dhp
from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.leaderboard.entries import Entry
from dhp.leaderboard.tables import make_tables
from dhp.runs.comparable import ALLOWABLE, differences, same_judge


@pytest.fixture(scope="module")
def result() -> Result:
    return dhp.run("mock/ideal", "mini/story_cloze", n=6)[0]


def edited(result: Result, **parts: str) -> Result:
    """With other parts in the signature."""
    line = "|".join(f"{k}:{parts.get(k, v)}" for k, v in result.signed.parts.items())
    return replace(result, signature=line, protocol=parts.get("protocol", result.protocol))


@pytest.mark.parametrize("part", sorted(ALLOWABLE))
def test_what_may_be_allowed_is_refused_without(result: Result, part: str) -> None:
    other = edited(result, **{part: "other"})
    assert list(differences(result, other)) == [part]
    assert differences(result, other, [part]) == {}


def test_other_metrics_never_compare(result: Result) -> None:
    fewer = [replace(v, metrics=dict(list(v.metrics.items())[:1])) for v in result.variants]
    other = replace(edited(result, metrics="1@other"), variants=tuple(fewer))
    here, there = differences(result, other, ["metrics"])["metrics"]
    assert (len(here.split(", ")), there) == (3, "coherence")


def test_a_gate_pairs_by_name_across_prompt_edits(result: Result) -> None:
    first, second = (edited(result, protocol=f"mine@{tag}") for tag in ("aa", "bb"))
    another = edited(result, protocol="other@cc")
    assert same_judge(first, second, models=True)
    assert not same_judge(first, another, models=True)
    assert same_judge(first, another, models=True, allow=["protocol"])


def test_models_count_where_a_run_has_several(result: Result) -> None:
    renamed = replace(result, model="mock/other")
    assert same_judge(result, renamed, models=False)
    assert not same_judge(result, renamed, models=True)


def test_tables_of_a_leaderboard_split_by_the_same_parts(result: Result) -> None:
    other = replace(edited(result, metrics="3@other"), model="mock/other")
    entries = [Entry("one", result), Entry("two", other)]
    assert len(make_tables(entries)) == 2
    (table,) = make_tables(entries, allow=["metrics"])
    assert (len(table.rows), "metrics" in table.parts) == (2, False)
    with pytest.raises(InputError, match="`allow` 'n': would compare what cannot be"):
        make_tables(entries, allow=["n"])
