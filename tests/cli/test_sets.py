"""Perturbation sets from the command line: made, looked at, used, and refused when they were changed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run

DATASET = ("--dataset", "mini/story_cloze")
USE = ("benchmark", "--model", "baseline/constant", "--perturbed", "set", "--out", "run")
FOLDER = Path("set") / "mini_story_cloze"
TYPOS = FOLDER / "random_typos.jsonl"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dhp.perturb.builder import perturb_datasets
    from dhp.perturb.sets import write_set

    folder = tmp_path_factory.mktemp("frozen") / "set"
    write_set(folder, perturb_datasets("mini/story_cloze"))
    return folder


def edited(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))


def reseal() -> None:
    """Make the checksums fit what was changed, as somebody who edits a set on purpose would."""
    import hashlib

    from dhp.perturb.sets import card_hash

    card = json.loads((Path("set") / "card.json").read_text())

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if {"file", "sha256"} <= set(value) and (Path("set") / value["file"]).exists():
                value["sha256"] = hashlib.sha256((Path("set") / value["file"]).read_bytes()).hexdigest()
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(card)
    card["sha256"] = card_hash(card)
    (Path("set") / "card.json").write_text(json.dumps(card))


def card(change: Callable[[str], str]) -> None:
    path = Path("set") / "card.json"
    path.write_text(change(path.read_text()))


def other_text(lines: list[str]) -> list[str]:
    row = json.loads(lines[0])
    return [json.dumps({**row, "text": "Something else."}), *lines[1:]]


DAMAGE: dict[str, tuple[Callable[[], object], str]] = {
    "a changed text": (lambda: edited(TYPOS, other_text), "random_typos.jsonl"),
    "a missing variant": (lambda: TYPOS.unlink(), "random_typos.jsonl"),
    "an unknown variant": (lambda: shutil.copy(TYPOS, FOLDER / "random_typo.jsonl"), "random_typo"),
    "a duplicate id": (
        lambda: (edited(TYPOS, lambda lines: [lines[0], *lines[:-1]]), reseal()),
        "duplicate example",
    ),
    "a missing example": (lambda: (edited(TYPOS, lambda lines: lines[1:]), reseal()), "random_typos.jsonl"),
    "an unknown kind": (lambda: card(lambda text: text.replace('"word"', '"wrod"')), "wrod"),
    "no card": (lambda: (Path("set") / "card.json").unlink(), "set"),
    "a broken card": (lambda: (Path("set") / "card.json").write_text("{"), "card.json"),
}


@pytest.mark.slow
def test_the_same_command_judges_the_frozen_texts(dhp: Run, tmp_path: Path) -> None:
    done = dhp("perturb", *DATASET, "--n", "9", "--controls", "--freeze", "set")
    assert done.code == 0, done.err
    assert f"{9 * (6 + 2)} texts frozen in set" in done.out
    again = dhp("perturb", *DATASET, "--n", "9", "--controls", "--freeze", "set")
    assert again.code == 0, "the same set may be written again"
    other = dhp("perturb", *DATASET, "--n", "8", "--freeze", "set")
    assert other.code == 2
    assert "set: holds another perturbation set; choose another folder" in other.err
    audited = dhp("perturb", "--audit", "set")
    assert audited.code == 0
    assert "random_typos" in audited.out
    assert dhp(*USE, *DATASET, "--n", "9").code == 0
    (result,) = [json.loads((tmp_path / "run" / "results.json").read_text())]
    assert [c["variant"] for c in result["controls"]] == ["identity", "harmless"]
    assert len(result["variants"]) == 6


def test_the_datasets_of_the_set_are_the_default(dhp: Run, made: Path) -> None:
    shutil.copytree(made, "set")
    done = dhp(*USE)
    assert done.code == 0, done.err
    assert "mini/story_cloze" in done.out


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_set_is_one_line_and_nothing_is_scored(dhp: Run, made: Path, what: str) -> None:
    shutil.copytree(made, "set")
    damage, message = DAMAGE[what]
    damage()
    for command in ((*USE, *DATASET), ("perturb", "--audit", "set")):
        done = dhp(*command)
        assert done.code == 2, done.out
        assert message in done.err
        assert len(done.err.strip().splitlines()) == 1
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dataset", "mini/summeval"), "the perturbation set has no dataset 'mini/summeval'"),
        ((*DATASET, "--suite", "story_cloze"), "--suite: cannot be used with --perturbed set"),
        ((*DATASET, "--doses", "1,2"), "--doses: cannot be used with --perturbed set"),
        ((*DATASET, "--perturbed", "nowhere"), "nowhere"),
    ],
)
def test_what_does_not_go_with_a_set_is_one_line(
    dhp: Run, made: Path, options: tuple[str, ...], message: str
) -> None:
    shutil.copytree(made, "set")
    done = dhp(*USE, *options)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--doses", "5"), "allowed: two or more rising whole numbers"),
        (("--doses", "1,x"), "--doses '1,x': must have the form"),
        (("--doses", "1,2", "--doses", "random_typos=1,2"), "give doses for all perturbers once"),
        (("--doses", "wrong_ending=1,2"), "'wrong_ending' takes none"),
        (("--audit", "set"), "--dataset: cannot be used with --audit"),
        (("--doses", "random_typos=1,2", "--doses", "random_typos=1,3"), "are given twice"),
        (("--freeze", "a_file"), "a_file: is a file"),
    ],
)
def test_bad_options_are_one_line(dhp: Run, options: tuple[str, ...], message: str) -> None:
    Path("a_file").write_text("x")
    done = dhp("perturb", *DATASET, "--show", "1", *options)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_folder_that_holds_other_things_is_never_replaced(dhp: Run) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    done = dhp("perturb", *DATASET, "--freeze", "mine")
    assert done.code == 2
    assert Path("mine/thesis.txt").read_text() == "years of work"


def test_a_folder_without_a_card_is_no_set_to_audit(dhp: Run) -> None:
    done = dhp("perturb", "--audit", ".")
    assert done.code == 2
    assert "card.json" in done.err


@pytest.mark.slow
def test_a_set_of_few_examples_or_another_seed_is_used_as_it_is(dhp: Run, tmp_path: Path) -> None:
    assert dhp("perturb", *DATASET, "--n", "6", "--seed", "5", "--freeze", "set").code == 0
    assert dhp(*USE).code == 0
    result = json.loads((tmp_path / "run" / "results.json").read_text())
    assert result["n"] == 6
    assert "|seed:5|" in result["signature"], "the texts are those of seed 5"
    fewer = dhp(*USE[:-1], "fewer", "--n", "4")
    assert fewer.code == 0, fewer.err


@pytest.mark.slow
def test_the_task_must_be_that_of_the_set(dhp: Run, tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "source": f"Ann has {i} cats.", "output": f"She has {i} cats now."} for i in range(6)
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    own = ("--dataset", "own.jsonl", "--task")
    assert dhp("perturb", *own, "summarization", "--freeze", "set").code == 0
    assert dhp(*USE, *own, "summarization").code == 0
    assert dhp(*USE).code == 0, "the set knows the task"
    other = dhp(*USE[:-1], "other", *own, "translation")
    assert other.code == 2
    assert "is for task 'summarization', not 'translation'" in other.err
