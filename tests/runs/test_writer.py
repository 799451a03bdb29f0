"""The folder of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.runs.reader import MANIFEST, RESULTS
from dhp.runs.writer import RunFolder, run_folder


def test_a_run_that_goes_on_keeps_the_time_at_which_it_was_begun(tmp_path: Path) -> None:
    identity: dict[str, object] = {"seed": 0, "datasets": [], "models": []}
    RunFolder(tmp_path).claim(identity, {})
    path = tmp_path / MANIFEST
    begun = {**json.loads(path.read_text()), "created": "2001-02-03T04:05:06+00:00"}
    path.write_text(json.dumps(begun))
    RunFolder(tmp_path).claim(identity, {})
    assert json.loads(path.read_text())["created"] == begun["created"]


def test_a_folder_without_results_may_be_of_another_run(tmp_path: Path) -> None:
    """As the first call of a run fails by a wrong name: the corrected command has the same `out`."""
    wrong, right = identity({"model": "openai/gpt", "protocol": "v1@1"}), identity()
    claimed(RunFolder(tmp_path), wrong)
    (tmp_path / "report.html").write_text("the page of what was there when it was stopped")
    claimed(RunFolder(tmp_path), wrong)
    assert (tmp_path / "report.html").exists()
    check(tmp_path)
    claimed(RunFolder(tmp_path), right)
    assert json.loads((tmp_path / MANIFEST).read_text())["identity"] == right
    assert not (tmp_path / "report.html").exists()
    (tmp_path / RESULTS).touch()
    with pytest.raises(InputError, match=r"holds a different run \(models differ\)"):
        claimed(RunFolder(tmp_path), wrong)


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "out") as one, RunFolder(tmp_path / "out") as other:
        one.check({"seed": 0})
        for begin in (lambda: other.check({"seed": 0}), lambda: other.claim({"seed": 0}, {})):
            with pytest.raises(InputError, match=r"^`out` .*out: is being written"):
                begin()
        one.claim({"seed": 0}, {})
    with RunFolder(tmp_path / "out") as later:
        later.check({"seed": 0})


def test_a_second_run_into_a_folder_pays_nothing(tmp_path: Path) -> None:
    calls: list[str] = []

    def judge(output: str) -> float:
        calls.append(output)
        return 3.0

    with RunFolder(tmp_path) as first:
        first.check({})
        with pytest.raises(InputError, match="is being written"):
            dhp.run(judge, "mini/summeval", n=2, out=tmp_path, judge_settings=dhp.JudgeSettings(scale=(1, 5)))
    assert calls == []


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wrong"):
        dhp.run("baseline/surface", "mini/summeval", out=tmp_path / "new" / "out", perturbers=["wrong"])
    assert list(tmp_path.iterdir()) == []


def identity(*judges: dict[str, object], dataset: str = "tickets.csv") -> dict[str, Any]:
    return {"seed": 0, "datasets": [{"dataset": dataset}], "models": list(judges)}


def asked(prompt: Path, text: str, **changes: object) -> dict[str, object]:
    """What identifies a judge that is asked by a prompt file of this text."""
    prompt.write_text(text + " {{output}} From 1 to 5?")
    protocol = dhp.protocol("dhp", **changes)
    settings = dhp.ModelSettings(store=False)
    return dhp.llm_judge("openai/gpt-4o", protocol, prompt=prompt, settings=settings).identity


def claimed(folder: RunFolder, given: dict[str, Any]) -> str:
    with folder:
        folder.claim(given, {})
    return str(folder.path)


def check(folder: Path, *judges: dict[str, object]) -> None:
    with RunFolder(folder) as run:
        run.check({"models": list(judges)})


@pytest.mark.parametrize(
    ("judges", "dataset", "name"),
    [
        ([("baseline/surface", "none")], "mini/summeval", "runs/mini_summeval-baseline_surface-"),
        ([("openai/gpt-4o", "v1@abc123")], "tickets.csv", "runs/tickets_csv-openai_gpt_4o-v1-"),
        ([("openai/a", "v1@1"), ("openai/a", "v2@2")], "t.csv", "runs/t_csv-openai_a-2_prompts-"),
        ([("openai/a", "dhp@1"), ("openai/b", "dhp@1")], "t.csv", "runs/t_csv-2_models-dhp-"),
    ],
)
def test_folders_are_called_after_data_judge_and_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judges: list[tuple[str, str]], dataset: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = identity(*({"model": m, "protocol": p} for m, p in judges), dataset=dataset)
    path = claimed(run_folder(None, None), given)
    assert path.startswith(name)
    assert len(path.removeprefix(name)) == 8, "the hash of all that was asked stands last"
    assert claimed(run_folder(None, None), given) == path
    assert claimed(run_folder(None, None), {**given, "seed": 1}) != path


def test_a_name_is_that_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = identity({"model": "openai/a", "protocol": "v1@1"})
    assert claimed(run_folder(None, "v1"), given) == "runs/v1"
    assert claimed(run_folder(None, "judge-good.2"), given) == "runs/judge-good.2"
    assert claimed(run_folder("elsewhere", "v1"), given) == "elsewhere"
    assert claimed(run_folder(None, "../v 2"), given) == "runs/v-2"
    assert claimed(run_folder(None, "../"), given).startswith("runs/tickets_csv-openai_a-v1-")


def test_an_edited_prompt_is_told_from_another_run(tmp_path: Path) -> None:
    prompt, folder = tmp_path / "v1.txt", tmp_path / "run"
    first = asked(prompt, "How useful is this?")
    claimed(RunFolder(folder), identity(first))
    (folder / RESULTS).touch()
    check(folder, first)
    said = f"^`out` {folder}: the prompt of 'v1' changed since the run there; give this run another `out` or"
    edited = asked(prompt, "How useful is this text?")
    for refuse in (
        lambda: check(folder, edited),
        lambda: claimed(RunFolder(folder), identity(edited)),
    ):
        with pytest.raises(InputError, match=said) as caught:
            refuse()
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="`samples` of 'v1' changed since the run there"):
        check(folder, asked(prompt, "How useful is this?", samples=2))
    with pytest.raises(InputError, match=r"\(models differ\)"):
        check(folder, asked(prompt.with_name("v2.txt"), "How useful is this?"))


@pytest.mark.parametrize("models", [None, 5, [5], [{}], [{"model": "a", "protocol": 1}], [{"settings": 3}]])
def test_a_manifest_without_judges_is_broken(tmp_path: Path, models: object) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"identity": {"seed": 0, "models": models}}))
    with pytest.raises(InputError, match="is broken"):
        check(tmp_path)
