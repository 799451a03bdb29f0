"""A rule that puts forms that grammar does not allow, from a list of English words."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.content.catalog import read_list
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers
from dhp.perturb.rules.english import EnglishErrors

KNOWN = read_list("english_errors", EnglishErrors)
WORDS = st.lists(st.sampled_from([*KNOWN.errors, "Oslo", "Ann’s", "Bob", "cat.", "12", "(a)", "x-to-y", "é"]))


def apply(name: str, text: str, seed: int = 0, **params: Any) -> Edited:
    made = builtin_perturbers()[name](text, random.Random(seed), lists=read_list, **params)
    assert isinstance(made, Edited)
    return made


def changed(old: str, new: str) -> dict[str, str]:
    return {a: b for a, b in zip(old.split(), new.split(), strict=True) if a != b}


def test_slips_are_forms_that_do_not_fit() -> None:
    text = "He isn’t here. They were at home, and she went to the US with an aunt."
    assert apply("grammar_slips", text, share=1.0).text == (
        "Him aren’t here. Them was of home, and her gone of the US of a aunt."
    )
    for seed in range(10):
        few, more = (changed(text, apply("grammar_slips", text, seed, k=k).text) for k in (2, 5))
        assert len(few) == 2
        assert few.items() < more.items()
    with pytest.raises(NotApplicable, match="no word whose wrong form is in the list"):
        apply("grammar_slips", "Nobody came.", k=1)


@given(words=WORDS, k=st.integers(1, 5), seed=st.integers(0, 5))
def test_any_text_gets_at_most_so_many_edits(words: list[str], k: int, seed: int) -> None:
    text = " ".join(words)
    try:
        made = apply("grammar_slips", text, seed, k=k)
    except NotApplicable:
        return
    assert made.text != text
    assert made.asked == k
    assert 1 <= made.made <= k
    assert len(made.text.split()) == len(text.split())


STORY = "Bob and Ann from Oslo have a dog. They live in 3 towns."
OUTPUTS = {"1": "Bob saw Ann in 3 towns. He was glad.", "2": "He went to see Oslo. They were glad of that."}


def story(**columns: str) -> dhp.Dataset:
    examples = [Example(name, STORY, text) for name, text in OUTPUTS.items()]
    return dhp.Dataset.of(examples, name="mine", task="story_completion", language="en", **columns)


def test_rules_stand_in_for_a_language_model_in_the_papers_suites(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def absent(name: str) -> None:
        raise NotApplicable(f"the spaCy pipeline '{name}' is not installed")

    monkeypatch.setattr("dhp.plugins.spacy.rules._pipeline", absent)
    (part,) = dhp.perturb_datasets(story(suite="story_cloze"), controls=False)
    assert {v.name: v.stand_in for v in part.variants if v.stand_in} == {
        "fictional_named_entities": "wrong_entities",
        "grammatical_errors": "grammar_slips",
    }
    assert {v.method for v in part.variants} == {"rule"}
    assert part.left_out == ()
    assert not caplog.records
    assert part.origins == {
        "fictional_named_entities": "wrong_entities",
        "grammatical_errors": "grammar_slips",
    }
    made = {t.example: t.text for t in part.by_variant["fictional_named_entities"]}
    assert made["1"] is not None
    assert " 3 towns" not in made["1"], "no other text has a name of a man"
    (again,) = dhp.perturb_datasets(story(suite="story_cloze"), controls=False)
    assert again.texts == part.texts


def test_a_rule_of_the_suite_is_no_stand_in_and_a_wrong_one_is_refused(tmp_path: Any) -> None:
    def suite(stand_ins: str, further: str = "") -> dhp.Dataset:
        file = tmp_path / "own.yaml"
        llm = f"{{level: word, method: llm, params: {{count: 1}}, stand_ins: [{stand_ins}]}}"
        file.write_text(f"suite: own\nsource: own\nperturbers:\n  grammatical_errors: {llm}\n{further}")
        return story(suite=str(file))

    rule = "  word_swaps: {level: word, method: rule, params: {k: 1}}\n"
    (part,) = dhp.perturb_datasets(suite("word_swaps", rule), controls=False)
    assert part.left_out == ("grammatical_errors",)
    (part,) = dhp.perturb_datasets(suite("word_swaps"), controls=False)
    assert [v.stand_in for v in part.variants] == ["word_swaps"]
    for wrong, why in (
        ("word_swap", "unknown perturber 'word_swap'.*'word_swaps'"),
        ("reordering", "'reordering': must be a rule of level 'word' that takes k or share"),
        ("rewriting_insertion", "must be a rule of level 'word'"),
    ):
        with pytest.raises(InputError, match=why):
            dhp.perturb_datasets(suite(wrong), controls=False)


def test_the_language_of_the_texts_is_asked_for_where_rules_might_stand_in(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = [{"id": name, "source": STORY, "output": text} for name, text in OUTPUTS.items()]
    own = {"task": "story_completion", "suite": "story_cloze", "controls": False}
    said = []
    for language in (None, "de", "en"):
        caplog.clear()
        dhp.perturb_datasets(rows, text_language=language, **own)
        said.append([record.getMessage() for record in caplog.records])
    left_out = "left out, as a language model makes them: grammatical_errors"
    assert said == [
        [
            f"{left_out}; give one by `perturb_model`, or the language of the texts by `text_language`: "
            "rules may stand in"
        ],
        [f"{left_out}; give one by `perturb_model`"],
        [],
    ]
