"""Published sets of pairs: read by their cards, exactly as their authors give them."""

import csv
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dhp.content.catalog import DATASETS, names_of, read_card, read_task
from dhp.core.errors import InputError
from dhp.loaders.dataset import Dataset
from dhp.loaders.fetch import load_prepared, prepare
from dhp.loaders.published import read_set
from dhp.loaders.resolve import resolve_datasets

from .conftest import write_json, write_jsonl, write_parquet

SETS = [name for name in names_of("dataset") if name not in DATASETS]
Rows = list[dict[str, Any]]


def read(name: str, path: Path) -> Dataset:
    return read_set(read_card(name), path)


def variants(found: Dataset) -> dict[str, str]:
    return {v.name: v.level for v in found.pair_variants}


def texts(found: Dataset) -> list[tuple[str, str, str | None]]:
    return [(t.example, t.variant, t.text) for t in found.pairs]


def write_tsv(path: Path, rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)


def test_the_named_sets_and_what_their_cards_say() -> None:
    assert SETS == [
        "aces",
        "bump",
        "demetr",
        "fbi",
        "judgebench",
        "llmbar",
        "rewardbench2",
        "rm_bench",
        "summexecedit",
    ]
    for card in map(read_card, SETS):
        assert card.pairs
        assert all((card.licence, card.citation, card.homepage, card.access, card.selection))
        assert card.n is card.paper is card.released is None
        assert read_task(card.task).translations.keys() == {"zh"}


# Small files of their form -----------------------------------------------------------------------------


def test_bump(tmp_path: Path) -> None:
    row = {"article_id": "628", "article": "A", "reference_summary": "S", "scores": "{}", "id": "0"}
    kinds = ["Extrinsic Circumstance Error", "Coreference Error"]
    rows = [{**row, "edited_summary": f"S {k}", "corrected_error_type": k} for k in kinds]
    write_json(tmp_path / "data" / "task1_dataset.json", rows)
    write_json(tmp_path / "data" / "task2_dataset.json", [{"other": 1}])
    found = read("bump", tmp_path)
    assert [(e.id, e.source, e.output, e.fields) for e in found.examples] == [("628", "A", "S", {})]
    assert variants(found) == dict.fromkeys(kinds, "word")
    assert len(read("bump", tmp_path / "data" / "task1_dataset.json").pairs) == 2


def demetr_row(name: str, severity: str, text: str, check: str = "True", id: str = "1") -> dict[str, str]:
    said = {"id": id, "src_sent": "Q", "eng_sent": "R", "mt_sent": "A b.", "pert_sent": text}
    return {**said, "pert_name": name, "severity": severity, "pert_check": check}


def test_demetr(tmp_path: Path) -> None:
    files = {
        "critical_id8_negation": [("critical", "Not a b.", "True"), ("critical", "A b.", "False")],
        "minor_id28_final_punc_removed": [("minor", "A b", "True")],
        "minor_id12_conj_removed": [("minor", "A.", "True")],
        "base_id33_empty": [("base", "", "True")],
        "base_id35_reference": [("base", "R", "True")],
        "minor_id13_pos_shift": [("minor", "b A.", "True")],
    }
    for name, rows in files.items():
        made = [demetr_row(name, *row, id=str(i)) for i, row in enumerate(rows)]
        write_json(tmp_path / "dataset" / f"{name}.json", made)
    found = read("demetr", tmp_path)
    assert variants(found) == {
        "reference.base": "control",
        "negation.critical": "word",
        "conj_removed.minor": "word",
        "pos_shift.minor": "sentence",
        "final_punc_removed.minor": "character",
    }
    assert [(e.id, e.fields) for e in found.examples] == [("0", {"reference": "R"})]


def test_aces(tmp_path: Path) -> None:
    row = {"source": "Q", "good-translation": "A", "reference": "R", "langpair": "de-en", "ID": 3}
    kinds = {
        "addition": "addition",
        "punctuation:deletion_commas": "punctuation",
        "real-world-knowledge-entailment": "real_world_knowledge",
        "hallucination-date-time": "mistranslation",
    }
    rows = [{**row, "incorrect-translation": f"A {k}", "phenomena": k} for k in kinds]
    rows.append({**rows[0], "langpair": "en-de"})
    found = read("aces", write_jsonl(tmp_path / "challenge_set.jsonl", rows))
    assert variants(found) == kinds
    assert [(e.id, e.fields) for e in found.examples] == [("1", {"reference": "R", "language_pair": "de-en"})]


def test_summexecedit_keeps_edits_that_harm_nothing_as_controls(tmp_path: Path) -> None:
    row = {"doc_id": "d", "doc": "D", "original_summary": "S", "domain": "news", "explanation": "e"}
    rows = [{**row, "edited_summary": t, "label": label} for t, label in (("T", 0), ("U", 1), ("V", 0))]
    path = write_json(tmp_path / "defies_summedits_final_all_combined.json", rows)
    found = read("summexecedit", path)
    assert variants(found) == {"executable_edit": "word", "executable_edit_control": "control"}
    assert texts(found) == [
        ("d", "executable_edit", "T"),
        ("d", "executable_edit_control", "U"),
        ("d~2", "executable_edit", "V"),
    ]
    assert found.examples[0].fields == {"cluster": "d", "domain": "news"}
    write_json(path, [{**{k: v for k, v in r.items() if k != "label"}, "ok": r["label"]} for r in rows])
    with pytest.raises(
        InputError, match=r"column 'label' for 'control' is missing; .* --field control=COLUMN"
    ):
        read("summexecedit", path)
    assert read_set(read_card("summexecedit"), path, {"control": "ok"}) == found


def test_fbi_in_a_folder_or_archive(tmp_path: Path) -> None:
    def row(i: int, text: str) -> dict[str, str]:
        return {"cdx": f"c-{i}", "question": 'Why "so"?', "og": f"Line 1\nLine {i}", "perturbed_gpt4": text}

    write_tsv(tmp_path / "fbi" / "factual" / "contextual-errors.tsv", [row(1, "x"), row(1, "y"), row(2, "x")])
    write_tsv(
        tmp_path / "fbi" / "score-invariant" / "reordering.tsv", [row(1, "x"), row(2, "Line 1\nLine 2")]
    )
    write_tsv(tmp_path / "fbi" / "assets" / "other.tsv", [{"a": "b"}])
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        for path in sorted((tmp_path / "fbi").rglob("*.tsv")):
            archive.write(path, f"data/{path.relative_to(tmp_path / 'fbi')}")
    found = read("fbi", tmp_path / "fbi")
    assert variants(found) == {"contextual-errors": "factual", "reordering": "control"}
    assert [(e.id, e.source, e.output) for e in found.examples] == [
        ("c-1", 'Why "so"?', "Line 1\nLine 1"),
        ("c-1~2", 'Why "so"?', "Line 1\nLine 1"),
        ("c-2", 'Why "so"?', "Line 1\nLine 2"),
    ]
    assert read("fbi", tmp_path / "data.zip") == found


def test_llmbar(tmp_path: Path) -> None:
    row = {"input": "I", "output_1": "one", "output_2": "two"}
    for folder, label in (("Natural", 1), ("Adversarial/GPTInst", 2)):
        write_json(tmp_path / "Dataset" / "LLMBar" / folder / "dataset.json", [{**row, "label": label}])
    write_json(tmp_path / "Dataset" / "LLMBar" / "Natural" / "evaluators" / "x" / "result.json", [{"a": 1}])
    found = read("llmbar", tmp_path)
    assert variants(found) == {"GPTInst": "adversarial", "Natural": "natural"}
    assert {(e.source, e.output) for e in found.examples} == {("I", "one"), ("I", "two")}


def test_judgebench(tmp_path: Path) -> None:
    row = {"question": "Q", "response_model": "m", "response_A": "a", "response_B": "b", "original_id": "o"}
    rows = [
        {**row, "pair_id": "1", "source": "mmlu-pro-law", "label": "A>B"},
        {**row, "pair_id": "2", "source": "livecodebench", "label": "B>A"},
    ]
    found = read("judgebench", write_jsonl(tmp_path / "gpt-00000-of-00001.jsonl", rows).parent)
    assert variants(found) == {"mmlu-pro-law": "knowledge", "livecodebench": "coding"}
    assert [(e.id, e.source, e.output) for e in found.examples] == [("1", "Q", "a"), ("2", "Q", "b")]


def test_rm_bench_pairs_answers_of_one_style(tmp_path: Path) -> None:
    row = {"id": 4, "prompt": "P", "chosen": ["a", "b", "c"], "rejected": ["x", "y", "z"], "domain": "math"}
    found = read("rm_bench", write_json(tmp_path / "total_dataset.json", [row]))
    assert texts(found) == [
        ("4", "math.concise", "x"),
        ("4~2", "math.plain", "y"),
        ("4~3", "math.markdown", "z"),
    ]
    assert set(variants(found).values()) == {"answer"}


def test_rewardbench2_keeps_each_worse_answer(tmp_path: Path) -> None:
    row = {"id": "1", "prompt": "P", "chosen": ["a"], "rejected": ["x", "y", "z"], "subset": "Math"}
    found = read("rewardbench2", write_parquet(tmp_path / "test-00000-of-00001.parquet", [row]))
    assert texts(found) == [("1", "Math", "x"), ("1~2", "Math", "y"), ("1~3", "Math", "z")]
    assert {e.fields["cluster"] for e in found.examples} == {"1"}


# Prepared once, used by name ---------------------------------------------------------------------------


def test_prepared_pairs_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    card = read_card("demetr")
    for name, severity in (("base_id35_reference", "base"), ("major_id17_tense", "major")):
        write_json(tmp_path / "d" / f"{name}.json", [demetr_row(name, severity, f"R {name}.")])
    with pytest.raises(InputError, match="demetr is not prepared yet: dhp data prepare demetr"):
        resolve_datasets(["demetr"])
    prepare(card, tmp_path / "d")
    assert load_prepared(card) == read("demetr", tmp_path / "d")
    (found,) = resolve_datasets(["demetr"])
    assert (found.name, found.task.task, found.suite, found.suite_name) == (
        "demetr",
        "translation",
        None,
        "given",
    )
    assert [v.name for v in found.pair_variants] == ["reference.base", "tense.major"]
    (given,) = resolve_datasets(["demetr"], data=tmp_path / "d")
    assert given == found
    with pytest.raises(InputError, match="brings degraded texts of its own; no suite can be used with it"):
        resolve_datasets(["demetr"], suite=resolve_datasets(["mini/wmt22_deen"])[0].suite)


# The published files themselves ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.realdata
def test_real_bump(real: Path) -> None:
    found = read("bump", real / "bump")
    rows = json.loads((real / "bump" / "task1_dataset.json").read_text())
    texts = {(r["article_id"], r["corrected_error_type"], r["edited_summary"].strip()) for r in rows}
    assert len(found.pairs) == len(texts) == 689  # in four articles two errors became one
    assert Counter(t.variant for t in found.pairs) == Counter(kind for _, kind, _ in texts)
    assert len(found.pair_variants) == 7


@pytest.mark.slow
@pytest.mark.realdata
def test_real_demetr(real: Path) -> None:
    found = read("demetr", real / "demetr")
    assert len(found.examples) == 1001
    counts = Counter(t.variant for t in found.pairs)
    kept = {"numbers_replaced.critical": 372, "negation.critical": 999, "misspelled.minor": 879}
    assert {name: counts[name] for name in kept} == kept
    assert counts["reference.base"] == 994
    assert variants(found)["reference.base"] == "control"
    assert sorted(e.id for e in found.examples if "cluster" in e.fields) == ["919", "919~2"]
    outputs = {e.id: e.output for e in found.examples}
    assert not any(t.text == outputs[t.example] for t in found.pairs)


@pytest.mark.realdata
def test_real_llmbar(real: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (real / "llmbar" / "pairs.jsonl").read_text().splitlines()]
    for subset in {row["subset"] for row in rows}:
        folder = "Natural" if subset == "Natural" else f"Adversarial/{subset}"
        own = [
            {k: v for k, v in row.items() if k not in ("id", "subset")}
            for row in rows
            if row["subset"] == subset
        ]
        write_json(tmp_path / "LLMBar" / folder / "dataset.json", own)
    found = read("llmbar", tmp_path)
    counts = Counter(t.variant for t in found.pairs)
    assert counts == {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
    better = {row[f"output_{row['label']}"] for row in rows}
    assert {e.output for e in found.examples} == better
