"""Perturbation sets from the command line: made, looked at, used, and refused when they were changed."""

import json
import shutil
from pathlib import Path

import pytest

from dhp.perturb.builder import perturb_datasets
from dhp.perturb.sets import write_set

from .conftest import Run, results_in, write_rows

DATASET = "--dataset mini/story_cloze"
USE = "benchmark --model baseline/constant --perturbed set --out run"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frozen") / "set"
    write_set(folder, perturb_datasets("mini/story_cloze"))
    return folder


@pytest.mark.slow
def test_the_same_command_judges_the_frozen_texts(dhp: Run) -> None:
    done = dhp(f"perturb {DATASET} --n 9 --controls --freeze set")
    assert done.code == 0, done.err
    assert f"{9 * (6 + 2)} texts frozen in set" in done.out
    again = dhp(f"perturb {DATASET} --n 9 --controls --freeze set")
    assert again.code == 0, "the same set may be written again"
    other = dhp(f"perturb {DATASET} --n 8 --freeze set")
    assert other.code == 2
    audited = dhp("perturb --audit set")
    assert audited.code == 0
    assert "random_typos" in audited.out
    assert dhp(f"{USE} {DATASET} --n 9").code == 0
    result = results_in("run")
    assert [c["variant"] for c in result["controls"]] == ["identity", "harmless"]
    assert len(result["variants"]) == 6


@pytest.mark.slow
def test_the_datasets_of_the_set_are_the_default(dhp: Run, made: Path) -> None:
    shutil.copytree(made, "set")
    done = dhp(USE)
    assert done.code == 0, done.err
    assert "mini/story_cloze" in done.out


def test_a_damaged_set_is_one_line_and_nothing_is_scored(dhp: Run, made: Path) -> None:
    shutil.copytree(made, "set")
    file = Path("set/mini_story_cloze/random_typos.jsonl")
    file.write_text(file.read_text().replace("the", "teh", 1))
    for command in (f"{USE} {DATASET}", "perturb --audit set"):
        done = dhp(command)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "random_typos.jsonl" in done.err
    assert not Path("run").exists()


@pytest.mark.slow
def test_a_set_of_few_examples_or_another_seed_is_used_as_it_is(dhp: Run) -> None:
    assert dhp(f"perturb {DATASET} --n 6 --seed 5 --freeze set").code == 0
    assert dhp(USE).code == 0
    result = results_in("run")
    assert result["n"] == 6
    assert "|seed:5|" in result["signature"], "the texts are those of seed 5"
    assert dhp(f"{USE}-fewer --n 4").code == 0


@pytest.mark.slow
def test_the_task_must_be_that_of_the_set(dhp: Run) -> None:
    cats = "Ann has {} cats.", "She has {} cats now."
    write_rows("own.jsonl", [{"source": cats[0].format(i), "output": cats[1].format(i)} for i in range(6)])
    own = "--dataset own.jsonl --task"
    assert dhp(f"perturb {own} summarization --freeze set").code == 0
    assert dhp(f"{USE} {own} summarization").code == 0
    assert dhp(USE).code == 0, "the set knows the task"
    other = dhp(f"{USE}-other {own} translation")
    assert other.code == 2
    assert "is for task 'summarization', not 'translation'" in other.err


@pytest.mark.slow
def test_any_column_of_texts_is_degraded_without_a_task(dhp: Run, tmp_path: Path) -> None:
    texts = [
        f"The old cafe number {i} opens at 9. It sells cake and tea. Nobody minds the price."
        for i in range(6)
    ]
    write_rows(tmp_path / "plain.jsonl", [{"key": i, "body": text} for i, text in enumerate(texts)])
    few = ("--dataset", "plain.jsonl", "--field", "output=body")
    assert dhp("perturb", *few, "--out", "x.jsonl").code == 0
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert len({line["variant"] for line in lines}) >= 18
    few += ("--field", "source=key")
    assert dhp("perturb", *few, "--suite", "general", "--freeze", "set").code == 0
    nameless = dhp("perturb", "--dataset", "plain.jsonl", "--out", "y.jsonl")
    assert (nameless.code, "--field output=COLUMN" in nameless.err) == (2, True)
    for more in (("--metric", "quality", "--scale", "1..5"), ("--task", "summarization")):
        done = dhp("benchmark", "--model", "mock/ideal", *few, "--perturbed", "set", *more, "--out", more[1])
        assert done.code == 0, done.err
