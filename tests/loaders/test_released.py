"""Sets that others released: any of the usual shapes is read alike, and what is unclear is said."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhp.content.catalog import DATASETS, read_suite
from dhp.core.errors import InputError
from dhp.core.records import Example, PerturbedText
from dhp.core.specs import Suite
from dhp.loaders.hub import _below
from dhp.loaders.naming import VariantNames, words
from dhp.loaders.released import Released, is_released, read_released

from .conftest import ROOT, write_csv, write_jsonl, write_parquet

SUITE = read_suite("summeval")
VARIANTS = [v.name for v in SUITE.variants]
WRITERS = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}
IDS = ("x1", "x2")
Rows = list[dict[str, Any]]


def base(i: str) -> dict[str, Any]:
    return {"id": i, "article": f"Article {i}.", "reference_summary": f"Summary {i}."}


def worse(i: str, variant: str) -> str:
    return f"Summary {i} after {variant}."


def flat_rows(suite: Suite = SUITE, column: Callable[[str], str] = lambda v: v.replace(".", "_")) -> Rows:
    return [{**base(i), **{column(v.name): worse(i, v.name) for v in suite.variants}} for i in IDS]


def nested(i: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for v in SUITE.variants:
        found.setdefault(v.perturber, {})[str(v.degree)] = worse(i, v.name)
    return found


SHAPES: dict[str, Rows] = {
    "flat": flat_rows(),
    "titles": flat_rows(
        column=lambda v: "{} ({})".format(*(part.replace("_", " ").title() for part in v.split(".")))
    ),
    "degree first": flat_rows(column=lambda v: "_".join((*v.split(".")[::-1], "output"))),
    "marked": flat_rows(column=lambda v: f"perturbed_{v.replace('.', '-')}"),
    "perturber and degree": [{**base(i), "perturbed": nested(i)} for i in IDS],
    "two columns of mappings": [
        {**base(i), **{f"{p}_outputs": degrees for p, degrees in nested(i).items()}} for i in IDS
    ],
    "variant": [{**base(i), "outputs": {v: worse(i, v) for v in VARIANTS}} for i in IDS],
    "list": [
        {
            **base(i),
            "perturbations": [
                {"type": v.perturber, "degree": v.degree, "text": worse(i, v.name)} for v in SUITE.variants
            ],
        }
        for i in IDS
    ],
    "list without degrees": [
        {**base(i), "all": [{"perturbation": v, "output": worse(i, v)} for v in VARIANTS]} for i in IDS
    ],
    "long": [
        {**base(i), "kind": v.perturber, "degree": v.degree, "perturbed": worse(i, v.name)}
        for v in SUITE.variants
        for i in IDS
    ],
    "long with a row for the original": [
        {"id": i, "document": f"Article {i}.", "Perturbation Type": kind, "perturbed_summary": text}
        for i in IDS
        for kind, text in [("Original", f"Summary {i}."), *((v, worse(i, v)) for v in VARIANTS)]
    ],
}


def released(folder: Path, rows: Rows, form: str = "jsonl", **fields: str) -> Released:
    folder.mkdir(exist_ok=True)
    WRITERS[form](folder / f"test.{form}", rows)
    return read_released(str(folder), "summeval", SUITE, fields)


def fault(folder: Path, rows: Rows, fields: Mapping[str, str] = {}, suite: Suite = SUITE) -> str:
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / "test.jsonl", rows)
    with pytest.raises(InputError) as e:
        read_released(str(folder), "summeval", suite, fields)
    assert "\n" not in str(e.value)
    return str(e.value)


NESTED = {shape for shape, rows in SHAPES.items() if not all(isinstance(v, str) for v in rows[0].values())}


@pytest.mark.parametrize(
    ("shape", "form"),
    [(shape, form) for shape in SHAPES for form in WRITERS if form != "csv" or shape not in NESTED],
)
def test_every_shape_gives_the_same(tmp_path: Path, shape: str, form: str) -> None:
    found = released(tmp_path / "set", SHAPES[shape], form)
    assert [(e.id, e.source, e.output) for e in found.examples] == [
        (i, f"Article {i}.", f"Summary {i}.") for i in IDS
    ]
    assert found.variants == SUITE.variants
    assert [(t.variant, t.example, t.text) for t in found.texts] == [
        (v, i, worse(i, v)) for v in VARIANTS for i in IDS
    ]
    assert all(t.audit and t.audit.edit_distance > 0 for t in found.texts)
    assert set(found.field_map) == {"id", "source", "output", *VARIANTS}


@pytest.mark.parametrize(
    "shape",
    [
        [{**base(i), **row} for i, row in zip(IDS, flat_rows(), strict=True)],
        {"SummEval": flat_rows(), "Story_Cloze": flat_rows()},
        {"version": 1, "data": flat_rows()},
        {i: {k: v for k, v in row.items() if k != "id"} for i, row in zip(IDS, flat_rows(), strict=True)},
        {c: [row[c] for row in flat_rows()] for c in flat_rows()[0]},
    ],
)
def test_json_files(tmp_path: Path, shape: object) -> None:
    (tmp_path / "all.json").write_text(json.dumps(shape), encoding="utf-8")
    found = read_released(str(tmp_path), "summeval", SUITE)
    assert [e.id for e in found.examples] == list(IDS)
    assert found.texts[-1].text == worse("x2", VARIANTS[-1])
    for broken, said in (("[1]", "no table"), ("{", "broken JSON"), ("[]", "is empty")):
        (tmp_path / "all.json").write_text(broken)
        with pytest.raises(InputError, match=said):
            read_released(str(tmp_path), "summeval", SUITE)


def test_the_map_names_paths_and_other_columns_are_fields(tmp_path: Path) -> None:
    rows = [{**row, "year": 1990, "tags": ["a"], "writer": "W"} for row in SHAPES["perturber and degree"]]
    found = released(tmp_path / "set", rows)
    assert found.field_map["random_typos.minor"] == "perturbed.random_typos.minor"
    assert list(found.field_map)[:3] == ["id", "source", "output"]
    assert found.examples[0].fields == {"year": "1990", "writer": "W"}


def test_a_row_without_id_is_known_by_its_number(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "id"} for row in SHAPES["flat"]]
    assert [e.id for e in released(tmp_path / "wide", rows).examples] == ["1", "2"]
    rows = [{k: v for k, v in row.items() if k != "id"} for row in SHAPES["long"]]
    assert [e.id for e in released(tmp_path / "long", rows).examples] == ["1", "2"]


def test_missing_and_unchanged_texts_do_not_apply(tmp_path: Path) -> None:
    rows = flat_rows()
    rows[0]["random_typos_minor"] = None
    rows[0]["random_typos_major"] = " "
    rows[1]["reordering_minor"] = "Summary x2. "
    found = released(tmp_path / "set", rows)
    assert [t for t in found.texts if t.text is None] == [
        PerturbedText("x1", "random_typos.minor", None, "no such text in the set"),
        PerturbedText("x1", "random_typos.major", None, "no such text in the set"),
        PerturbedText("x2", "reordering.minor", None, "equals the original"),
    ]


def test_question_answering_and_stories(tmp_path: Path) -> None:
    suite = read_suite("answer_equivalence")
    rows = [
        {"qid": 5, "context": "C", "question": "Q?", "reference_answer": "A", **row}
        for row in [{v.name: f"{v.name}!" for v in suite.variants}]
    ]
    write_jsonl(tmp_path / "answer-equivalence.jsonl", rows)
    found = read_released(str(tmp_path), "answer_equivalence", suite)
    assert found.examples == (Example("5", "C", "A", {"question": "Q?"}),)
    assert found.field_map["question"] == "question"
    suite = read_suite("story_cloze")
    columns = {v.name: f"{v.name}!" for v in suite.variants}
    story = {"Story": "S", "Right Ending": "E", **columns, "random_typos": "y", "grammatical_errors": "g"}
    write_jsonl(tmp_path / "StoryCloze.jsonl", [story])
    found = read_released(str(tmp_path), "story_cloze", suite)
    assert (found.examples[0].output, found.field_map["wrong_ending"]) == ("E", "wrong_ending")
    assert found.field_map["random_ending"] == "random_ending"


STYLES: dict[str, Callable[[list[str]], str]] = {
    "snake": "_".join,
    "kebab": "-".join,
    "spaces": " ".join,
    "dots": ".".join,
    "squashed": "".join,
    "camel": lambda parts: parts[0] + "".join(p.title() for p in parts[1:]),
    "pascal": lambda parts: "".join(p.title() for p in parts),
    "title": lambda parts: " ".join(parts).title(),
    "shouted": lambda parts: "_".join(parts).upper(),
    "brackets": lambda parts: f"{' '.join(parts[:-1])} ({parts[-1]})" if len(parts) > 1 else parts[0],
}
SOURCES = [["article"], ["source", "text"], ["src"]]
OUTPUTS = [["summary"], ["original", "output"], ["ref"]]
ASIDE = [[], ["perturbed"], ["output"]]


@settings(max_examples=150)
@given(
    dataset=st.sampled_from(DATASETS),
    style=st.sampled_from(sorted(STYLES)),
    source=st.sampled_from(SOURCES),
    output=st.sampled_from(OUTPUTS),
    before=st.sampled_from(ASIDE),
    after=st.sampled_from(ASIDE[:1] + ASIDE[2:]),
    turned=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_order_case_and_separators_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    dataset: str,
    style: str,
    source: list[str],
    output: list[str],
    before: list[str],
    after: list[str],
    turned: bool,
    seed: int,
) -> None:
    suite, named = read_suite(dataset), {}
    for v in suite.variants:
        parts = v.perturber.split("_")
        if v.degree is not None:
            parts = [v.degree, *parts] if turned else [*parts, v.degree]
        named[v.name] = STYLES[style]([*before, *parts, *after])
    named |= {"source": STYLES[style](source), "output": STYLES[style](output), "id": STYLES[style](["id"])}
    columns = sorted(named)
    random.Random(seed).shuffle(columns)
    folder = tmp_path_factory.mktemp("set")
    write_jsonl(folder / "x.jsonl", [{named[ours]: f"text {ours}" for ours in columns}])
    found = read_released(str(folder), dataset, suite)
    assert found.field_map == named
    assert {t.variant: t.text for t in found.texts} == {v.name: f"text {v.name}" for v in suite.variants}


@pytest.mark.parametrize(
    ("column", "variant"),
    [
        ("typos_minor", "random_typos.minor"),
        ("minor_typo", "random_typos.minor"),
        ("Deletions (Major)", "random_deletions.major"),
        ("char_deletion_major", "random_deletions.major"),
        ("NER_minor", "fictional_named_entities.minor"),
        ("entities-major", "fictional_named_entities.major"),
        ("fictionalEntitiesMinor", "fictional_named_entities.minor"),
        ("grammar_minor", "grammatical_errors.minor"),
        ("Grammar Mistakes major", "grammatical_errors.major"),
        ("reorder_major", "reordering.major"),
        ("shuffled_minor", "reordering.minor"),
        ("rewriting_minor", "rewriting_insertion.minor"),
        ("sentence insertion major", "rewriting_insertion.major"),
    ],
)
def test_abbreviations(tmp_path: Path, column: str, variant: str) -> None:
    rows = flat_rows(column=lambda v: column if v == variant else v)
    assert released(tmp_path / "set", rows).field_map[variant] == column


def test_deletions_of_letters_and_of_words(tmp_path: Path) -> None:
    suite = read_suite("wmt22_deen")
    kept = [v.name for v in suite.variants if "deletions" not in v.name]
    names = VariantNames(suite, "x")
    clear = [
        "random deletions minor",
        "major random deletions",
        "Word Deletions Minor",
        "random_word_deletions_major",
    ]
    found = names.columns([*kept, *clear], {})
    assert [found[f"random_deletions.{d}"] for d in ("minor", "major")] == clear[:2]
    assert [found[f"word_deletions.{d}"] for d in ("minor", "major")] == clear[2:]
    with pytest.raises(
        InputError, match=r"'deletions_minor' could be 'random_deletions.minor' and 'word_del"
    ):
        names.columns([*kept, "deletions_minor"], {})


@pytest.mark.parametrize(
    "column", ["identity", "generator", "reading_level", "partner", "type", "wordcount", "text"]
)
def test_words_within_words_mean_nothing(tmp_path: Path, column: str) -> None:
    rows = [{**row, column: "aside"} for row in flat_rows()]
    assert released(tmp_path / "set", rows).examples[0].fields == {column: "aside"}


def test_the_words_of_names() -> None:
    assert words("perturbed.RandomTypos[minor]") == ("perturbed", "random", "typo", "minor")
    assert words("nameOfThing2") == ("name", "of", "thing", "2")


def without(name: str) -> Rows:
    return [{k: v for k, v in row.items() if k != name} for row in flat_rows()]


def with_column(name: str, value: object = "text") -> Rows:
    return [{**row, name: value} for row in flat_rows()]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            with_column("typos_minor"),
            "columns 'random_typos_minor' and 'typos_minor' could each be 'random_t",
        ),
        (with_column("typos"), "column 'typos' could be 'random_typos.minor' and 'random_typos.major'"),
        (
            with_column("word_deletions_minor"),
            "column 'word_deletions_minor' is no variant of suite 'summeval'",
        ),
        (with_column("perturbed_swaps"), "column 'perturbed_swaps' is no variant of suite 'summeval'"),
        (with_column("swaps.major"), "column 'swaps.major' is no variant of suite 'summeval'"),
        (with_column("document"), "columns 'article' and 'document' could each be the source"),
        (
            with_column("gold_answer"),
            "columns 'reference_summary' and 'gold_answer' could each be the output",
        ),
        (
            [{k: v for k, v in row.items() if k != "article"} for row in flat_rows()],
            "no column for the source",
        ),
        (without("reordering_major"), "no column for variant 'reordering.major' of suite 'summeval'; say wh"),
        (flat_rows() + flat_rows()[:1], "line 3: id 'x1' stands twice (first at"),
        ([{**flat_rows()[0], "article": ""}], "line 1: column 'article' is empty"),
        (
            [flat_rows()[0], {**flat_rows()[1], "random_typos_minor": ["a"]}],
            "line 2: column 'random_typos_minor'",
        ),
        (
            SHAPES["long"] + SHAPES["long"][:1],
            "'perturbed.random_deletions.minor' of this example stands twice",
        ),
        (
            [{**SHAPES["long"][0], "kind": "swaps"}, *SHAPES["long"]],
            "column 'perturbed.swaps.minor' is no variant",
        ),
        (
            [*SHAPES["long"], {**SHAPES["long"][0], "kind": "x", "article": "B"}],
            "line 25: column 'article' differs from",
        ),
        (
            [{**row, "id": str(n)} for n, row in enumerate(SHAPES["long"])],
            "each row has an id of its own in 'id'",
        ),
        (
            [{**base("a"), "all": [{"type": "typos", "degree": "minor", "text": t} for t in "xy"]}],
            "line 1: 'all.typos.minor' stands twice",
        ),
        (
            [{**base("a"), "all": [{"type": "typos", "note": "x"}]}],
            "line 1: column 'all': an entry has 0 texts",
        ),
    ],
)
def test_planted_faults(tmp_path: Path, rows: Rows, expected: str) -> None:
    said = fault(tmp_path / "set", rows)
    assert expected in said
    assert said.startswith(str(tmp_path / "set"))


def test_an_unclear_column_error_lists_the_variants_and_the_way_out(tmp_path: Path) -> None:
    said = fault(tmp_path / "set", with_column("typos"))
    assert "--field VARIANT=COLUMN" in said
    assert all(variant in said for variant in VARIANTS)


def test_field_settles_what_is_unclear(tmp_path: Path) -> None:
    rows = [{**row, "typos_minor": "other", "document": "D", "perturbed_swaps": "s"} for row in flat_rows()]
    given_fields = {"random_typos.minor": "typos_minor", "source": "document", "note": "perturbed_swaps"}
    given_fields["old"] = "random_typos_minor"
    found = released(tmp_path / "set", rows, **given_fields)
    assert found.field_map["random_typos.minor"] == "typos_minor"
    assert found.examples[0].source == "D"
    assert found.examples[0].fields == {
        "article": "Article x1.",
        "note": "s",
        "old": worse("x1", "random_typos.minor"),
    }
    long = [
        {**base(row["id"]), "how": row["kind"], "much": row["degree"], "bad": row["perturbed"]}
        for row in SHAPES["long"]
    ]
    found = released(tmp_path / "long", long, kind="how", degree="much", perturbed="bad")
    assert found.field_map["random_typos.minor"] == "bad.random_typos.minor"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"random_typo.minor": "article"},
            "--field random_typo.minor: no such variant; did you mean 'random_typ",
        ),
        ({"source": "artikle"}, "column 'artikle', mapped to 'source', is missing; did you mean 'article'?"),
        ({"kind": "knd"}, "column 'knd', mapped to 'kind', is missing"),
    ],
)
def test_wrong_fields(tmp_path: Path, fields: dict[str, str], expected: str) -> None:
    assert expected in fault(tmp_path / "set", flat_rows(), fields)


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("SummEval", "summeval"),
        ("summ_eval-v1.1", "summeval"),
        ("Story_Cloze", "story_cloze"),
        ("storycloze", "story_cloze"),
        ("Answer Equivalence", "answer_equivalence"),
        ("WMT22_De-En", "wmt22_deen"),
        ("wmt_zh_en", "wmt22_zhen"),
        ("zh-en", "wmt22_zhen"),
        ("WMT-2022.zh-en", "wmt22_zhen"),
    ],
)
def test_subsets_by_folder_and_by_file(tmp_path: Path, name: str, dataset: str) -> None:
    suite = read_suite(dataset)
    rows = [{**row, "called": name} for row in flat_rows(suite)]
    others = {"sumpubmed": "SumPubMed", "wmt22_deen": "WMT22 de-en", "wmt22_zhen": "wmt22_zh-en"}
    for called, content in [(name, rows), *((o, flat_rows()) for d, o in others.items() if d != dataset)]:
        (tmp_path / "folders" / called).mkdir(parents=True)
        write_jsonl(tmp_path / "folders" / called / "test.jsonl", content)
        (tmp_path / "files").mkdir(exist_ok=True)
        write_jsonl(tmp_path / "files" / f"{called}.jsonl", content)
    for folder in (tmp_path / "folders", tmp_path / "files", tmp_path / "folders" / name):
        assert read_released(str(folder), dataset, suite).examples[0].fields == {"called": name}


def test_subsets_that_are_not_there_or_there_twice(tmp_path: Path) -> None:
    for name in ("SummEval", "Foo"):
        (tmp_path / name).mkdir()
        write_jsonl(tmp_path / name / "test.jsonl", flat_rows())

    def said(dataset: str = "story_cloze") -> str:
        with pytest.raises(InputError) as e:
            read_released(str(tmp_path), dataset, read_suite(dataset))
        return str(e.value)

    assert said() == f"{tmp_path}: nothing is called like 'story_cloze'; allowed: Foo, SummEval"
    (tmp_path / "Stroy_Cloze").mkdir()
    write_jsonl(tmp_path / "Stroy_Cloze" / "test.jsonl", flat_rows())
    assert "nothing is called like 'story_cloze'; did you mean 'Stroy_Cloze'?" in said()
    write_jsonl(tmp_path / "SummEval" / "train.jsonl", flat_rows())
    assert "2 files could be 'summeval' (SummEval/test, SummEval/train)" in said("summeval")


def test_shards_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "SummEval").mkdir()
    for n, row in enumerate(flat_rows()):
        write_parquet(tmp_path / "SummEval" / f"test-0000{n}-of-00002.parquet", [row])
    assert [e.id for e in read_released(str(tmp_path), "summeval", SUITE).examples] == list(IDS)


def test_what_is_released(tmp_path: Path) -> None:
    assert is_released("hf:org/name")
    assert not is_released(str(tmp_path))
    assert not is_released(str(tmp_path / "absent"))
    write_jsonl(tmp_path / "x.jsonl", [{"a": 1}])
    assert is_released(str(tmp_path))
    assert not is_released(str(tmp_path / "x.jsonl"))
    (tmp_path / "card.json").write_text("{}")
    assert not is_released(str(tmp_path))
    for name, said in (("absent", "does not exist"), ("x.jsonl", "no folder with tables")):
        with pytest.raises(InputError, match=said):
            read_released(str(tmp_path / name), "summeval", SUITE)


HUB = """
import json, sys
from dhp.content.catalog import read_suite
from dhp.core.errors import InputError
from dhp.loaders.released import read_released
for argument in sys.argv[1:]:
    dataset, _, name = argument.partition("=")
    try:
        found = read_released(name, dataset, read_suite(dataset))
        print(json.dumps([[e.output for e in found.examples], [t.text for t in found.texts][:1]]))
    except InputError as e:
        print(json.dumps(str(e)))
"""
CONFIGURED = """---
configs:
- config_name: SummEval
  data_files: [{split: test, path: one.jsonl}]
- config_name: Sum_PubMed
  data_files: [{split: test, path: two.jsonl}]
---
"""
SPLIT = """---
configs:
- config_name: perturbed
  data_files: [{split: SummEval, path: one.jsonl}, {split: SumPubMed, path: two.jsonl}]
---
"""
ONE = """---
configs:
- config_name: SummEval
  data_files: [{split: test, path: one.jsonl}]
---
"""


def test_files_of_a_repository_are_known_by_their_paths_in_it() -> None:
    assert _below("hf://datasets/org/name@0f1e/Summ/x.jsonl", "datasets/org/name") == "Summ/x.jsonl"
    assert _below("/data/set/Summ/x.jsonl", "/data/set") == "Summ/x.jsonl"


def test_hugging_face_configurations_splits_and_folders(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    pubmed = [{**row, "reference_summary": "Abstract."} for row in SHAPES["list"]]
    for name, readme in (("configured", CONFIGURED), ("split", SPLIT), ("single", ONE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(readme)
        write_jsonl(tmp_path / name / "one.jsonl", SHAPES["list"])
        write_jsonl(tmp_path / name / "two.jsonl", pubmed)
    for subset, rows in (("SummEval", SHAPES["list"]), ("SumPubMed", pubmed)):
        (tmp_path / "folders" / subset).mkdir(parents=True)
        write_jsonl(tmp_path / "folders" / subset / "test.jsonl", rows)
    asked = [f"{d}=hf:./{f}" for f in ("configured", "split", "folders") for d in ("summeval", "sumpubmed")]
    asked += [f"story_cloze=hf:./{f}" for f in ("configured", "split", "folders")]
    asked += [
        "story_cloze=hf:./single",
        "summeval=hf:./single",
        "summeval=hf:./folders:test",
        "summeval=hf:./configured:tset",
    ]
    places = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", HUB, *asked],
        cwd=tmp_path,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    first = [worse("x1", VARIANTS[0])]
    assert printed[:6] == [[[f"Summary {i}." for i in IDS], first], [["Abstract."] * 2, first]] * 3
    for absent in printed[6:10]:
        assert "nothing is called like 'story_cloze'; allowed: Sum" in absent
    assert printed[10] == printed[11] == printed[0]
    assert "no split 'tset'; did you mean 'test'?" in printed[12]
