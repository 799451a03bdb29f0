"""Perturbation sets: what is written is what is read, in the same bytes; every planted fault is found."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dhp.content.catalog import read_task
from dhp.core import writing
from dhp.core.errors import InputError
from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.loaders.dataset import Dataset
from dhp.perturb.builder import matched
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.sets import card_hash, read_set, write_set

TYPOS = Variant("typos.minor", "typos", "character", "rule", "minor", {"k": 5})
NAMES = Variant("names", "names", "word", "llm", None, {"count": 1})
CONTROL = Variant("spaces", "spaces", "control", "rule", None)


TASK = read_task("summarization")


def part(dataset: str = "mini/summeval") -> PerturbedDataset:
    examples = (
        Example("a", "The source of a.", "Kära läsare,\u2028 “good” text."),
        Example("b", "The source of b.", "A second\ntext."),
    )
    texts = (
        PerturbedText("a", "typos.minor", "Kära läsra.", audit=Audit(5, 4, 3, 0.9)),
        PerturbedText("b", "typos.minor", "A scond\ntext.", audit=Audit(5, 5, 1, 0.92)),
        PerturbedText("a", "names", None, "no name in it", rejected=("same text", "too long")),
        PerturbedText("b", "names", "A third\ntext."),
        PerturbedText("a", "spaces", examples[0].output),
        PerturbedText("b", "spaces", "A second text."),
    )
    origins = {"names": "openai/some-model prompts@abc"}
    data = data_of(*examples, name=dataset)
    return PerturbedDataset(data, (TYPOS, NAMES, CONTROL), ("cut.major",), texts, "own", 7, origins)


def data_of(*examples: Example, name: str = "mini/summeval") -> Dataset:
    return Dataset(name, examples, TASK, None, examples)


def one_text(name: str, variants: tuple[Variant, ...], texts: tuple[PerturbedText, ...]) -> PerturbedDataset:
    return PerturbedDataset(data_of(Example("a", "S", "good"), name=name), variants, (), texts, "given", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_set(tmp_path / "set", [part(), part("other.jsonl")])
    return tmp_path / "set"


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def fault(folder: Path) -> str:
    with pytest.raises(InputError) as e:
        read_set(folder)
    assert "\n" not in str(e.value)
    return str(e.value)


def rewrite(folder: Path, file: str, change: Callable[[list[dict[str, object]]], object]) -> str:
    """Change the lines of a file as its maker could have, checksum included; returns the file's path."""
    path = folder / file
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    change(rows)
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()

    def sign(card: dict[str, object]) -> None:
        for dataset in card["datasets"]:  # type: ignore[attr-defined]
            for entry in (dataset["original"], *dataset["variants"]):
                if entry["file"] == file:
                    entry["sha256"] = digest

    recard(folder, sign)
    return str(path)


def recard(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    change(card)
    card["sha256"] = card_hash(card)
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


def test_what_is_written_is_read(folder: Path) -> None:
    read = read_set(folder)
    assert list(read) == ["mini/summeval", "other.jsonl"]
    found, given = read["mini/summeval"], part()
    assert replace(found, dataset=given.dataset) == given
    assert (found.dataset.name, found.dataset.task.task) == ("mini/summeval", "summarization")
    assert [(e.id, e.source, e.output) for e in found.dataset.examples] == [
        (e.id, "", e.output) for e in given.dataset.examples
    ]
    assert found.dataset.examples[0].fields == {
        "source_sha256": hashlib.sha256(b"The source of a.").hexdigest()
    }
    assert matched(found, given.dataset) == given


def test_the_same_texts_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    write_set(again, list(read_set(folder).values()))
    assert contents(again) == contents(folder)
    shuffled = replace(part(), texts=tuple(reversed(part().texts)))
    write_set(again, [shuffled, part("other.jsonl")])
    assert contents(again) == contents(folder)
    assert all(b"\r" not in data for data in contents(folder).values())
    assert "läsare,\u2028 “good”".encode() in contents(folder)["mini_summeval/original.jsonl"]
    names = json.loads((folder / "mini_summeval/names.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert names == {
        "example": "a",
        "status": "not_applicable",
        "reason": "no name in it",
        "text": None,
        "audit": None,
        "rejected": ["same text", "too long"],
    }


def test_the_readme_speaks_of_every_variant(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    for said in ("typos.minor", "openai/some-model prompts@abc", "cut.major", "Wang et al. (2025)"):
        assert said in text


ODD = st.text(min_size=1, max_size=200).filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=ODD, names=st.lists(ODD, min_size=1, max_size=4, unique=True))
def test_no_name_leads_out_of_the_folder(tmp_path: Path, dataset: str, names: list[str]) -> None:
    shutil.rmtree(tmp_path / "set", ignore_errors=True)
    variants = tuple(Variant(n, n, "given", "given", None) for n in names)
    texts = tuple(PerturbedText("a", n, f"worse {i}") for i, n in enumerate(names))
    write_set(tmp_path / "set", [one_text(dataset, variants, texts)])
    assert [p.name for p in tmp_path.iterdir()] == ["set"]
    assert len(contents(tmp_path / "set")) == 3 + len(names)
    assert read_set(tmp_path / "set")[dataset].texts == texts


@pytest.mark.parametrize(
    "name", ["..", "../../x", "/etc/passwd", "a\\b", "Original", "A", "con:stream", "." * 9]
)
def test_odd_names_stay_apart_and_inside(tmp_path: Path, name: str) -> None:
    variants = tuple(Variant(n, n, "given", "given", None) for n in (name, "a"))
    texts = tuple(PerturbedText("a", v.name, f"worse {v.name}") for v in variants)
    write_set(tmp_path / "set", [one_text(name, variants, texts)])
    files = [p.lower() for p in contents(tmp_path / "set")]
    assert len(files) == len(set(files)) == 5
    assert {"\\", ":"}.isdisjoint("".join(files))
    assert read_set(tmp_path / "set")[name].texts == texts


def test_card_faults(folder: Path, tmp_path: Path) -> None:
    assert fault(tmp_path).startswith(f"{tmp_path}: no perturbation set, there is no card.json")
    card = (folder / "card.json").read_text(encoding="utf-8")
    (folder / "card.json").write_text(card[:-40])
    assert "card.json: broken JSON" in fault(folder)
    (folder / "card.json").write_text(card.replace("dhp.frozen/1", "dhp.frozen/2"))
    assert fault(folder) == f"{folder}/card.json: schema is 'dhp.frozen/2'; allowed: dhp.frozen/1"
    (folder / "card.json").write_text("[]")
    assert "schema is None; allowed: dhp.frozen/1" in fault(folder)
    (folder / "card.json").write_text(card.replace('"level": "character"', '"level": "charakter"', 1))
    assert "unknown level 'charakter'; did you mean 'character'?" in fault(folder)
    (folder / "card.json").write_text(card.replace('"method": "rule"', '"method": "hand"', 1))
    assert "datasets.0.variants.0.method 'hand': unknown; allowed: authored, given, llm, rule" in fault(
        folder
    )
    (folder / "card.json").write_text(card.replace('"seed": 7', '"seed": "7"', 1))
    assert "seed" in fault(folder)
    (folder / "card.json").write_text(card.replace("mini_summeval/names.jsonl", "../names.jsonl"))
    assert "file '../names.jsonl'; allowed: mini_summeval/names.jsonl" in fault(folder)


def test_a_changed_card_is_noticed(folder: Path) -> None:
    card = (folder / "card.json").read_text(encoding="utf-8")
    (folder / "card.json").write_text(card.replace('"level": "character"', '"level": "word"', 1))
    assert fault(folder) == (
        f"{folder}/card.json: was changed, its sha256 differs; allowed: the card as it was written"
    )


def test_ready_made_texts_may_have_a_level_of_their_own(tmp_path: Path) -> None:
    own = replace(NAMES, level="style", method="given")
    given_part = replace(part(), variants=(TYPOS, own, CONTROL))
    write_set(tmp_path / "set", [given_part])
    assert read_set(tmp_path / "set")["mini/summeval"].variants[1].level == "style"


def test_missing_unknown_and_changed_files(folder: Path) -> None:
    path = folder / "mini_summeval/typos.minor.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("scond", "seco"), encoding="utf-8")
    assert fault(folder).startswith(f"{path}: was changed, its sha256 is ")
    path.write_text(text[:-9], encoding="utf-8")
    assert f"{path}: line 2: Invalid JSON" in fault(folder)
    path.unlink()
    assert fault(folder).startswith(f"{path}: is missing")
    path.write_text(text, encoding="utf-8")
    stray = folder / "mini_summeval/typos.mino.jsonl"
    stray.write_text(text, encoding="utf-8")
    assert f"{stray}: no file of the set; did you mean 'mini_summeval/typos.minor.jsonl'?" in fault(folder)
    stray.rename(folder / "mini_summeval/.typos.jsonl")
    read_set(folder)
    original = folder / "other.jsonl/original.jsonl"
    original.write_text(original.read_text(encoding="utf-8").replace("second", "2nd"), encoding="utf-8")
    assert fault(folder).startswith(f"{original}: was changed")


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        ("original", lambda r: r.append(r[0]), "line 3: duplicate example 'a'"),
        ("original", lambda r: r[1].update(text=" "), "line 2: the text of example 'b' is empty"),
        ("original", lambda r: r.append({**r[0], "example": "c"}), "nothing for example 'c'"),
        ("original", lambda r: r.clear(), "original.jsonl: is empty"),
        (
            "original",
            lambda r: r.pop(),
            "line 2: no original of example 'b'; allowed: those of",
        ),
        ("typos.minor", lambda r: r.append(r[0]), "line 3: duplicate example 'a'"),
        ("typos.minor", lambda r: r[0].update(example="x"), "line 1: no original of example 'x'"),
        ("typos.minor", lambda r: r.pop(), "nothing for example 'b'; allowed: all 2 examples"),
        (
            "typos.minor",
            lambda r: r[1].update(text="A second\ntext."),
            "line 2: example 'b': the text equals",
        ),
        ("typos.minor", lambda r: r[0].update(text=""), "line 1: example 'a': the text is empty"),
        ("typos.minor", lambda r: r[0].update(text=None), "line 1: status 'ok' does not go with the text"),
        ("typos.minor", lambda r: r[0].pop("audit"), "line 1: audit: missing"),
        ("typos.minor", lambda r: r[0].update(text=5), "line 1: text 5"),
        ("names", lambda r: r[0].update(reason=None), "example 'a': there is neither a text nor a reason"),
        ("names", lambda r: r[1].update(reason="why"), "example 'b': there are both a text and a reason"),
        (
            "names",
            lambda r: r[0].update(status="ok", text="now there", reason=None),
            "2 of 2 examples have a text; allowed: 1 of 2",
        ),
    ],
)
def test_faults_of_the_maker(
    folder: Path, file: str, change: Callable[[list[dict[str, object]]], object], expected: str
) -> None:
    path = rewrite(folder, f"mini_summeval/{file}.jsonl", change)
    said = fault(folder)
    assert expected in said
    assert said.startswith(path.rpartition("/")[0])


def test_matching_narrows_and_orders() -> None:
    given_part, (a, b) = part(), part().dataset.examples
    found = matched(given_part, data_of(b))
    assert (found.dataset.examples, [t.example for t in found.texts]) == ((b,), ["b"] * 3)
    both = matched(given_part, data_of(b, a))
    assert [(t.variant, t.example) for t in both.texts[:2]] == [("typos.minor", "b"), ("typos.minor", "a")]
    assert matched(both, data_of(a, b)) == given_part


def test_matching_refuses_other_texts(folder: Path) -> None:
    a, b = part().dataset.examples
    for given_part in (part(), read_set(folder)["mini/summeval"]):
        for other, what in ((replace(a, output="else"), "output"), (replace(a, source="else"), "source")):
            with pytest.raises(InputError, match=f"made of another text of example 'a' .the {what} differs"):
                matched(given_part, data_of(b, other))
        with pytest.raises(InputError, match=r"has no example 'c' \(holds 2 examples, first: a, b\)"):
            matched(given_part, data_of(replace(a, id="c")))
        noted = data_of(replace(a, fields={"note": "n"}))
        assert matched(given_part, noted).dataset.examples[0].fields == {"note": "n"}


def test_only_a_set_is_written_over(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'notes.txt', which is not part of a set"):
        write_set(folder, [part()])
    (folder / "notes.txt").unlink()
    assert contents(folder) == before
    with pytest.raises(InputError, match="holds another perturbation set; choose another folder, or remove"):
        write_set(folder, [part()])
    assert contents(folder) == before
    (tmp_path / "empty").mkdir()
    write_set(tmp_path / "empty", [part()])
    (tmp_path / "full").mkdir()
    (tmp_path / "full/a.txt").write_text("mine")
    for name in ("full", "full/a.txt"):
        with pytest.raises(InputError, match="allowed: a new"):
            write_set(tmp_path / name, [part()])
    assert (tmp_path / "full/a.txt").read_text() == "mine"


def test_a_failed_writer_leaves_the_old_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(folder)
    real, left = writing.new_file, iter(range(3))

    def full(path: Path) -> BinaryIO:
        return Path("/dev/full").open("wb") if next(left, None) is None else real(path)

    monkeypatch.setattr(writing, "new_file", full)
    with pytest.raises(InputError, match="cannot be written"):
        write_set(folder, list(read_set(folder).values()))
    monkeypatch.undo()
    assert contents(folder) == before
    assert [p.name for p in folder.parent.iterdir()] == ["set"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"texts": part().texts[:-1]}, "variant 'spaces': nothing for example 'b'"),
        ({"texts": (*part().texts, part().texts[0])}, "variant 'typos.minor': duplicate example 'a'"),
        (
            {"texts": (PerturbedText("a", "typo.minor", "x"),)},
            "unknown variant 'typo.minor'; did you mean 'typos.minor'",
        ),
        ({"variants": (TYPOS, NAMES, replace(CONTROL, level="word"))}, "example 'a': the text equals"),
        ({"variants": (TYPOS, TYPOS)}, "duplicate variant 'typos.minor'"),
        ({"variants": (replace(TYPOS, level="vowel"), NAMES, CONTROL)}, "unknown level 'vowel'"),
        ({"dataset": data_of(Example("a", "S", "\ud800"))}, "a lone surrogate"),
    ],
)
def test_nothing_is_written_that_could_not_be_read(
    tmp_path: Path, changed: dict[str, object], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        write_set(tmp_path / "set", [replace(part(), **changed)])  # type: ignore[arg-type]
    assert not (tmp_path / "set").exists()


def test_nothing_and_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to write"):
        write_set(tmp_path / "set", [])
    with pytest.raises(InputError, match="duplicate dataset 'mini/summeval'"):
        write_set(tmp_path / "set", [part(), part()])
