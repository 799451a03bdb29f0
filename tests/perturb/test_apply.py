"""The pipeline: keyed streams, the other examples, audits, users' perturbers and their faults."""

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dhp
from dhp.content.catalog import read_suite
from dhp.core.errors import InputError
from dhp.core.records import PerturbedText, Variant, parse_variant
from dhp.core.specs import Suite
from dhp.perturb.apply import NO_FARTHER, Others, RulesApplied, other_texts
from dhp.perturb.registry import builtin_perturbers, find_perturbers, load_perturber
from dhp.perturb.rules.sentences import sentence_insertion
from dhp.perturb.rules.whole_texts import random_ending
from dhp.perturb.suites import check_suite

EXAMPLES = [
    dhp.Example(f"e{i}", "source", f"The {i}th fox jumped over 12 dogs. They slept on. Nobody came by.")
    for i in range(6)
]
VARIANTS = [v for v in read_suite("summeval").variants if v.method == "rule"]


def perturb(
    examples: Sequence[dhp.Example],
    variants: Sequence[Variant],
    perturbers: Mapping[str, dhp.Perturber],
    seed: int = 0,
) -> Iterator[PerturbedText]:
    rules = RulesApplied(tuple(variants), perturbers, "d", seed, Others(examples, seed, "d"))
    return rules.texts(examples)


def texts(
    examples: list[dhp.Example], variants: list[Variant], seed: int = 0
) -> dict[tuple[str, str], str | None]:
    made = perturb(examples, variants, find_perturbers(), seed=seed)
    return {(p.example, p.variant): p.text for p in made}


def test_one_example_never_depends_on_order_or_on_others() -> None:
    everything = texts(EXAMPLES, VARIANTS)
    others_first = sorted(VARIANTS, key=lambda v: v.perturber, reverse=True)
    assert others_first != VARIANTS
    assert texts(EXAMPLES[::-1], others_first) == everything
    alone = texts([EXAMPLES[3]], [VARIANTS[2]])
    assert alone.items() <= everything.items()
    assert texts(EXAMPLES, VARIANTS, seed=1) != everything


def test_each_example_and_each_perturber_has_a_stream_of_its_own() -> None:
    twins = [dhp.Example(name, "source", EXAMPLES[0].output) for name in ("one", "two")]
    made = texts(twins, VARIANTS)
    assert all(made["one", v.name] != made["two", v.name] for v in VARIANTS if v.level == "character")


def test_edits_of_minor_are_the_first_edits_of_major() -> None:
    made = texts(EXAMPLES, VARIANTS)
    for example in EXAMPLES:
        letters = iter(made[example.id, "random_deletions.minor"] or "")
        assert all(c in letters for c in made[example.id, "random_deletions.major"] or "")


def test_audit_counts_what_was_done() -> None:
    (minor,) = perturb(EXAMPLES[:1], VARIANTS[:1], find_perturbers())
    assert minor.text is not None
    assert (minor.audit.asked, minor.audit.made, minor.audit.edit_distance) == (10, 10, 10)
    assert minor.audit.similarity == pytest.approx(1 - 10 / len(EXAMPLES[0].output), abs=1e-6)


def test_not_applicable_carries_its_reason() -> None:
    one_sentence = [dhp.Example("short", "source", "Only one sentence.")]
    (made,) = perturb(one_sentence, [v for v in VARIANTS if v.name == "reordering.major"], find_perturbers())
    assert (made.text, made.audit) == (None, None)
    assert made.reason


def with_function(function: object) -> list[object]:
    own = dhp.perturber(name="own", level="word")(function)  # type: ignore[arg-type]
    return list(perturb(EXAMPLES, own.variants, find_perturbers([own])))


def raises(text: str, rng: random.Random, *, example: dhp.Example) -> str:
    raise RuntimeError("boom\nsecond line")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda text, rng, *, example: 7, "returned int; must return the changed text"),
        (lambda text, rng, *, example: text, "returned the text unchanged"),
        (lambda text, rng, *, example: " ", "returned an empty text"),
        (lambda text, rng, *, example: text + "\ud800", "returned a lone surrogate"),
        (lambda text, rng, *, example: sys.exit(7), "raised SystemExit: 7"),
        (raises, "raised RuntimeError: boom"),
    ],
)
def test_a_bad_perturber_is_named_with_the_example(function: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        with_function(function)
    assert str(caught.value).startswith("perturber 'own', example 'e0': " + message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "Bad Name", "level": "word"}, "lower-case letters"),
        ({"name": "original", "level": "word"}, "names the undamaged text"),
        ({"name": "own", "level": "wrod"}, "'word'"),
        (
            {"name": "own", "level": "word", "degrees": {"minor": {"kk": 1}}},
            "unknown parameter 'kk'.*'k'",
        ),
        ({"name": "own", "level": "word", "degrees": {"minor": {}}}, "parameter 'k' is missing"),
    ],
)
def test_a_bad_declaration_is_refused(arguments: dict[str, object], message: str) -> None:
    def function(text: str, rng: random.Random, *, example: dhp.Example, k: int) -> str:
        return text * k

    with pytest.raises(InputError, match=message):
        dhp.perturber(**arguments)(function)  # type: ignore[arg-type]


def suite(**perturbers: object) -> Suite:
    return Suite.model_validate(
        {"suite": "s", "task": "summarization", "source": "x", "perturbers": perturbers}
    )


@pytest.mark.parametrize(
    ("name", "use", "message"),
    [
        (
            "random_typo",
            {"level": "character", "method": "rule", "params": {"k": 1}},
            "'random_typos'",
        ),
        (
            "random_typos",
            {"level": "word", "method": "rule", "params": {"k": 1}},
            "level is 'character', not 'word'",
        ),
        ("random_typos", {"level": "character", "method": "llm"}, "method is 'rule', not 'llm'"),
        (
            "random_typos",
            {"level": "character", "method": "rule"},
            "k and share",
        ),
        ("reordering", {"level": "sentence", "method": "rule", "params": {"n": 2}}, "unknown parameter 'n'"),
    ],
)
def test_a_suite_that_disagrees_with_its_perturbers_is_refused(name: str, use: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_suite(suite(**{name: use}), find_perturbers())


MODULE = """
import dhp
@dhp.perturber(name="shout", level="word")
def shout(text, rng, *, example):
    return text.upper()
plain = 3
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_perturbers.py").write_text(MODULE)
    (tmp_path / "broken_perturbers.py").write_text("def f(:")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.delitem(sys.modules, "own_perturbers", raising=False)


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    "reference",
    [
        "own_perturbers:shout",
        "own_perturbers.py:shout",
        "python:own_perturbers.py:shout",
        "./own_perturbers.py:shout",
    ],
)
def test_found_by_module_or_file_and_function(reference: str) -> None:
    assert load_perturber(reference).name == "shout"


@pytest.mark.slow
def test_every_listed_perturber_makes_texts_by_its_name_or_says_why_not() -> None:
    chosen = [*builtin_perturbers()]
    (part,) = dhp.perturb_datasets(
        "mini/summeval", suite="none", perturbers=chosen, n=2, controls=False, progress=False
    )
    made = {parse_variant(text.variant).perturber for text in part.texts}
    assert made == set(builtin_perturbers())
    assert all(text.text or text.reason for text in part.texts)
    texts = {text.variant: text.text for text in part.texts}
    assert texts["padding"], "an attack has the sentences with which runs add it"


def test_a_suite_without_perturbers_needs_one_beside_it() -> None:
    with pytest.raises(InputError, match="suite 'none': has no perturber; add one by `perturbers`"):
        dhp.perturb_datasets("mini/summeval", suite="none", progress=False)


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("own_perturbers", "module:function"),
        ("own_perturbers:shot", "'shout'"),
        ("own_perturbers:plain", "is of type int, not made by"),
        ("no_such_module:f", "cannot be imported .ModuleNotFoundError: No module named"),
        ("broken_perturbers:f", "cannot be imported .SyntaxError"),
    ],
)
def test_a_bad_reference_is_one_line(reference: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_perturber(reference)


def test_a_taken_name_is_refused() -> None:
    own = dhp.perturber(name="reordering", level="sentence")(lambda text, rng, *, example: text[::-1])
    with pytest.raises(InputError, match="'reordering' exists already"):
        find_perturbers([own])
    other = dhp.perturber(name="other", level="sentence")(lambda text, rng, *, example: text[::-1])
    with pytest.raises(InputError, match="'other' exists already"):
        find_perturbers([other, other])


def test_found_in_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shouting.py").write_text(MODULE)
    info = tmp_path / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dhp.perturbers]\nshout = shouting:shout\n")
    monkeypatch.syspath_prepend(tmp_path)
    named = [suite(shout={"level": "word", "method": "rule"})]
    assert find_perturbers(suites=named)["shout"].level == "word"
    assert "shout" not in find_perturbers(), "a package that nobody asked for is not imported"
    (info / "entry_points.txt").write_text("[dhp.perturbers]\nshout = shouting:plain\n")
    with pytest.raises(InputError, match="entry point 'shout = shouting:plain': is of type int"):
        find_perturbers(suites=named)
    (info / "entry_points.txt").write_text("[dhp.perturbers]\nshout = no_such_module:shout\n")
    with pytest.raises(InputError, match=r"cannot be imported \(ModuleNotFoundError"):
        find_perturbers(suites=named)


STORIES = ["One. Two.", "Two. Three.", "Four.", "Five. Six.", "Seven."]
outputs = st.lists(st.sampled_from(STORIES), min_size=2, max_size=9)


def stories(texts: Sequence[str]) -> list[dhp.Example]:
    return [dhp.Example(f"e{i}", "", text, language="en") for i, text in enumerate(texts)]


@given(outputs, st.randoms(use_true_random=False))
def test_others_are_the_list_without_the_example(texts: list[str], shuffler: random.Random) -> None:
    pool = stories(texts)
    known = Others(shuffler.sample(pool, len(pool)), 0, "d")
    for place, example in enumerate(pool):
        plain = pool[:place] + pool[place + 1 :]
        found = known.of(example)
        assert list(found) == plain
        assert [found[i] for i in range(-len(plain), len(plain))] == plain * 2
        assert found[1:] == plain[1:]
        assert list(other_texts(found, example.output)) == other_texts(plain, example.output)
        for perturb in (random_ending, sentence_insertion):
            made = [
                attempt(perturb.function, example.output, list_or_view) for list_or_view in (plain, found)
            ]
            assert made[0] == made[1]
    assert list(known.of(replace(pool[0], id="unknown"))) == pool
    assert list(known.of(replace(pool[0], language="de"))) == []


def attempt(function: object, text: str, others: Sequence[dhp.Example]) -> str:
    """What a perturber makes of a text, or why it does not."""
    try:
        return str(function(text, random.Random(3), others=others))  # type: ignore[operator]
    except Exception as e:  # noqa: BLE001  compared
        return repr(e)


def test_of_a_large_dataset_the_same_few_are_the_others_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dhp.perturb.apply.MOST", 5)
    pool = stories([f"Text {i}." for i in range(40)])
    first, again, other = (Others(pool, seed, "d") for seed in (1, 1, 2))
    none = replace(pool[0], id="none")
    chosen = {e.id for e in first.of(none)}
    assert len(chosen) == 5
    assert {e.id for e in again.of(none)} == chosen != {e.id for e in other.of(none)}
    for example in pool:
        assert {e.id for e in first.of(example)} == chosen - {example.id}


def test_a_degree_that_is_no_worse_than_the_milder_one_is_not_applicable() -> None:
    short = [
        dhp.Example("one", "", "It cost 5 euros. Nobody paid."),
        dhp.Example("two", "", "From 3 to 4, 5 or 6."),
    ]
    suite = read_suite("general")
    made = {(t.example, t.variant): t for t in perturb(short, suite.variants, find_perturbers())}
    for name in ("sentence_deletion", "wrong_facts"):
        assert made["one", f"{name}.minor"].text
        assert made["one", f"{name}.major"].reason == NO_FARTHER
    assert made["two", "wrong_facts.major"].text != made["two", "wrong_facts.minor"].text
    for (example, variant), text in made.items():
        if variant.endswith(".major") and text.audit:
            minor = made[example, variant.replace("major", "minor")]
            assert minor.audit is not None
            assert text.text != minor.text
