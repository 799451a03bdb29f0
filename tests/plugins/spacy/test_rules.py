"""Rules on texts parsed by spaCy: names swapped, inflections made wrong, and languages left alone."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dhp
from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers
from dhp.plugins.spacy import rules

spacy: Any = pytest.importorskip("spacy", reason="needs the extra spacy")

TEXT = (
    "Jane Doe moved from Oslo to the Hague. A Oslo paper said that Doe sells two boats. "
    "She was paid by Acme Corp's owners, and the boats have been old since 1990."
)
TAGS = {
    "moved": "VBD", "said": "VBD", "sells": "VBZ", "boats": "NNS", "was": "VBD", "paid": "VBN", "have": "VBP",
    "been": "VBN", "paper": "NN", "two": "CD", "a": "DT", "the": "DT", "owners": "NNS",
}  # fmt: skip


def saved(folder: Path, language: str, *, tags: bool = True, names: bool = True) -> str:
    """A small pipeline, found by its folder as an installed one is by its name."""
    nlp = spacy.blank(language)
    if names:
        ruler = nlp.add_pipe("entity_ruler")
        kinds = {
            "PERSON": ("Jane Doe", "Doe"),
            "GPE": ("Oslo", "the Hague"),
            "ORG": ("Acme Corp's",),
            "DATE": ("1990",),
        }
        ruler.add_patterns([{"label": kind, "pattern": n} for kind, found in kinds.items() for n in found])
    if tags:
        rules = nlp.add_pipe("attribute_ruler")
        rules.add([[{"IS_ASCII": True}]], {"TAG": "XX"})
        for word, tag in TAGS.items():
            rules.add([[{"LOWER": word}]], {"TAG": tag})
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("spacy") / "small", "en")


def apply(name: str, text: str, pipeline: str, seed: int = 0, **params: object) -> Edited:
    function = builtin_perturbers()[name].function
    made = function(text, random.Random(seed), pipeline=pipeline, **params)
    assert isinstance(made, Edited)
    return made


def test_every_name_gets_another_one_of_its_kind_wherever_it_stands(pipeline: str) -> None:
    pytest.importorskip("faker", reason="needs the extra spacy")
    for seed in range(20):
        made = apply("entity_swaps", TEXT, pipeline, seed, share=1.0)
        assert (made.asked, made.made) == (4, 4)
        assert not {"Jane", "Doe", "Oslo", "Hague", "Acme", "Corp"} & set(made.text.replace("'", " ").split())
        person, rest = made.text.split(" moved from ")
        city = rest.split(" to the ")[0]
        assert f"{city} paper said that {person.split()[-1]} sells" in made.text
        assert f"{'An' if city[0] in 'AEIOU' else 'A'} {city} paper" in made.text
        assert "'s owners" in made.text
        assert made.text.endswith("since 1990.")


def test_names_of_a_smaller_dose_are_among_those_of_a_larger_one(pipeline: str) -> None:
    pytest.importorskip("faker", reason="needs the extra spacy")
    text = "Jane Doe met Acme Corp's owners in Oslo."
    for seed in range(20):
        one, all_ = (apply("entity_swaps", text, pipeline, seed, k=k) for k in (1, 3))
        assert (one.made, all_.made) == (1, 3)
        new = {"Jane Doe": " met", "Acme Corp": "'s", "Oslo": "."}
        (old,) = (name for name in new if name not in one.text)
        replacement = one.text[text.index(old) :].split(new[old])[0]
        assert replacement in all_.text
    assert apply("entity_swaps", text, pipeline, 1, k=2) == apply("entity_swaps", text, pipeline, 1, k=2)


def test_inflections_are_wrong_in_their_place_and_nest(pipeline: str) -> None:
    made = apply("inflection_errors", TEXT, pipeline, share=1.0)
    assert made.text == (
        "Jane Doe moving from Oslo to the Hague. A Oslo paper saying that Doe sell two boat. "
        "She were pay by Acme Corp's owners, and the boats has be old since 1990."
    )
    assert (made.asked, made.made) == (8, 8)
    before = TEXT.split()
    for seed in range(10):
        few, more = (apply("inflection_errors", TEXT, pipeline, seed, k=k).text.split() for k in (2, 5))
        changed = {(i, new) for i, (old, new) in enumerate(zip(before, few, strict=True)) if old != new}
        assert len(changed) == 2
        assert changed <= set(enumerate(more))


@pytest.mark.parametrize("name", ["entity_swaps", "inflection_errors"])
def test_nothing_is_guessed(name: str, pipeline: str, tmp_path: Path) -> None:
    bare = saved(tmp_path / "bare", "en", tags=False, names=False)
    german = saved(tmp_path / "german", "de")
    for given, text, reason in (
        (pipeline, "Nothing here.", "spaCy finds no name|no inflection whose change is an error"),
        (bare, TEXT, "gives no (entities|tags)"),
        (german, TEXT, "is for 'de'; this rule is for English"),
        (pipeline, TEXT * 1000, "characters; allowed for a parser: 100,000"),
        ("no_such_pipeline", TEXT, "'no_such_pipeline' is not installed"),
    ):
        with pytest.raises(NotApplicable, match=reason):
            apply(name, text, given, k=1)


def test_a_suite_names_the_pipeline_and_the_set_its_version(pipeline: str, tmp_path: Path) -> None:
    use = "{level: word, method: rule, degrees: {minor: {k: 1, pipeline: PIPE}}}".replace("PIPE", pipeline)
    suite = tmp_path / "parsed.yaml"
    suite.write_text(f"suite: parsed\nsource: own\nperturbers:\n  inflection_errors: {use}\n")
    mine = dhp.Dataset.of([Example("1", "s", TEXT)], name="mine", task="summarization", suite=str(suite))
    (part,) = dhp.perturb_datasets(mine)
    assert part.texts[0].text not in (None, TEXT)
    assert "spacy 3." in part.origins["inflection_errors"]
    suite.write_text(suite.read_text().replace(f", pipeline: {pipeline}", ""))
    with pytest.raises(dhp.InputError, match="parameter 'pipeline' is missing"):
        dhp.perturb_datasets(dhp.Dataset.of(mine.examples, name="m", task="summarization", suite=str(suite)))


def test_they_stand_in_for_a_language_model_if_their_pipeline_is_installed(
    pipeline: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a suite of one's own: those that ship are the same with and without a parser."""
    text = (Path(dhp.__file__).parents[1] / "perturbations" / "summeval.yaml").read_text()
    text = text.replace("stand_ins: [grammar_slips]", "stand_ins: [inflection_errors, grammar_slips]")
    text = text.replace("stand_ins: [wrong_entities]", "stand_ins: [entity_swaps]")
    (tmp_path / "summeval.yaml").write_text(text)
    settings = {"name": "mine", "task": "summarization", "suite": str(tmp_path / "summeval.yaml")}
    mine = dhp.Dataset.of([Example("1", "s", TEXT)], language="en", **settings)
    undeclared = dhp.Dataset.of([Example("1", "s", TEXT)], **settings)
    load = spacy.load
    monkeypatch.setattr(spacy, "load", lambda name, **_: load(pipeline if name == "en_core_web_sm" else name))
    kept = (rules._pipeline, rules._kept)
    for each in kept:
        each.cache_clear()
    try:
        part, other = dhp.perturb_datasets([mine, replace(undeclared, name="other")], controls=False)
    finally:
        for each in kept:
            each.cache_clear()
    by_rule = {v.name: (v.method, v.stand_in) for v in part.variants if v.stand_in}
    assert by_rule == {
        **{f"fictional_named_entities.{d}": ("rule", "entity_swaps") for d in ("minor", "major")},
        **{f"grammatical_errors.{d}": ("rule", "inflection_errors") for d in ("minor", "major")},
        **{f"rewriting_insertion.{d}": ("rule", "sentence_repetition") for d in ("minor", "major")},
    }
    doses = {t.variant: t.audit.asked for t in part.texts if t.variant in by_rule and t.audit}
    assert doses["fictional_named_entities.minor"] == 1
    assert doses["grammatical_errors.major"] == 5
    assert "spacy 3." in part.origins["grammatical_errors"]
    assert "grammatical_errors.minor" in other.left_out, "no suite says which language the texts are in"
