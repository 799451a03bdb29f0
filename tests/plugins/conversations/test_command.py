"""The bundled conversations through the command line."""

import json
from pathlib import Path

import pytest

import dhp as library
from dhp.content.catalog import mini_examples_file, read_task
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.builder import perturb_datasets
from tests.cli.conftest import Run

DATASET = "mini/conversations"


@pytest.mark.slow
def test_a_run_tells_silent_faults_from_loud_ones(dhp: Run, tmp_path: Path) -> None:
    judge = "mock/ideal?call_argument=0&call_claimed=0&turn_swap=0"
    out = str(tmp_path / "run")
    result = json.loads(dhp("benchmark", "--model", judge, "--dataset", DATASET, "--out", out, "--json").out)
    assert (result["dataset"], result["n"]) == (DATASET, 24)
    rows = {row["variant"]: row for row in result["variants"]}
    assert {row["level"] for row in rows.values()} == {"character", "word", "sentence", "turn"}
    assert rows["call_argument.minor"]["detection"] == 0.5
    assert rows["foreign_answer.minor"]["verdict"] == "noticed"
    assert {"argument_spacing", "argument_order", "renamed_ids", "harmless"} <= {
        row["variant"] for row in result["controls"]
    }
    line = (
        "faults of turns: silent (the last answer stays) detected in 70%, 4 of 10 kinds noticed; "
        "loud (an answer changes) detected in 100%, 8 of 8 kinds noticed"
    )
    assert line in Path(out, "report.html").read_text()
    said = " ".join(dhp("benchmark", "--model", judge, "--dataset", DATASET, "--details").out.split())
    assert said.count(line) == 1


@pytest.mark.slow
def test_kinds_that_apply_to_no_conversation_are_none_and_named_in_one_line(dhp: Run, tmp_path: Path) -> None:
    ask, answer = "Is table {} free?", "Table {} is taken, but table {} is free and stands at a window."
    chats = [
        {
            "messages": [
                {"role": "user", "content": ask.format(k)},
                {"role": "assistant", "content": answer.format(k, k + 40)},
            ]
        }
        for k in range(8)
    ]
    (tmp_path / "chats.jsonl").write_text("\n".join(map(json.dumps, chats)))
    command = "benchmark --model mock/ideal --dataset chats.jsonl"
    found = json.loads(dhp(f"{command} --json").out)
    assert found["variants"]
    assert all(row["n"] for row in (*found["variants"], *found["controls"]))
    assert "call_claimed.major" in found["left_out"]
    lines = dhp(command).out.splitlines()
    assert [line for line in lines if "calls claimed only" in line] == [
        line for line in lines if line.startswith("†")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("part", ["answer", "turn"])
def test_parts_are_degraded_at_each_level(part: str) -> None:
    (made,) = perturb_datasets(DATASET, judge_part=part, progress=None)
    degraded = {text.variant for text in made.texts if text.text is not None}
    levels = {variant.level for variant in made.variants if variant.name in degraded}
    assert levels >= {"character", "word", "sentence", "turn"}


@pytest.mark.slow
def test_a_judge_of_surfaces_is_not_applicable(dhp: Run) -> None:
    done = dhp("benchmark", "--model", "baseline/surface", "--dataset", DATASET)
    assert done.code == 2
    assert (
        "baseline/surface: not applicable: it reads nothing that tells of the metric 'helpfulness'"
        in done.err
    )
    assert not Path("runs").exists(), "a refused run leaves nothing"


def test_the_bundled_set_is_varied_and_serves_every_fault() -> None:
    (dataset,) = resolve_datasets([DATASET])
    assert dataset.task == read_task("conversation")
    assert len({e.id for e in dataset.examples}) == len({e.output for e in dataset.examples}) == 24
    kinds = {e.id.partition("-")[0] for e in dataset.examples}
    assert kinds == {"support", "booking", "coding"}
    assert {e.fields["language"] for e in dataset.examples} == {"en", "de", "es"}
    assert sum("Assistant calls" in e.output for e in dataset.examples) >= 20
    assert dataset.clusters == {}


def test_it_is_listed_and_shown(dhp: Run) -> None:
    assert DATASET in dhp("list", "datasets").out
    assert "licence: CC0-1.0" in dhp("show", DATASET).out


@pytest.mark.slow
def test_conversations_keep_their_task_where_a_function_judges() -> None:
    """So that its figures compare with those of a run that names the task."""
    settings = library.JudgeSettings(scale=(0, 1))
    file = str(mini_examples_file("conversations"))
    own, named = (
        library.run(lambda outputs: len(outputs) / 9999, file, n=5, task=task, judge_settings=settings)[0]
        for task in (None, "conversation")
    )
    assert own.signature == named.signature


def test_a_task_of_ones_own_is_kept_though_it_is_like_that_of_functions() -> None:
    file = str(mini_examples_file("conversations"))
    task = library.own_task([library.own_metric("score")])
    (found,) = resolve_datasets([file], task=task, judge_part="answer")
    assert (found.task.task, found.task.metric_names) == (task.task, task.metric_names)
