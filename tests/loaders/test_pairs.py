"""Ready-made pairs: examples, variants and degraded texts out of tables of many forms."""

import itertools
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.core.specs import PairColumns, PairMap
from dhp.core.tables import Row, table
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import id_of_texts, read_pairs
from dhp.loaders.user import columns_of, from_table, read_texts

from .conftest import TASK, write_csv


def pair(id: str, text: object, **more: object) -> dict[str, object]:
    return {"id": id, "source": f"S{id}", "output": f"O{id}", "perturbed": text, **more}


def read(*rows: Mapping[str, Any], form: PairMap | None = None, **fields: str) -> Dataset:
    columns = dict.fromkeys(c for row in rows for c in row)
    found = table("t", columns, [Row(f"t: row {i}", row) for i, row in enumerate(rows, 1)])
    if form is not None:
        return read_pairs("t", found, form, TASK)
    return from_table("t", found, TASK, columns_of(found, fields, TASK), {})


def message(*rows: Mapping[str, Any], form: PairMap | None = None, **fields: str) -> str:
    with pytest.raises(InputError) as e:
        read(*rows, form=form, **fields)
    assert "\n" not in str(e.value)
    return str(e.value)


def texts(found: Dataset) -> list[tuple[str, str, str | None]]:
    return [(t.example, t.variant, t.text) for t in found.pairs]


def test_pairs_become_examples_variants_and_texts(tmp_path: Path) -> None:
    rows: list[Mapping[str, object]] = [
        pair("a", "bad", kind="typos", level="character", note="n"),
        pair("b", "worse", kind="typos", level="character", note="m"),
        pair("a", "cut", kind="cut", level="", note="other"),
    ]
    found = read_texts(write_csv(tmp_path / "x.csv", rows), TASK)
    assert found.examples == (
        Example("a", "Sa", "Oa", {"note": "other"}),
        Example("b", "Sb", "Ob", {"note": "m"}),
    )
    assert found.pair_variants == (
        Variant("cut", "cut", "given", "given", None),
        Variant("typos", "typos", "character", "given", None),
    )
    assert found.pairs[1].audit == Audit(None, None, 2, 0.333333)
    assert [replace(t, audit=None) for t in found.pairs] == [
        PerturbedText("a", "cut", "cut"),
        PerturbedText("a", "typos", "bad"),
        PerturbedText("b", "typos", "worse"),
    ]


def test_pairs_without_kinds_and_with_mapped_columns() -> None:
    found = read({"source": "S", "good": "O", "bad": "P"}, output="good", perturbed="bad")
    known_by = id_of_texts("S", "O", {})
    assert found.examples == (Example(known_by, "S", "O"),)
    assert found.pair_variants == (Variant("perturbed", "perturbed", "given", "given", None),)
    assert texts(found) == [(known_by, "perturbed", "P")]


def test_degrees_are_part_of_the_variant() -> None:
    found = read(pair("a", "x", kind="cut", degree="minor"), pair("a", "y", kind="cut", degree="major"))
    assert [(v.name, v.perturber, v.degree) for v in found.pair_variants] == [
        ("cut.major", "cut", "major"),
        ("cut.minor", "cut", "minor"),
    ]
    assert len(found.examples) == 1


@pytest.mark.parametrize("yes", [True, 1, "yes", "Control", "TRUE"])
def test_control_rows_become_controls(yes: object) -> None:
    found = read(
        pair("a", "x", kind="edit", control=yes),
        pair("b", "y", kind="edit", control=False),
        pair("b", "z", kind="paraphrase", control=yes),
        pair("c", "v", kind="cut", control=None),
    )
    assert [(v.name, v.level) for v in found.pair_variants] == [
        ("cut", "given"),
        ("edit_control", "control"),
        ("edit", "given"),
        ("paraphrase", "control"),
    ]
    said = "t: row 1: column 'control' is 'perhaps'; allowed: 1, true, yes, control or 0, false, no"
    assert said in message(pair("a", "x", control="perhaps"))
    assert read(pair("a", "x", level="control")).pair_variants[0].level == "control"


LABELS = [
    ("output_1", "output_2", 1, 2),
    ("output_1", "output_2", "output_1", "output_2"),
    ("response_A", "response_B", "A>B", "B>A"),
    ("response_A", "response_B", "A>>B", "A<B"),
    ("answer_a", "answer_b", "model_a", "model_b"),
    ("answers[0]", "answers[1]", 0, 1),
    ("left text", "right text", "Left", "Right"),
]


@pytest.mark.parametrize(("first", "second", "one", "other"), LABELS)
def test_the_better_text_is_the_original(first: str, second: str, one: object, other: object) -> None:
    def row(i: str, label: object) -> dict[str, object]:
        held: dict[str, object] = {first: f"first {i}", second: f"second {i}"}
        if "[" in first:
            held = {"answers": list(held.values())}
        return {"id": i, "source": "S", "label": label, **held}

    found = read(
        row("a", one), row("b", other), row("c", "tie"), output=first, perturbed=second, better="label"
    )
    assert [(e.id, e.output) for e in found.examples] == [("a", "first a"), ("b", "second b")]
    assert texts(found) == [("a", "perturbed", "second a"), ("b", "perturbed", "first b")]


def test_a_preference_from_1_to_2_names_the_first_or_the_second_or_neither() -> None:
    """As AlpacaEval writes it."""
    shares = {"a": 1.0, "b": 2.0, "c": 1.5, "d": 1.0003, "e": 1.9, "f": "2.0"}
    rows = [
        {"id": i, "source": "S", "output_1": f"first {i}", "output_2": f"second {i}", "preference": share}
        for i, share in shares.items()
    ]
    found = read(*rows, output="output_1", perturbed="output_2", better="preference")
    assert [e.output for e in found.examples] == ["first a", "second b", "first d", "second e", "second f"]
    counted = [{"id": "a", "source": "S", "text_0": "first", "text_1": "second", "label": 1.0}]
    (example,) = read(*counted, output="text_0", perturbed="text_1", better="label").examples
    assert example.output == "second", "counted from 0"


@pytest.mark.parametrize("answering", ["assistant", "model", "gpt"])
def test_texts_may_be_lists_of_messages(answering: str) -> None:
    def chat(answer: str, *before: str) -> list[dict[str, str]]:
        roles = ("user", answering)
        return [{"role": roles[k % 2], "content": text} for k, text in enumerate((*before, answer))]

    rows = [
        {"chosen": chat("Good.", "Why?"), "rejected": chat("Bad.", "Why?")},
        {"chosen": chat("Yes.", "A?", "B.", "C?"), "rejected": chat("No.", "A?", "B.", "C?")},
        {"chosen": chat("Yes.", "A?"), "rejected": chat(" ", "A?")},
    ]
    found = read(*rows, source="chosen", output="chosen", perturbed="rejected")
    damaged = {example: text for example, _, text in texts(found)}
    assert {(e.source, e.output, damaged[e.id]) for e in found.examples} == {
        ("Why?", "Good.", "Bad."),
        (f"User: A?\n\n{answering.capitalize()}: B.\n\nUser: C?", "Yes.", "No."),
    }


def test_labels_that_name_no_column_are_refused() -> None:
    fields = {"output": "output_1", "perturbed": "output_2", "better": "label"}
    row = {"source": "S", "output_1": "a", "output_2": "b", "label": 3}
    said = "t: row 1: column 'label' is '3'; allowed: '1' or '2' for the better of 'output_1' and 'output_2'"
    assert said in message(row, **fields)
    plain = {"source": "S", "output": "O", "label": 1}
    said = "`fields` better= needs two texts; map them by `fields` output=COLUMN"
    assert said in message(plain, better="label")


def test_equal_empty_tied_and_repeated_pairs_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    rows = [
        pair("a", "x"),
        pair("a", "x"),
        pair("b", "Ob "),
        pair("c", " "),
        {**pair("d", "x"), "source": ""},
        {**pair("e", "x"), "output": None},
    ]
    with caplog.at_level(logging.WARNING):
        found = read(*rows)
    assert texts(found) == [("a", "perturbed", "x")]
    assert caplog.messages == ["t: left out of 6 pairs: 1 equal, 3 without text, 1 duplicate"]
    said = "t: no pair is left (1 equal, 1 without text); allowed: pairs of two different texts"
    assert message(*rows[2:4]) == said


def test_one_id_for_several_examples() -> None:
    found = read(
        pair("a", "x", kind="k"),
        {**pair("a", "x", kind="k"), "output": "other"},
        {**pair("a", "y", kind="l"), "output": "other"},
        pair("a~2", "x", kind="k"),
    )
    assert [(e.id, e.output, e.fields) for e in found.examples] == [
        ("a", "Oa", {"cluster": "a"}),
        ("a~2", "other", {"cluster": "a"}),
        ("a~2~2", "Oa~2", {}),
    ]
    assert texts(found) == [("a", "k", "x"), ("a~2", "k", "x"), ("a~2", "l", "y"), ("a~2~2", "k", "x")]


def test_one_original_with_many_damages() -> None:
    same_kind = read(pair("a", "x"), pair("a", "y"), pair("a", "z"))
    assert [(e.id, e.output, e.fields["cluster"]) for e in same_kind.examples] == [
        ("a", "Oa", "a"),
        ("a~2", "Oa", "a"),
        ("a~3", "Oa", "a"),
    ]
    without_ids = [{"source": "S", "output": "O", "perturbed": t, "kind": k} for t, k in ("xk", "yl", "zk")]
    rows = [*without_ids, {"source": "S", "output": "P", "perturbed": "x", "kind": "k"}]
    one, other = id_of_texts("S", "O", {}), id_of_texts("S", "P", {})
    expected = {(one, "k", "x"), (one, "l", "y"), (f"{one}~2", "k", "z"), (other, "k", "x")}
    for order in itertools.permutations(rows):
        found = read(*order)
        assert set(texts(found)) == expected
        assert (found.examples, found.pairs) == (read(*rows).examples, read(*rows).pairs)


def test_questions_tell_examples_apart() -> None:
    rows = [
        {"source": "S", "output": "O", "perturbed": "x", "question": q, "note": n}
        for q, n in ("qa", "qb", "rc")
    ]
    found = table("t", rows[0], [Row("t", row) for row in rows])
    task = read_task("question_answering")
    told = from_table("t", found, task, columns_of(found, {}, task), {})
    assert sorted(e.fields["question"] for e in told.examples) == ["q", "r"]


FORM = PairMap(
    fields={"id": "id", "source": "prompt", "kind": "kind"},
    where={"split": ["test"]},
    each=[
        PairColumns(fields={"output": "good[0]", "perturbed": "bad[0]"}, values={"degree": "short"}),
        PairColumns(fields={"output": "good[1]", "perturbed": "bad[1]"}, values={"degree": "long"}),
    ],
    kind_pattern="^x_(.+)$",
    levels={"word": ["swap*"], "rest": ["*"]},
)
NESTED = {"id": 7, "prompt": "P", "kind": "x_swaps", "good": ["a", "b"], "bad": ["c", "d"], "split": "test"}


def test_a_form_names_several_pairs_a_row() -> None:
    found = read(NESTED, {**NESTED, "split": "dev"}, form=FORM)
    assert [(e.id, e.output) for e in found.examples] == [("7", "a"), ("7~2", "b")]
    assert [(v.name, v.level) for v in found.pair_variants] == [
        ("swaps.short", "word"),
        ("swaps.long", "word"),
    ]
    assert read({**NESTED, "kind": "cuts"}, form=FORM).pair_variants[0].level == "rest"
    absent = {k: v for k, v in NESTED.items() if k != "bad"}
    said = "t: column 'bad[0]' for 'perturbed' is missing; map it by --field perturbed=COLUMN; allowed: good"
    assert said in message(absent, form=FORM)
    plain = PairMap(fields={"output": "prompt"})
    assert "no column for 'perturbed'; map it by --field perturbed=COLUMN" in message(NESTED, form=plain)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (pair("b", "c", kind="original"), "t: row 2: kind 'original'"),
        (pair("b", "c", level="word"), "t: row 2: kind 'perturbed' has level 'word'; allowed: given"),
        (
            pair("b", ["c"]),
            "t: row 2: column 'perturbed' holds a list; must be text, or a path to one, e.g. perturbed[0]",
        ),
        ({**pair("b", "c"), "id": ""}, "t: row 2: column 'id' is empty"),
    ],
)
def test_contradicting_pairs(second: dict[str, object], expected: str) -> None:
    assert expected in message(pair("a", "bad"), second)


words = st.text("ab ", max_size=3)
tables = st.lists(
    st.tuples(st.sampled_from("xy"), words, words, st.sampled_from("kl")), min_size=1, max_size=12
)


@given(tables)
def test_every_pair_is_kept_once_or_counted(rows: list[tuple[str, str, str, str]]) -> None:
    given_rows = [{"id": i, "source": "S", "output": o, "perturbed": p, "kind": k} for i, o, p, k in rows]
    wanted = {(i, o, p, k) for i, o, p, k in rows if o.strip() and p.strip() and o.strip() != p.strip()}
    if not wanted:
        assert "no pair is left" in message(*given_rows)
        return
    found = read(*given_rows)
    outputs = {e.id: e.output for e in found.examples}
    made = [(t.example.partition("~")[0], outputs[t.example], t.text, t.variant) for t in found.pairs]
    assert sorted(made) == sorted(wanted)
    assert len({(t.example, t.variant) for t in found.pairs}) == len(made)
