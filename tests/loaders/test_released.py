"""The set that the authors of the method released: read as the cards say, or as `--field` says."""

from pathlib import Path
from typing import Any

import pytest

from dhp.content.catalog import DATASETS, read_card, read_suite
from dhp.core.errors import InputError
from dhp.core.records import PerturbedText
from dhp.core.specs import Suite
from dhp.loaders.dataset import Dataset
from dhp.loaders.released import is_released, read_released, released_datasets

from .conftest import write_csv, write_jsonl, write_parquet

SUITE = read_suite("summeval")
VARIANTS = [v.name for v in SUITE.variants]
IDS = ("x1", "x2")
Rows = list[dict[str, Any]]


def worse(i: str, variant: str) -> str:
    return f"Summary {i} after {variant}."


def flat_rows(suite: Suite = SUITE, **more: object) -> Rows:
    return [
        {
            "id": i,
            "source": f"Article {i}.",
            "output": f"Summary {i}.",
            "year": 1990,
            **more,
            **{v.name.replace(".", "_"): worse(i, v.name) for v in suite.variants},
        }
        for i in IDS
    ]


def nested_rows() -> Rows:
    rows: Rows = []
    for i in IDS:
        texts: dict[str, dict[str, str]] = {}
        for v in SUITE.variants:
            texts.setdefault(v.perturber, {})[str(v.degree)] = worse(i, v.name)
        rows.append({"key": i, "article": f"Article {i}.", "summary": [f"Summary {i}."], "worse": texts})
    return rows


WRITERS = {"jsonl": write_jsonl, "csv": write_csv}
"""One keeps the types of values, the other has texts alone."""


def as_expected(found: Dataset) -> bool:
    said = [(e.id, e.source, e.output) for e in found.examples]
    texts = [(t.variant, t.example, t.text) for t in found.pairs]
    return (
        said == [(i, f"Article {i}.", f"Summary {i}.") for i in IDS]
        and texts == [(v, i, worse(i, v)) for v in VARIANTS for i in IDS]
        and found.pair_variants == SUITE.variants
        and all(t.audit and t.audit.edit_distance > 0 for t in found.pairs)
    )


def fault(path: Path, **fields: str) -> str:
    with pytest.raises(InputError) as e:
        read_released(str(path), "summeval", SUITE, fields)
    assert "\n" not in str(e.value)
    return str(e.value)


@pytest.mark.parametrize("dataset", DATASETS)
def test_each_card_names_a_column_for_each_variant_and_no_other(dataset: str) -> None:
    card, suite = read_card(dataset), read_suite(dataset)
    assert card.released
    others = {"id", "source", "output", *(["question"] if card.task == "question_answering" else [])}
    assert set(card.released.fields) == {v.name for v in suite.variants} | others


@pytest.mark.parametrize("form", WRITERS)
def test_each_format_gives_the_same(tmp_path: Path, form: str) -> None:
    WRITERS[form](tmp_path / f"SummEval.{form}", flat_rows())
    found = read_released(str(tmp_path), "summeval", SUITE)
    assert as_expected(found)
    assert found.examples[0].fields == {"year": "1990"}
    assert as_expected(read_released(str(tmp_path / f"SummEval.{form}"), "summeval", SUITE))


def test_field_puts_other_columns_in_the_place_of_the_cards(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "any.jsonl", nested_rows())
    fields = {v: f"worse.{v}" for v in VARIANTS} | {"id": "key", "source": "article", "output": "summary[0]"}
    found = read_released(str(tmp_path / "any.jsonl"), "summeval", SUITE, {**fields, "also": "key"})
    assert as_expected(found)
    assert found.examples[0].fields == {"also": "x1"}


def test_a_row_without_id_is_known_by_its_texts(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "id"} for row in flat_rows()]
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    other = write_jsonl(tmp_path / "y.jsonl", rows[::-1])
    ids = [[e.id for e in read_released(str(each), "summeval", SUITE).examples] for each in (path, other)]
    assert ids[0] == ids[1][::-1]
    assert len({*ids[0]}) == 2


def test_missing_and_unchanged_texts_do_not_apply(tmp_path: Path) -> None:
    rows = flat_rows()
    rows[0]["random_typos_minor"] = None
    rows[0]["random_typos_major"] = " "
    rows[1]["reordering_minor"] = "Summary x2. "
    found = read_released(str(write_jsonl(tmp_path / "x.jsonl", rows)), "summeval", SUITE)
    assert [t for t in found.pairs if t.text is None] == [
        PerturbedText("x1", "random_typos.minor", None, "no such text in the set"),
        PerturbedText("x1", "random_typos.major", None, "no such text in the set"),
        PerturbedText("x2", "reordering.minor", None, "equals the original"),
    ]


def without(name: str) -> Rows:
    return [{k: v for k, v in row.items() if k != name} for row in flat_rows()]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            without("source"),
            "column 'source' for 'source' is missing; map it by `fields` source=COLUMN; allowed: fict",
        ),
        (
            without("reordering_major"),
            "column 'reordering_major' for 'reordering.major' is missing; map it by `fields` "
            "reordering.major=COLUMN; did you mean 'reordering_minor'? allowed: fictional_named_ent",
        ),
        (flat_rows() + flat_rows()[:1], "line 3: duplicate id 'x1' (first at"),
        ([{**flat_rows()[0], "source": ""}], "line 1: column 'source' is empty"),
        (
            [flat_rows()[0], {**flat_rows()[1], "random_typos_minor": ["a"]}],
            "line 2: column 'random_typos_minor' holds a list",
        ),
    ],
)
def test_planted_faults(tmp_path: Path, rows: Rows, expected: str) -> None:
    said = fault(write_jsonl(tmp_path / "set.jsonl", rows))
    assert expected in said
    assert said.startswith(str(tmp_path / "set"))


def test_wrong_fields(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", flat_rows())
    expected = "`fields`: unknown variant 'random_typo.minor'; did you mean 'random_typos.minor'?"
    assert expected in fault(path, **{"random_typo.minor": "source"})
    assert "column 'sourse' for 'note' is missing" in fault(path, note="sourse")
    own = Suite.model_validate(
        {
            "suite": "own",
            "task": "summarization",
            "source": "x",
            "perturbers": {"swaps": {"level": "word", "method": "rule"}},
        }
    )
    with pytest.raises(
        InputError, match=r"no column for variant 'swaps' .*by `fields` swaps=COLUMN; columns: id,"
    ):
        read_released(str(path), "summeval", own)


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("SummEval", "summeval"),
        ("sumpubmed_v1", "sumpubmed"),
        ("Story_Cloze", "story_cloze"),
        ("Answer Equivalence", "answer_equivalence"),
        ("WMT22-zhen", "wmt22_zhen"),
        ("wmt22_de-en", "wmt22_deen"),
    ],
)
def test_files_and_folders_named_after_a_dataset(tmp_path: Path, name: str, dataset: str) -> None:
    suite = read_suite(dataset)
    for each in {name, "Newsroom", "WMT22-deen" if dataset == "wmt22_zhen" else "WMT22-zhen"}:
        rows = flat_rows(suite, question="Q", called=each)
        folder = tmp_path / "folders" / each
        folder.mkdir(parents=True)
        for n, row in enumerate(rows):
            write_parquet(folder / f"test-0000{n}-of-00002.parquet", [row])
        (tmp_path / "files").mkdir(exist_ok=True)
        write_jsonl(tmp_path / "files" / f"{each}.jsonl", rows)
    for place in (tmp_path / "folders", tmp_path / "files"):
        found = read_released(str(place), dataset, suite)
        assert [(e.id, e.fields["called"]) for e in found.examples] == [(i, name) for i in IDS]
        assert dataset in released_datasets(str(place))


def test_a_dataset_that_is_not_there(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "train.jsonl", flat_rows())
    expected = f"{tmp_path}: no table in it; must be a folder or .zip that holds *summ*eval*"
    assert fault(tmp_path).startswith(expected)
    assert fault(tmp_path / "absent.json") == f"{tmp_path / 'absent.json'}: does not exist"
    with pytest.raises(InputError, match="no file is named after a dataset; name it by `dataset`"):
        released_datasets(str(tmp_path))
    assert released_datasets("hf:org/name") == list(DATASETS)


def test_what_is_released(tmp_path: Path) -> None:
    assert is_released("hf:org/name")
    assert not is_released(str(tmp_path))
    assert not is_released(str(tmp_path / "absent"))
    path = write_jsonl(tmp_path / "x.jsonl", [{"a": 1}])
    assert is_released(str(path))
    assert is_released(str(tmp_path))
    (tmp_path / "card.json").write_text("{}")
    assert not is_released(str(tmp_path))


@pytest.mark.slow  # needs the extra data
def test_a_hub_set_is_downloaded_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    write_jsonl(tmp_path / "SummEval.jsonl", flat_rows())
    asked: list[tuple[str, dict[str, object]]] = []

    def downloaded(name: str, **how: object) -> str:
        asked.append((name, how))
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", downloaded)
    assert as_expected(read_released("hf:org/name", "summeval", SUITE))
    assert asked[0][0] == "org/name"
    assert asked[0][1]["repo_type"] == "dataset"
    assert as_expected(read_released(f"hf:{tmp_path}", "summeval", SUITE))

    def absent(name: str, **how: object) -> str:
        raise hub.errors.LocalEntryNotFoundError("no network\nand no copy")

    monkeypatch.setattr(hub, "snapshot_download", absent)
    with pytest.raises(InputError, match=r"^hf:org/absent: cannot be downloaded \(no network and no copy\)$"):
        read_released("hf:org/absent", "summeval", SUITE)
    with pytest.raises(InputError, match=r"^hf:./absent: folder ./absent does not exist$"):
        read_released("hf:./absent", "summeval", SUITE)
