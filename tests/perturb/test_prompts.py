"""Prompts of the perturbers by language model, complete, fenced and read strictly, and where an answer is."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import names_of, read_suite
from dhp.content.yaml_files import content_folder, load_spec
from dhp.core.errors import InputError
from dhp.core.numbered_steps import numbered_steps
from dhp.core.records import Example
from dhp.core.tags import between_tags, free_tag
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.llm.acceptance import fault
from dhp.perturb.llm.prompts import (
    CUT_OFF,
    NO_TAGS,
    REFUSED,
    AgainPrompt,
    PerturbPrompt,
    StepsPrompt,
    again,
    answer_tag,
    asks_for_steps,
    prompt_name,
    revised_text,
    written,
)
from tests.perturb.follows import babble, echo, follow, refuse

FOLDER = content_folder("perturbations") / "prompts"
FILES = sorted(FOLDER.glob("*/*.yaml"))
AGAIN = load_spec(FOLDER / "again.yaml", AgainPrompt)
STEPS = load_spec(FOLDER / "steps.yaml", StepsPrompt)
EXAMPLE = Example("e1", "The source.", "The output.", {"question": "The question?"})


def read(task: str, name: str) -> PerturbPrompt:
    return load_spec(FOLDER / task / f"{name}.yaml", PerturbPrompt)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# The bundled prompts ----------------------------------------------------------------------------------


PARAPHRASE = "general/paraphrase"
"""Asked for by the probe of that name, by no suite."""


def test_there_is_a_prompt_for_each_variant_of_the_suites_and_no_other() -> None:
    wanted = {PARAPHRASE}
    for suite in map(read_suite, names_of("suite")):
        folder = suite.task.replace("any", "general")
        for variant in suite.variants:
            if variant.method == "llm":
                wanted.add(f"{folder}/{prompt_name(variant.perturber, variant.degree)}")
    assert {f"{file.parent.name}/{file.name.removesuffix('.yaml')}" for file in FILES} == wanted
    assert {file.parent.name for file in FILES} <= {*names_of("task"), "general"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_a_prompt_shows_what_it_must_and_nothing_else(file: Path) -> None:
    prompt = load_spec(file, PerturbPrompt)
    shown = written(prompt, EXAMPLE, 7, prompt.steps)
    assert "{{" not in shown
    assert shown.count("<text>\nThe output.\n</text>") == 1
    assert ("<question>\nThe question?\n</question>" in shown) == (file.parent.name == "question_answering")
    assert ("<source>\nThe source.\n</source>" in shown) == (file.parent.name == "story_completion")
    assert numbered_steps(shown) == prompt.steps
    assert "Reply with" in shown
    assert "between the tags <revised> and </revised>" in squeezed(shown)
    assert shown.index("Adjustment:") < shown.index("1. ") < shown.index("<text>") < shown.index("Reply with")
    assert ("7" in shown) == ("grammatical" in file.stem or "insertion.major" in file.stem)


def test_each_kind_and_degree_announces_another_adjustment() -> None:
    announced: dict[str, set[str]] = {}
    for file in FILES:
        (adjustment,) = re.findall(r"Adjustment: ([^.]+)\.", load_spec(file, PerturbPrompt).prompt)
        announced.setdefault(adjustment, set()).add(file.stem.replace(".minor", ""))
    assert len(announced) == 7
    assert all(len(names) == 1 for names in announced.values())


# Filling ----------------------------------------------------------------------------------------------


def test_steps_of_the_model_replace_the_written_ones() -> None:
    prompt = read("summarization", "rewriting_insertion.minor")
    shown = written(prompt, EXAMPLE, 1, ["Look.", "Write {{text}}."])
    assert "Adjustment steps:\n1. Look.\n2. Write {{text}}.\n\n" in shown
    assert prompt.steps[0] not in shown


@pytest.mark.parametrize(
    "text", ["</text>", "< / TEXT >", "＜/text＞", "<text-2></text>", "{{steps}} {{source}}"]
)
def test_a_text_cannot_leave_its_place(text: str) -> None:
    shown = written(read("translation", "grammatical_errors.minor"), Example("e", "", text), 2, ["Go."])
    assert text in shown
    tag, inside = re.findall(r"<(text[-\d]*)>\n(.*?)\n</\1>", shown, re.S)[0]
    assert inside == text
    assert shown.count(f"</{tag}>") == 1
    assert shown.count("Reply with") == 1


@given(st.text(), st.text(), st.text())
def test_whatever_the_texts_are_they_are_shown_as_they_are(output: str, source: str, step: str) -> None:
    prompt = PerturbPrompt(prompt="A {{source}} B {{steps}} C {{text}} D {{tag}} E", steps=["x"])
    shown = written(prompt, Example("e", source, output), "all", [step])
    assert shown.startswith("A <source")
    assert re.search(r"> D revised[-\d]* E$", shown)
    assert f"> B 1. {step} C <text" in shown
    assert f">\n{source}\n</source" in shown
    assert f">\n{output}\n</text" in shown


def test_a_question_that_is_shown_must_be_there() -> None:
    with pytest.raises(InputError, match="example 'e': has no field 'question'"):
        written(read("question_answering", "grammatical_errors.minor"), Example("e", "s", "o"), 1, ["x"])


def test_asking_again_repeats_the_request_with_answer_and_reason() -> None:
    shown = again(AGAIN, "Do {{answer}}.", "No </answer> {{reason}}", "the text is unchanged")
    assert shown.startswith("Do {{answer}}.\n")
    assert "<answer-2>\nNo </answer> {{reason}}\n</answer-2>" in shown
    assert "Reason: the text is unchanged." in shown


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_asking_for_steps_shows_the_task_without_steps_and_texts(file: Path) -> None:
    prompt = load_spec(file, PerturbPrompt)
    shown = asks_for_steps(STEPS, prompt)
    assert "{{" not in shown
    assert "Adjustment: " in shown
    assert "Adjustment steps" not in shown
    assert "Reply with the revised" not in shown
    assert not any(step in squeezed(shown) for step in prompt.steps)
    assert numbered_steps(follow(shown)) == ["Read the text.", "Make the adjustment.", "Check the rest."]


# Answers ----------------------------------------------------------------------------------------------

NEWS = Example("e", "A source.", "The mayor of Hartwell opened the bridge on 4 May.")
REVISED = NEWS.output.replace("Hartwell", "Velmora")


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
    assert revised_text(answer.format(REVISED), NEWS) == (REVISED, None)


def test_the_tag_as_a_key_of_json_is_one() -> None:
    answer = json.dumps({"revised": REVISED})
    assert revised_text(answer, NEWS) == (REVISED, None)
    assert revised_text(f"```json\n{answer}\n```", NEWS) == (REVISED, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", NO_TAGS),
        (REVISED, NO_TAGS),
        (f"Revised summary: {REVISED}", NO_TAGS),
        (f"{REVISED}</revised>", NO_TAGS),
        (f"<text>{REVISED}</text>", NO_TAGS),
        (json.dumps({"revised": REVISED, "note": "one name"}), NO_TAGS),
        (f"<revised>{REVISED}", CUT_OFF),
        (f"<think>So.</think><revised>{REVISED}", CUT_OFF),
        (f"<think><revised>{REVISED}</revised>", NO_TAGS),
        ("I'm sorry, but I can't help with that.", REFUSED),
    ],
)
def test_what_stands_in_no_pair_is_no_answer(answer: str, reason: str) -> None:
    assert revised_text(answer, NEWS) == (None, reason)


def test_nothing_is_taken_from_or_put_into_the_text() -> None:
    text = '"**Note:** 1. `a`\n\n> b</text> <b>c</b>"'
    assert revised_text(f"<revised> {text}\n</revised>", NEWS) == (text, None)


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


# Files of one's own -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("{{text}} {{tag}}", r"prompt: lacks the slot '\{\{steps\}\}'"),
        ("{{steps}} {{tag}}", r"prompt: lacks the slot '\{\{text\}\}'"),
        ("{{steps}} {{text}}", r"prompt: lacks the slot '\{\{tag\}\}'"),
        (
            "{{text}} {{steps}} {{sorce}}",
            r"unknown slot '\{\{sorce\}\}'.*'source'",
        ),
        (
            "{{text}} {{steps}} {{output}}",
            r"unknown slot '\{\{output\}\}'; allowed: count, question, source, ",
        ),
        ("{{text}} {{steps", "a slot is not closed"),
    ],
)
def test_a_wrong_slot_is_named_with_the_allowed_ones(prompt: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PerturbPrompt(prompt=prompt, steps=["Go."])


@pytest.mark.parametrize("steps", [[], [""], ["Use {{count}}."], "Go.", [1]])
def test_steps_are_plain_texts(steps: object) -> None:
    with pytest.raises(ValueError, match=r"steps|slot"):
        PerturbPrompt.model_validate({"prompt": "{{text}} {{steps}} {{tag}}", "steps": steps})


def test_the_other_prompts_need_their_slots() -> None:
    with pytest.raises(ValueError, match=r"lacks the slot '\{\{reason\}\}'"):
        AgainPrompt(prompt="{{request}} {{answer}}")
    with pytest.raises(ValueError, match=r"unknown slot '\{\{text\}\}'; allowed: task"):
        StepsPrompt(prompt="{{task}} {{text}}")


def test_a_file_with_a_fault_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("prompt: '{{text}} {{steps}} {{conut}}'\nsteps: [Go.]\n")
    with pytest.raises(InputError, match=r"mine\.yaml: prompt: unknown slot '\{\{conut\}\}'.*'count'"):
        load_spec(file, PerturbPrompt)
    file.write_text("prompt: '{{text}} {{steps}} {{tag}}'\nstep: [Go.]\n")
    with pytest.raises(InputError, match=r"step: unknown key.*'steps'"):
        load_spec(file, PerturbPrompt)


# Prompts, cleaning and checks together ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_a_model_that_follows_a_prompt_is_accepted_and_no_other(number: int) -> None:
    data = resolve_datasets(["mini"])[number]
    for variant in data.suite.variants:
        if variant.method != "llm":
            continue
        prompt = read(data.task.task, prompt_name(variant.perturber, variant.degree))
        count = variant.params["count"]
        accepted = {follow: 0, refuse: 0, babble: 0, echo: 0}
        for example in data.examples:
            request = written(prompt, example, count, prompt.steps)
            for model in accepted:
                text, why = revised_text(model(request), example)
                accepted[model] += (why or fault(variant.perturber, example.output, text, count)) is None
        assert accepted[follow] >= 0.95 * len(data.examples)
        assert accepted[refuse] == accepted[babble] == accepted[echo] == 0
