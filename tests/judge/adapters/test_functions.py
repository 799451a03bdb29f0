"""Functions as judges: what they may return, how they are called, what is kept, what is said of faults."""

import asyncio
import math
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.adapters.adapter import adapt
from dhp.judge.adapters.function_model import FunctionModel
from dhp.judge.adapters.returned import read_outcomes
from dhp.judge.adapters.scorer import ObjectJudge, Scorer
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import metric_name
from dhp.judge.factory import find_judges
from dhp.judge.ratings import checked_ratings
from dhp.llm import claims
from dhp.llm.settings import ModelSettings
from tests.judge.adapters.planted import check_planted, planted

UNIT = JudgeSettings(scale=(0, 1))


def texts(count: int = 6, fields: Mapping[str, str] = {}) -> list[Candidate]:
    return [
        Candidate(str(i), variant, f"{variant} {i}", f"source {i}", fields)
        for i in range(count)
        for variant in ("original", "typos")
    ]


def rated(
    judge: object,
    settings: JudgeSettings = UNIT,
    candidates: Sequence[Candidate] | None = None,
    models: ModelSettings = ModelSettings(),
) -> tuple[Task, list[Rating]]:
    """The task and the ratings of an object; those of its verdicts where a threshold is set."""
    candidates = texts() if candidates is None else candidates
    found = find_judges([judge], "dhp", models, models.context(), judge_settings=settings)[-1]
    task = found.own_task(dhp.perturb_datasets("mini/summeval", n=1)[0].dataset.task, candidates)
    found.prepare(candidates, task)
    return task, list(checked_ratings(found, candidates, task))


def scores(ratings: Sequence[Rating]) -> set[float | None]:
    return {r.score for r in ratings}


class Value:
    def __init__(self, **parts: object) -> None:
        self.__dict__.update(parts)


@pytest.mark.parametrize(
    ("returned", "status", "value", "reason"),
    [
        (0.25, "scored", 0.25, None),
        (3, "scored", 3.0, None),
        (True, "scored", 1.0, None),
        (np.True_, "scored", 1.0, None),
        ("no", "scored", 0.0, None),
        ({"score": 0.5, "reason": "half\nway"}, "scored", 0.5, "half way"),
        ({"key": "tone", "score": False, "comment": "rude"}, "scored", 0.0, "rude"),
        (Value(value="Pass", rationale="fine"), "scored", 1.0, "fine"),
        (Value(score=None, error="quota"), "unparsed", None, "quota"),
        (None, "unparsed", None, "returned no score"),
        (math.nan, "unparsed", None, "returned nan"),
        (math.inf, "unparsed", None, "returned inf"),
        ("very good", "unparsed", None, "returned the text 'very good'"),
        ([], "failed", None, "returned an empty list"),
        ([{"score": 1}, {"score": 0}], "failed", None, "returned two scores called 'own'"),
        ({"points": [1]}, "failed", None, "returned an object of type dict; allowed: a number"),
        ({"points": "many"}, "failed", None, "returned an object of type dict; allowed: a number"),
        ({"score": {"a": 1}}, "failed", None, "returned a score of type dict; allowed"),
        (object(), "failed", None, "returned an object of type object; allowed"),
    ],
)
def test_what_a_judge_may_return(returned: object, status: str, value: float | None, reason: str) -> None:
    (outcome,) = read_outcomes(returned, "own").values()
    assert (outcome.status, outcome.value) == (status, value)
    assert (outcome.reason or "").startswith(reason or "")
    assert (outcome.reason is None) == (reason is None)


@pytest.mark.parametrize(
    "returned",
    [
        {"Tone of voice": 0.25, "2nd": True, "reason": "both"},
        {"Tone of voice": {"score": 0.25, "reason": "both"}, "2nd": {"value": "yes", "comment": "both"}},
    ],
)
def test_a_mapping_of_metrics_to_scores_has_them_all(returned: object) -> None:
    found = read_outcomes(returned, "own")
    assert {name: (each.value, each.reason) for name, each in found.items()} == {
        "tone_of_voice": (0.25, "both"),
        "score_2nd": (1.0, "both"),
    }


def test_scores_with_keys_are_metrics() -> None:
    def judge(outputs: str) -> list[dict[str, object]]:
        return [{"key": "Tone of voice", "score": 0.25}, {"key": "2nd", "score": True}]

    task, ratings = rated(judge)
    assert task.metric_names == ("tone_of_voice", "score_2nd")
    assert {(r.metric, r.score) for r in ratings} == {("tone_of_voice", 0.25), ("score_2nd", 1.0)}
    assert [metric_name(n) for n in ("Faithfulness [GEval]", "__", "Ä")] == [
        "faithfulness_geval",
        "score",
        "score",
    ]


def test_parameters_are_given_by_name() -> None:
    seen: list[dict[str, object]] = []

    def judge(*, inputs: str, outputs: str, reference_outputs: str | None = None, **fields: object) -> bool:
        seen.append({"inputs": inputs, "outputs": outputs, "reference": reference_outputs, **fields})
        return True

    rated(judge, JudgeSettings(), texts(1))
    assert seen[0] == {"inputs": "source 0", "outputs": "original 0", "reference": None}
    seen.clear()
    rated(judge, JudgeSettings(), texts(1, {"question": "Why?"}))
    asked = {"inputs": "Why?", "outputs": "original 0", "reference": None, "context": "source 0"}
    assert seen[0] == asked
    seen.clear()
    rated(judge, JudgeSettings(fields={"inputs": "source", "hint": "question"}), texts(1, {"question": "?"}))
    assert seen[0] == {"inputs": "source 0", "outputs": "original 0", "reference": None, "hint": "?"}


def test_a_mapping_serves_names_that_are_not_known() -> None:
    def judge(story: str, ending: str, penalty: float = 0.5) -> float:
        return float(story.startswith("source") and ending.startswith(("original", "typos"))) * penalty

    _, ratings = rated(judge, JudgeSettings(scale=(0, 1), fields={"story": "source", "ending": "output"}))
    assert scores(ratings) == {0.5}
    with pytest.raises(InputError, match="parameter 'ending': no field of that name; map it by"):
        rated(judge)
    with pytest.raises(
        InputError, match=r"`judge_settings.fields` ending=outputs: no example has that field"
    ):
        rated(judge, JudgeSettings(fields={"story": "source", "ending": "outputs"}))
    with pytest.raises(InputError, match=r"the judge has no such parameter; did you mean 'ending'"):
        rated(judge, JudgeSettings(fields={"story": "source", "endings": "output", "ending": "output"}))
    with pytest.raises(InputError, match="no parameter takes the text under judgement"):
        rated(lambda source: 1.0)
    with pytest.raises(InputError, match="parameter 'x' has no name"):
        rated(partial(math.fabs))


def test_none_and_faults_keep_their_reason() -> None:
    def judge(outputs: str) -> object:
        if outputs == "typos 1":
            raise KeyError("quota")
        return {"typos 2": None, "typos 3": math.nan, "typos 4": 7, "original 3": "maybe"}.get(outputs, 0.5)

    _, ratings = rated(judge)
    by_text = {f"{r.variant} {r.example}": (r.status, r.raw) for r in ratings if r.status != "scored"}
    assert by_text == {
        "typos 1": ("failed", "KeyError: 'quota'"),
        "typos 2": ("unparsed", "returned no score"),
        "typos 3": ("unparsed", "returned nan"),
        "typos 4": ("out_of_scale", "7"),
        "original 3": ("unparsed", "returned the text 'maybe'"),
    }


def test_a_judge_that_always_raises_is_asked_a_few_times() -> None:
    calls: list[str] = []

    def judge(outputs: str) -> float:
        calls.append(outputs)
        raise RuntimeError("no key")

    with pytest.raises(InputError, match=r"failed on the first 5 texts \(RuntimeError: no key\)"):
        rated(judge, UNIT, texts(20))
    assert calls == [f"original {i}" for i in range(5)]


def test_the_scale_must_be_known() -> None:
    with pytest.raises(InputError, match=r"returned 0.5, and its scale is not known; .*0\.\.1"):
        rated(lambda outputs: 0.5, JudgeSettings())
    task, ratings = rated(lambda outputs: "original" in outputs, JudgeSettings())
    assert (task.metrics[0].scale.min, task.metrics[0].scale.max) == (0, 1)
    assert scores(ratings) == {0.0, 1.0}
    for wrong in ((1, 1), (1, 0), (0, math.inf)):
        with pytest.raises(InputError, match="the lower one first"):
            JudgeSettings(scale=wrong)


def test_scores_off_the_scale_of_a_shape_ask_for_another() -> None:
    async def graded(state: Any, target: Any) -> Any:
        raise AssertionError("is not called")

    adapter = replace(adapt(graded, "judge"), call=lambda arguments: 7.0, is_async=False, scale=(0.0, 1.0))

    def of(settings: JudgeSettings) -> tuple[Task, list[Rating]]:
        function = FunctionModel("python:x", adapter, 1)
        scorer = Scorer(function, adapter, settings, ModelSettings().context())
        task = dhp.perturb_datasets("mini/summeval", n=1)[0].dataset.task
        judge = ObjectJudge(scorer)
        own = judge.own_task(task, texts(2))
        return own, list(judge.rate(texts(2), own))

    with pytest.raises(
        InputError, match=r"returned 7, off the scale 0 to 1 of its shape \(inspect_ai scorer\)"
    ):
        of(JudgeSettings())
    assert {r.score for r in of(JudgeSettings(scale=(1, 10)))[1]} == {7.0}
    with pytest.raises(InputError, match=r"python:x: returned 7, off the scale 0 to 1; set another"):
        of(JudgeSettings(scale=(0, 1)))


@pytest.mark.parametrize(
    ("returned", "fault"),
    [
        (
            "great",
            r"returned no score for the first 5 texts \(returned the text 'great'\); allowed: a number",
        ),
        (None, r"returned no score for the first 5 texts \(returned no score\); allowed: a number"),
        (45, "returned 45, off the scale 0 to 1; set another `judge_settings.scale`"),
    ],
)
def test_a_judge_without_a_usable_score_is_stopped_at_the_first_texts(returned: object, fault: str) -> None:
    asked = []

    def judge(outputs: str) -> object:
        asked.append(outputs)
        return returned

    with pytest.raises(InputError, match=fault):
        rated(judge)
    assert len(asked) == 5, "originals alone"


@pytest.mark.slow
def test_a_pass_mark_is_of_the_scale_of_the_judge() -> None:
    def judge(outputs: str) -> float:
        return 0.3

    def passing(mark: str, *, lower_is_better: bool = False) -> float:
        settings = JudgeSettings(scale=(0, 1), lower_is_better=lower_is_better)
        config = dhp.AnalysisConfig(pass_mark=mark)
        (found,) = dhp.run(judge, "mini/summeval", n=4, judge_settings=settings, analysis=config)
        return found.variants[0].passes.share

    assert (passing("0.3"), passing("0.4")) == (1, 0)
    assert (passing("0.3", lower_is_better=True), passing("0.2", lower_is_better=True)) == (1, 0)
    with pytest.raises(InputError, match="`pass_mark` 2"):
        passing("2")


def test_low_scores_may_be_good() -> None:
    _, ratings = rated(lambda outputs: 2.0, JudgeSettings(scale=(1, 5), lower_is_better=True))
    assert scores(ratings) == {4.0}


def test_asynchronous_judges_run_together_and_threads_where_asked_for() -> None:
    together = 4
    barrier = threading.Barrier(together, timeout=10)

    def slow(outputs: str) -> float:
        if outputs.startswith("typos"):
            barrier.wait()
        return 0.5

    candidates = texts(together)[:1] + [c for c in texts(together) if c.variant == "typos"]
    _, ratings = rated(slow, JudgeSettings(scale=(0, 1), threads=together), candidates)
    assert scores(ratings) == {0.5}

    running, most = 0, 0

    async def awaited(outputs: str) -> float:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return float(len(outputs) % 2)

    models = ModelSettings(rate_limits=dhp.RateLimits(concurrency=3))
    _, ratings = rated(awaited, UNIT, texts(), models)
    assert most == 3
    assert {(f"{r.variant} {r.example}", r.score) for r in ratings} == {
        (c.text, float(len(c.text) % 2)) for c in texts()
    }


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("in_a_notebook", [False, True])
def test_a_function_may_run_a_loop_of_its_own(threads: int, in_a_notebook: bool) -> None:
    async def half(outputs: str) -> float:
        await asyncio.sleep(0)
        return 0.5

    def by_run(outputs: str) -> float:
        return asyncio.run(half(outputs))

    def by_loop(outputs: str) -> float:
        return asyncio.new_event_loop().run_until_complete(half(outputs))

    async def cell(judge: object) -> list[Rating]:
        return rated(judge, JudgeSettings(scale=(0, 1), threads=threads))[1]

    for judge in (by_run, by_loop):
        if in_a_notebook:
            ratings = asyncio.run(cell(judge))
        else:
            ratings = rated(judge, JudgeSettings(scale=(0, 1), threads=threads))[1]
        assert len(ratings) == 12
        assert scores(ratings) == {0.5}


def test_replies_of_a_version_are_called_for_once(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def judge(outputs: str) -> float:
        calls.append(outputs)
        if outputs == "typos 0" and len(calls) < 14:
            raise OSError("passing")
        return 0.5

    one = JudgeSettings(scale=(0, 1), version="1")
    for expected in (12, 13, 14):  # what failed is called for again
        rated(judge, one)
        assert len(calls) == expected
    rated(judge, JudgeSettings(scale=(0, 1), version="2"))
    assert len(calls) == 14 + 12
    assert "are not kept" not in caplog.text
    rated(judge, UNIT)
    rated(judge, UNIT)
    assert len(calls) == 14 + 3 * 12
    assert "its replies are not cached" in caplog.text


def test_what_another_command_is_calling_for_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two threads is a process to the other; the first call of one ends after both have begun."""
    monkeypatch.setattr(claims, "_owner", lambda: threading.current_thread().name)
    monkeypatch.setattr(claims, "_SECONDS_BETWEEN_LOOKS", 0.02)
    both, lock, called = threading.Barrier(2), threading.Lock(), []
    models, settings = ModelSettings(cache=tmp_path), JudgeSettings(scale=(0, 1), version="1")

    def judge(outputs: str) -> float:
        with lock:
            called.append(outputs)
        return 0.5

    def command() -> list[Rating]:
        both.wait()
        return rated(judge, settings, models=models)[1]

    with ThreadPoolExecutor(2) as pool:
        one, other = (pool.submit(command) for _ in range(2))
        assert sorted(map(str, one.result())) == sorted(map(str, other.result()))
    assert sorted(called) == sorted(c.text for c in texts())


def test_calls_count_against_the_limit() -> None:
    models = ModelSettings(limits=dhp.Limits(calls=3))
    with pytest.raises(dhp.StoppedEarly, match=r"`limits\.calls` 3"):
        rated(lambda outputs: 0.5, JudgeSettings(scale=(0, 1), version="1"), models=models)


FILE = """
import dhp
from beside import FACTOR
def judge(outputs): return FACTOR
class Other:
    model, protocol = "own/other", "none"
    def rate(self, candidates, task):
        return iter(())
other = Other()
number = 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_judges.py").write_text(FILE)
    (tmp_path / "beside.py").write_text("FACTOR = 0.5")
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.parametrize("name", ["own_judges", "own_judges.py", "./own_judges.py"])
def test_judges_are_found_by_name(folder: Path, name: str) -> None:
    task, ratings = rated(f"python:{name}:judge")
    assert (task.metric_names, scores(ratings)) == (("score",), {0.5})
    (other,) = find_judges(f"python:{name}:other", "dhp", ModelSettings(), ModelSettings().context())
    assert other.model == "own/other"
    sys.modules.pop("own_judges", None)
    sys.modules.pop("beside", None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python:own_judges.py:judgee", "no 'judgee' in own_judges.py; did you mean 'judge'?"),
        ("python:own_judge:judge", "cannot be imported (ModuleNotFoundError: No module named 'own_judge')"),
        ("python:none.py:judge", "no file none.py; allowed: python:FILE.py:OBJECT"),
        ("python:broken.py:x", "cannot be imported (ModuleNotFoundError: No module named 'nothing_of"),
        ("python:own_judges.py:number", "is of type int, which is no judge; allowed: a function f("),
        ("python:", "must have the form python:MODULE:OBJECT, python:FILE.py:OBJECT"),
        ("python::judge", "must have the form python:MODULE:OBJECT, python:FILE.py:OBJECT"),
        ("python:own_judges.py", "names a file only; allowed: python:own_judges.py:OBJECT"),
        ("python:nobody", "no entry point of that name in the group dhp.judges"),
    ],
)
def test_what_cannot_be_found_is_said_in_one_line(folder: Path, name: str, message: str) -> None:
    with pytest.raises(InputError) as fault:
        rated(name)
    assert message in str(fault.value)
    assert "\n" not in str(fault.value)


def test_entry_points_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "acme-1.dist-info").mkdir()
    (folder / "acme-1.dist-info" / "entry_points.txt").write_text("[dhp.judges]\nacme = own_judges:judge\n")
    (folder / "acme-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    monkeypatch.syspath_prepend(folder)
    assert scores(rated("python:acme")[1]) == {0.5}


def test_settings_without_such_a_judge_are_refused() -> None:
    with pytest.raises(InputError, match="`judge_settings`: are for functions and scorers"):
        dhp.run("baseline/surface", "mini/summeval", n=2, judge_settings=UNIT)


def test_the_same_function_twice_is_refused() -> None:
    def judge(outputs: str) -> bool:
        return True

    with pytest.raises(InputError, match="is given twice"):
        dhp.run([judge, judge], "mini/summeval", n=2)


@pytest.mark.slow
def test_d_is_as_planted() -> None:
    check_planted(lambda outputs: planted(outputs), UNIT)
