"""Which results compare: one rule, the same in `compare`, `gate` and `leaderboard`."""

from dataclasses import replace

import pytest

import dhp
from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.leaderboard.entries import Entry
from dhp.leaderboard.tables import make_tables
from dhp.runs.alike import ALLOWABLE, differences, same_judge


@pytest.fixture(scope="module")
def results() -> dhp.Results:
    return dhp.run("mock/ideal", "mini/story_cloze", n=6)


@pytest.fixture(scope="module")
def result(results: dhp.Results) -> Result:
    return results[0]


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


def under(results: dhp.Results, protocol: str) -> dhp.Results:
    """The same run of a judge that was asked by this protocol."""
    rated = [replace(ratings, protocol=protocol) for ratings in results.rated]
    return dhp.Results([edited(result, protocol=protocol) for result in results], rated)


def test_one_rule_holds_for_an_edited_prompt_in_compare_and_gate(results: dhp.Results) -> None:
    old, new, other = (under(results, name) for name in ("dhp@aa", "dhp@bb", "stars@aa"))
    assert differences(old[0], new[0]) == {}
    assert list(differences(old[0], other[0])) == ["protocol"]
    (found,) = dhp.compare(old, new, resamples=2, progress=False)
    assert found.judges == found.names == ("mock/ideal (dhp@aa)", "mock/ideal (dhp@bb)")
    assert dhp.gate(new, against=old, max_drop=5).passed
    with pytest.raises(InputError, match=r"protocol differs, 'dhp@aa' in .* or `allow` protocol"):
        dhp.compare(old, other, progress=False)
    with pytest.raises(InputError, match=r"no result on .* under protocol 'stars@aa'.* or `allow` protocol"):
        dhp.gate(other, against=old, max_drop=5)
    (allowed,) = dhp.compare(old, other, allow="protocol", resamples=2, progress=False)
    assert allowed.judges == ("mock/ideal (dhp@aa)", "mock/ideal (stars@aa)")
    assert allowed.names == ("dhp", "stars")
    assert dhp.gate(other, against=old, max_drop=5, allow="protocol").passed
    with pytest.raises(InputError, match="duplicate judge 'mock/ideal'"):
        dhp.compare(old, old, progress=False)


def test_two_names_of_ones_own_are_versions_of_a_prompt(results: dhp.Results) -> None:
    """As `--name v1` and `--name v2` give them; one of dhp's own ways of asking is no version of them."""
    old, new, bundled = (under(results, name) for name in ("v1@aa", "v2@bb", "dhp@cc"))
    assert differences(old[0], new[0]) == {}
    (found,) = dhp.compare(old, new, resamples=2, progress=False)
    assert found.names == ("v1", "v2")
    assert dhp.gate(new, against=old, max_drop=5).passed
    assert list(differences(old[0], bundled[0])) == ["protocol"]
    recorded = [under(results, name) for name in ("plain", "reasoned")]
    assert list(differences(recorded[0][0], recorded[1][0])) == ["protocol"], "no prompt is known"


def test_versions_of_a_prompt_are_paired_where_each_run_has_one(results: dhp.Results) -> None:
    old, new, third = (under(results, name) for name in ("v1@aa", "v2@bb", "v3@cc"))
    two = dhp.Results([*new, *third], [*new.rated, *third.rated])
    with pytest.raises(InputError, match=r"no result on .* under protocol 'v2@bb'"):
        dhp.gate(two, against=old, max_drop=5)


def test_a_gate_pairs_by_name_across_prompt_edits(result: Result) -> None:
    first, second = (edited(result, protocol=f"mine@{tag}") for tag in ("aa", "bb"))
    another = edited(result, protocol="other@cc")
    assert same_judge(first, second, models=True)
    assert not same_judge(first, another, models=True)
    assert same_judge(first, another, models=True, versions=True)
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
