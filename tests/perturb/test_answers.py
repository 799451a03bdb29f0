"""Where a language model's answer holds the revised text: between the tags that it was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.records import Example
from dhp.core.text import between_tags, free_tag
from dhp.perturb.llm.prompts import CUT_OFF, NO_TAGS, REFUSED, answer_tag, revised_text

EXAMPLE = Example("e", "A source.", "The mayor of Hartwell opened the bridge on 4 May.")
TEXT = EXAMPLE.output.replace("Hartwell", "Velmora")


@pytest.mark.parametrize(
    "answer",
    [
        "<revised>{}</revised>",
        "Sure! Here it is:\n<revised>\n{}\n</revised>\nI changed the name.",
        "< Revised >{}</ REVISED >",
        "```\n<revised>{}</revised>\n```",
        "<think><revised>A draft.</revised></think><revised>{}</revised>",
        "The draft.</think>\n<revised>{}</revised>",
        "<revised>A draft.</revised> No: <revised>{}</revised>",
        "I put it between <revised> and </revised>.\n<revised>{}</revised>",
        "<revised>A draft. <revised>{}</revised>",
        "<revised>{}</revised>\nAnother: <revised>cut",
    ],
)
def test_the_last_complete_pair_of_tags_counts(answer: str) -> None:
    assert revised_text(answer.format(TEXT), EXAMPLE) == (TEXT, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", NO_TAGS),
        (TEXT, NO_TAGS),
        (f"Revised summary: {TEXT}", NO_TAGS),
        (f"{TEXT}</revised>", NO_TAGS),
        (f"<text>{TEXT}</text>", NO_TAGS),
        (f"<revised>{TEXT}", CUT_OFF),
        (f"<think>So.</think><revised>{TEXT}", CUT_OFF),
        (f"<think><revised>{TEXT}</revised>", NO_TAGS),
        ("I'm sorry, but I can't help with that.", REFUSED),
    ],
)
def test_what_stands_in_no_pair_is_no_answer(answer: str, reason: str) -> None:
    assert revised_text(answer, EXAMPLE) == (None, reason)


def test_nothing_is_taken_from_or_put_into_the_text() -> None:
    text = '"**Note:** 1. `a`\n\n> b</text> <b>c</b>"'
    assert revised_text(f"<revised> {text}\n</revised>", EXAMPLE) == (text, None)


def test_a_text_that_holds_the_tags_is_asked_for_between_others() -> None:
    holds = Example("e", "<revised-2>", "He wrote </Revised> there.", {"question": "< revised-3?"})
    assert answer_tag(holds) == "revised-4"
    said = "<revised-4>She wrote </Revised> there.</revised-4>"
    assert revised_text(said, holds) == ("She wrote </Revised> there.", None)
    assert revised_text("<revised>She wrote that.</revised>", holds) == (None, NO_TAGS)


marks = st.text(st.sampled_from("<>/ revisd-2\n") | st.characters(exclude_categories=["Cs"]))


@given(marks, marks, marks)
def test_whatever_the_texts_are_the_answer_is_found(output: str, source: str, around: str) -> None:
    tag = free_tag("revised", output, source, around)
    assert between_tags(f"{around}<{tag}>{output}</{tag}>{around}", tag) == output.strip()
