"""`dhp list` and `dhp show`: everything that can be named, by kind, and more of one."""

from dhp.cli.show import KINDS, judge_form
from dhp.content.catalog import names_of
from dhp.perturb.registry import builtin_perturbers

from .conftest import Run


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()]


def test_each_kind_lists_what_there_is(dhp: Run) -> None:
    assert first_words(dhp("list").out) == [*KINDS, "more:"]
    assert first_words(dhp("list", "datasets").out) == [
        "mini/NAME",
        "mini/conversations",
        *names_of("dataset"),
    ]
    assert first_words(dhp("list", "protocols").out) == [
        *names_of("protocol"),
        *names_of("pairwise protocol"),
    ]
    assert sorted(first_words(dhp("list", "perturbers").out)) == sorted(builtin_perturbers())
    assert first_words(dhp("list", "weights").out) == list(names_of("weights"))
    assert {"openai/NAME", "metric/rouge1", "mock/noisy"} <= set(first_words(dhp("list", "judges").out))


def test_damage_has_both_names_and_is_found_by_both(dhp: Run) -> None:
    (row,) = [line for line in dhp("list", "perturbers").out.splitlines() if "random_deletions" in line]
    assert row.split()[:4] == ["random_deletions", "missing", "letters", "character"]
    shown = dhp("show", "missing letters")
    assert shown.out == dhp("show", "random_deletions").out
    assert "suite summeval: random_deletions.minor {'k': 10}; random_deletions.major {'k': 50}" in shown.out


def test_no_name_is_of_two_kinds() -> None:
    names = [row[0] for rows in KINDS.values() for row in rows()]
    assert len(names) == len(set(names))
    assert not [
        name for name in names if judge_form(name) and (name, judge_form(name)) not in KINDS["judges"]()
    ]


def test_judges_are_shown_by_their_form(dhp: Run) -> None:
    assert dhp("show", "openai/gpt-4o").out.startswith("openai/gpt-4o: a model of OpenAI")
    assert "noise 1.0" in dhp("show", "mock/noisy").out
    assert dhp("show", "python:nothing.py:judge").out.startswith("python:nothing.py:judge: a judge that you")
