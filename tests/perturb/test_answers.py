"""Cleaning of a language model's answers: what surrounds the text goes, the text stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.loaders.dataset import resolve_datasets
from dhp.perturb.llm.answers import cleaned

ORIGINAL = "The mayor of Hartwell opened the bridge on 4 May. It cost 3 million euros."
TEXT = ORIGINAL.replace("Hartwell", "Velmora")
AROUND = [
    "{}",
    "\n\n {} \n",
    '"{}"',
    "“{}”",
    "„{}“",
    "«{}»",
    "'{}'",
    "‘{}’",
    "Sure! Here is the revised summary:\n\n{}",
    "Sure, here is the summary with errors: {}",
    "Certainly. Below is the revised version:\n{}",
    "Here's the revised text: {}",
    "Here’s the rewritten ending:\n\n“{}”",
    "Okay, here you go:\n\n{}",
    "Sure!\n\n{}",
    "Of course!\n{}",
    "I'd be happy to help! Here is the revised summary:\n{}",
    "I have replaced one entity.\n\n{}",
    "The revised summary is as follows:\n{}",
    "Revised answer: {}",
    "Revised ending (one error): {}",
    "Summary: {}",
    "**Revised summary:**\n{}",
    "**Revised Summary:** {}",
    "***Revised Summary***\n\n{}",
    "## Revised summary\n\n{}",
    "### Revised Text:\n{}",
    "以下是修改后的摘要：\n{}",
    "Hier ist der geänderte Text:\n{}",
    "Original summary: The mayor of Hartwell.\n\nRevised summary: {}",
    "Step 1: the entity is Hartwell.\nStep 2: Velmora.\n\nFinal revised summary:\n{}",
    "<think>Which entity? Perhaps:\nRevised summary: The mayor.</think>\n{}",
    "The entity is Hartwell.</think>\n\n{}",
    "```\n{}\n```",
    "```text\n{}\n```\n\nNote: I changed the name.",
    "Here it is:\n```\n{}\n```",
    "```\n{}",
    "<text>\n{}\n</text>",
    "<text-2>{}</text-2>",
    "<revised_summary>{}</revised_summary>",
    "Here:\n<answer>\n{}\n</answer>\nDone.",
    "{}\n</text>",
    "<|assistant|>{}<|end|>",
    "{}</s>",
    "1. {}",
    "- {}",
    "> {}",
    "*{}*",
    "---\n{}\n---",
    "{}\n\nNote: I changed the name.",
    "{}\n\n(Note: I replaced Hartwell by Velmora.)",
    "{} (Note: one entity was changed.)",
    "{} [Changed: Hartwell to Velmora]",
    "{} Note: I changed the name.",
    "{}\n\n**Changes made:**\n1. Hartwell -> Velmora\n2. Nothing else",
    "{}\n\nExplanation: Velmora does not exist.",
    "{}\n\nI replaced the name of the town.",
    "{}\n\n---\nI hope this helps!",
    "{}\n\nLet me know if you need anything else!",
    'Certainly! Below is the revised summary with one fictional entity:\n\n"{}"\n\nExplanation: a name.',
    "<think>hm</think>\n\nSure!\n\n```\n**Revised summary:** “{}”\n```\n\n*Note: a name is changed.*",
]


@pytest.mark.parametrize("around", AROUND)
def test_what_surrounds_a_text_goes(around: str) -> None:
    for original in (ORIGINAL, ""):
        assert cleaned(around.format(TEXT), original) == TEXT


def test_marked_words_lose_their_marks() -> None:
    marked = TEXT.replace("Velmora", "**Velmora**").replace("3 million", "*3 million*").replace("It", "_It_")
    assert cleaned(marked, ORIGINAL) == TEXT


def test_a_text_on_one_line_stays_on_one() -> None:
    assert cleaned(TEXT.replace(". ", ".\n\n"), ORIGINAL) == TEXT
    numbered = "1. " + TEXT.replace(". ", ".\n2. ")
    assert cleaned(numbered, ORIGINAL) == TEXT


def test_lines_of_the_original_are_kept() -> None:
    lines = TEXT.replace(". ", ".\n")
    assert cleaned(f"Revised text:\n\n{lines}", ORIGINAL.replace(". ", ".\n")) == lines


@pytest.mark.parametrize(
    "original",
    [
        '"Who was it?" Jonas asked. "It was me," she said, "and nobody else."',
        '"Come home."',
        "Note: the depot is closed.",
        "Summary: nothing is known.",
        "1. FC Orlind won the cup.",
        "- bread\n- milk",
        "# Orlind\nA town.",
        "Sure! I will come.",
        "Here is what we know about the text: little.",
        "Use `make` and **never** anything else.",
        "He wrote snake_case_names and 3 * 4 * 5 on the board.",
        "See <text> for more.",
        "It ended so. (Note: prices may change.)",
    ],
)
def test_what_the_original_has_itself_stays(original: str) -> None:
    changed = original.replace("Orlind", "Velmora").replace("nobody", "no one")
    assert cleaned(original, original) == original
    assert cleaned(changed, original) == changed


def test_quotes_of_several_speakers_are_not_the_quotes_of_the_whole() -> None:
    talk = '"Is it far?" "Six miles," said Jonas. "Then run."'
    assert cleaned(talk) == talk
    assert cleaned(f"“{TEXT}” she said, “{TEXT}”") == f"“{TEXT}” she said, “{TEXT}”"
    assert cleaned("'Don't go,' he said. 'It's late.'") == "'Don't go,' he said. 'It's late.'"


@pytest.mark.parametrize(
    "answer", ["", "   ", "<think>I should", '<think>"x"</think>', "<think>a</think>\n\n"]
)
def test_an_answer_without_a_text_is_empty(answer: str) -> None:
    assert cleaned(answer, ORIGINAL) == ""


def test_the_texts_of_the_mini_sets_come_back_unchanged() -> None:
    for dataset in resolve_datasets(["mini"]):
        for example in dataset.examples:
            assert cleaned(example.output) == example.output
            assert cleaned(f"Revised text: {example.output}", example.output) == example.output


marked = st.text(st.sampled_from("aB1. :\n\"“”'*_`#>-()[]<>/|") | st.characters(exclude_categories=["Cs"]))
pieces = st.lists(
    st.sampled_from(
        [*AROUND, "<text>", "</text>", "Note:", "**", "```", '"', "Sure! ", "\n", "Revised text: "]
    ),
    max_size=5,
)
sentence = st.from_regex(r"[A-Z][a-z]{1,8}( [a-z]{1,9}){3,12}, [a-z]{2,9}\.", fullmatch=True)


@given(marked)
def test_the_original_itself_is_never_touched(text: str) -> None:
    assert cleaned(text, text) == text


@given(st.lists(sentence, min_size=1, max_size=4))
def test_a_bare_text_comes_back_unchanged(several: list[str]) -> None:
    text = " ".join(several)
    assert cleaned(text) == cleaned(text, "Something else.") == text


@given(pieces, marked, st.sampled_from(["", ORIGINAL]) | marked)
def test_cleaning_twice_is_cleaning_once(around: list[str], text: str, original: str) -> None:
    for piece in around:
        text = piece.replace("{}", text) if "{}" in piece else piece + text
    once = cleaned(text, original)
    assert cleaned(once, original) == once
