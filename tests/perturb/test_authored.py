"""Edits that people wrote for the bundled examples: they fit, do what they should, and minor begins major."""

from pathlib import Path

import pytest

import dhp
from dhp.content.catalog import DATASETS, read_authored, read_suite
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example, Variant
from dhp.core.sentences import sentences
from dhp.core.specs import AuthoredEdits, Insertion
from dhp.loaders.resolve import published
from dhp.perturb.apply import authored_texts, edited
from dhp.perturb.llm.acceptance import fault

TEXT = "Ann has 12 cats. Annika has 1 cat, Ann said. All are grey."


@pytest.mark.slow
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_text_passes_the_checks_of_a_models_answers(dataset: str) -> None:
    authored, examples = read_authored(f"mini/{dataset}"), published(f"mini/{dataset}").examples
    assert set(authored.examples) == {e.id for e in examples}
    asked = [v for v in read_suite(dataset).variants if v.method == "llm"]
    for edits in authored.examples.values():
        assert list(edits) == list(dict.fromkeys(v.perturber for v in asked))
    for variant in asked:
        for example, made in zip(examples, authored_texts(examples, variant, authored), strict=True):
            assert made.text is not None, (example.id, variant.name)
            others = (example.source, *example.fields.values())
            count = variant.params["count"]
            assert fault(variant.perturber, example.output, made.text, count, others) is None, made
            least = (
                min(3, len(sentences(example.output))) if variant.perturber == "rewriting_insertion" else 1
            )
            assert made.audit.made >= (least if variant.degree == "major" else 1)


@pytest.mark.slow
def test_the_benchmark_of_the_bundled_data_is_whole() -> None:
    made = dhp.perturb_datasets("mini", controls=False)
    authored = 0
    for part in made:
        variants = [variant for variant in part.variants if variant.method == "authored"]
        authored += len(variants) * len(part.dataset.examples)
    assert authored == 636
    for part in made:
        suite = read_suite(part.dataset.name.removeprefix("mini/"))
        assert [v.name for v in part.variants] == [v.name for v in suite.variants]
        assert all(t.text for t in part.texts)
        assert part.left_out == ()
        assert part.methods == "authored+rule"
        written = {v.perturber for v in part.variants if v.method == "authored"}
        assert set(part.origins) == written
        assert all(o.startswith("authored, perturbations/authored/") for o in part.origins.values())


def test_words_are_replaced_as_wholes_and_one_after_another() -> None:
    assert (
        edited(TEXT, ["Ann -> Bea", "1 -> 7"]) == "Bea has 12 cats. Annika has 7 cat, Bea said. All are grey."
    )
    assert edited(TEXT, ["has 12 -> have 12", "have 12 cats. -> have 3 dogs!"]).startswith(
        "Ann have 3 dogs! An"
    )
    assert edited("Pay £5 (now).", ["£5 -> £\\1", "(now) -> (then)"]) == "Pay £\\1 (then)."


def test_sentences_are_inserted_behind_those_of_the_original() -> None:
    late, early = (
        Insertion(after=3, insert="Grey is their colour."),
        Insertion(after=1, insert="She owns 12."),
    )
    assert edited(TEXT, [late]) == f"{TEXT} Grey is their colour."
    assert (
        edited(TEXT, [late, early])
        == TEXT.replace("cats. ", "cats. She owns 12. ") + " Grey is their colour."
    )


@pytest.mark.parametrize("edits", [[], ["Bob -> Ben"], ["nn -> mm"], [Insertion(after=4, insert="No.")]])
def test_a_text_that_the_edits_do_not_fit_is_not_applicable(edits: list[str | Insertion]) -> None:
    with pytest.raises(NotApplicable, match="no edits were written for this text"):
        edited(TEXT, edits)


def test_a_variant_makes_the_first_of_the_edits() -> None:
    authored = AuthoredEdits(
        dataset="mini/x", examples={"1": {"names": ["Ann -> Bea", "12 -> 7", "grey -> red"]}}
    )
    example = Example("1", "source", TEXT)

    def made(count: object) -> tuple[str | None, int | None, int | None]:
        variant = Variant("names.some", "names", "word", "authored", "some", {"count": count})
        (found,) = authored_texts([example], variant, authored)
        return found.text, found.audit.asked, found.audit.made

    assert made(2) == (TEXT.replace("Ann ", "Bea ").replace("12", "7"), 2, 2)
    assert made("all") == made(3)
    assert made(5) == (made(3)[0], 5, 3)
    with pytest.raises(InputError, match=r"perturber 'names.some': `count` 0: must be 1 or more"):
        made(0)


def test_examples_of_ones_own_under_a_bundled_name_are_not_applicable() -> None:
    examples = [Example("story-01", "A start.", "Bob won."), Example("x", "A start.", "Cy lost.")]
    mine = dhp.Dataset.of(examples, name="mini/story_cloze", task="story_completion", suite="story_cloze")
    (part,) = dhp.perturb_datasets(mine)
    found = [t for t in part.texts if t.variant == "grammatical_errors"]
    assert [(t.text, bool(t.reason)) for t in found] == [(None, True)] * 2


def test_other_data_say_once_what_is_left_out_and_how_it_is_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    examples = [Example(str(i), "A start.", f"Bob won {i} cups. He was glad.") for i in range(3)]
    sets = []
    for name in ("one", "two"):
        file = tmp_path / f"{name}.yaml"
        file.write_text(
            f"suite: {name}\nsource: own\nperturbers:\n  random_typos: {{level: character, method: rule, "
            f"params: {{k: 1}}}}\n  hedging_{name}: {{level: word, method: llm, params: {{count: 1}}}}\n"
        )
        sets.append(dhp.Dataset.of(examples, name=name, task="summarization", suite=str(file)))
    made = dhp.perturb_datasets(sets)
    assert [record.getMessage() for record in caplog.records] == [
        "left out, as a language model makes them: hedging_one, hedging_two; give one by `perturb_model`"
    ]
    assert made[0].left_out == ("hedging_one",)
    assert {v.method for part in made for v in part.variants} == {"rule"}
