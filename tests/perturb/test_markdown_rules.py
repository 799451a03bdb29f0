"""Rules on texts with Markdown and lists: no mark is touched alone, nothing that is no prose is damaged."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers
from tests.core.test_markdown import markdown

SUITE = {
    "random_deletions": {"share": 0.15},
    "random_typos": {"share": 0.15},
    "word_deletions": {"share": 0.3},
    "word_swaps": {"share": 0.3},
    "reordering": {"count": "all"},
    "sentence_deletion": {"share": 0.5},
    "sentence_repetition": {"k": 2},
    "sentence_insertion": {"k": 2},
}
OTHERS = [Example("other", "", "1. Fill the kettle. It is old.\n2. Wait.")]
ALONE = re.compile(r"\s*(?:[-*•]|\(?\d\)|\d\.)\s*")


def degraded(name: str, text: str, seed: int) -> str:
    rule = builtin_perturbers()[name]
    given = {"others": OTHERS} if rule.wants("others") else {}
    result = rule(text, Random(seed), **SUITE[name], **given)
    assert isinstance(result, Edited)
    return result.text


@pytest.mark.parametrize("name", SUITE)
@given(document=markdown(), seed=st.integers(0, 9))
def test_marks_and_markdown_stay_whole(
    name: str, document: tuple[str, list[str], list[int]], seed: int
) -> None:
    text, _, fixed = document
    try:
        after = degraded(name, text, seed)
    except NotApplicable:
        return
    lines = text.splitlines()
    kept = [line for line in after.splitlines() if line in {lines[i] for i in fixed}]
    for line in {lines[i] for i in fixed}:
        assert kept.count(line) >= [lines[i] for i in fixed].count(line)
    inside = [i for i in fixed if lines[i].startswith(("```", "|"))]
    outside = [line for line in after.splitlines() if line not in {lines[i] for i in inside}]
    assert not any(ALONE.fullmatch(line) for line in outside)


PLAN = "Here is the plan:\n1. Boil the water.\n2. Add the pasta. Stir it.\n3. Serve with `salt 1` at once."


def test_an_item_is_repeated_as_a_line_and_goes_as_one() -> None:
    repeated = {degraded("sentence_repetition", PLAN, seed) for seed in range(20)}
    assert any("1. Boil the water.\n1. Boil the water.\n2." in text for text in repeated)
    assert any("Stir it. Stir it.\n3." in text for text in repeated)
    gone = {degraded("sentence_deletion", PLAN, seed) for seed in range(20)}
    assert any("plan:\n2. Add" in text for text in gone)
    assert any("2. Stir it." in text for text in gone)
    assert any("2. Add the pasta.\n3." in text for text in gone)


def test_a_foreign_sentence_comes_without_its_mark() -> None:
    assert all(
        "kettle" not in (after := degraded("sentence_insertion", PLAN, seed)) or " Fill the" in after
        for seed in range(9)
    )


def test_words_of_an_item_leave_its_mark_only_with_a_word() -> None:
    for seed in range(30):
        after = degraded("word_deletions", PLAN, seed)
        assert not any(ALONE.fullmatch(line) for line in after.splitlines())
        assert "`salt 1`" in after or "salt" not in after
