"""Evaluators in the forms that LangSmith documents, and classes in the place of judges."""

from collections.abc import Mapping
from typing import Any

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.judge.adapters.adapter import adapt
from dhp.plugins.frameworks.langsmith import adapt_langsmith
from tests.judge.adapters.planted import check_planted, planted

UNIT = dhp.JudgeSettings(scale=(0, 1))


def of_run_and_example(run: Any, example: Any) -> dict[str, object]:
    assert run.inputs["input"] == example.inputs["input"]
    assert run.inputs["source"].strip()
    return {"key": "quality", "score": planted(run.outputs["output"])}


def of_dicts(inputs: dict[str, str], outputs: dict[str, str]) -> float | None:
    assert inputs["input"].strip()
    return planted(outputs["answer"])


async def of_several(outputs: "Mapping[str, str]", reference_outputs: "dict[str, str]") -> object:
    assert reference_outputs == {}
    return {"results": [{"key": "quality", "score": planted(outputs.get("response", ""))}]}


class OfRuns:
    def evaluate_run(self, run: Any, example: Any = None) -> dict[str, object]:
        return {"key": "quality", "score": planted(run.outputs["output"])}


@pytest.mark.slow
@pytest.mark.parametrize("judge", [of_run_and_example, of_dicts, of_several, OfRuns(), OfRuns])
def test_each_form_finds_the_planted_damage(judge: object) -> None:
    check_planted(judge, UNIT)


def texts_given(judge: object, **arguments: str) -> Any:
    adapter = adapt(judge, "judge")
    assert adapter.shape.startswith("langsmith")
    return adapter.call({"inputs": None, "reference_outputs": None, **arguments})


def test_a_text_has_its_usual_names_and_those_that_are_mapped() -> None:
    def read(outputs: dict[str, str]) -> list[object]:
        return [
            outputs["output"],
            outputs["answer"],
            outputs.get("text"),
            "response" in outputs,
            dict(outputs),
        ]

    assert texts_given(read, outputs="t") == ["t", "t", "t", True, {"output": "t"}]

    def unusual(outputs: dict[str, str]) -> str:
        return outputs["final"]

    with pytest.raises(KeyError) as refused:
        texts_given(unusual, outputs="t")
    assert "--map outputs.final=output" in str(refused.value)
    assert "JudgeSettings(fields={'outputs.final': 'output'})" in str(refused.value)
    with pytest.raises(KeyError, match="final"):
        texts_given(lambda run: run.outputs.get("final", ""), outputs="t")
    assert texts_given(unusual, outputs="t", **{"outputs.final": "t"}) == "t"


@pytest.mark.slow
def test_the_mapped_name_reaches_the_judge_from_the_settings() -> None:
    def judge(inputs: dict[str, str], outputs: dict[str, str]) -> float:
        return min(1.0, len(outputs["final"]) / 600)

    settings = dhp.JudgeSettings(scale=(0, 1), fields={"outputs.final": "output"})
    assert dhp.run(judge, "mini/summeval", n=5, judge_settings=settings).ratings["scored"] == 70
    with pytest.raises(InputError, match=r"--map outputs\.final=output"):
        dhp.run(judge, "mini/summeval", n=5, judge_settings=UNIT)


def test_what_takes_texts_stays_a_function() -> None:
    def plain(inputs: str, outputs: str) -> float:
        return 1.0

    def either(outputs: str | dict[str, str]) -> float:
        return 1.0

    for judge in (plain, either, lambda outputs: 1.0):
        assert adapt_langsmith(judge) is None
        assert adapt(judge, "judge").shape == "function"


def test_a_judge_that_reads_dicts_without_saying_so_is_told_how() -> None:
    def judge(inputs, outputs):  # type: ignore[no-untyped-def]
        return len(outputs["output"])

    with pytest.raises(InputError, match=r"say so: def judge\(inputs: dict, outputs: dict\)"):
        dhp.run(judge, "mini/summeval", n=5, judge_settings=UNIT)


class Ready:
    def __call__(self, outputs: str) -> float:
        return min(1.0, len(outputs) / 600)


class Needy:
    def __init__(self, model: str, *, temperature: float = 0) -> None:
        self.model = model

    def __call__(self, outputs: str) -> float:
        return 1.0


class Broken:
    def __init__(self) -> None:
        raise RuntimeError("no key is set")


def test_a_class_is_made_or_the_line_to_write_is_said() -> None:
    assert adapt(Ready, "judge").call({"outputs": "x" * 300}) == 0.5
    with pytest.raises(InputError, match=r"needs model; write judge = Needy\(model=...\), and name judge"):
        adapt(Needy, "judge")
    with pytest.raises(InputError, match=r"Broken\(\) cannot be made \(RuntimeError: no key is set\)"):
        adapt(Broken, "judge")


@pytest.mark.slow
def test_an_own_judge_may_be_given_as_its_class() -> None:
    class Same:
        model, protocol = "own/same", "none"

        def rate(self, candidates: Any, task: Any) -> Any:
            for c in candidates:
                for metric in task.metrics:
                    yield dhp.Rating(c.example, c.variant, metric.name, 0, 3)

    assert dhp.run(Same, "mini/summeval", n=5).model == "own/same"


def test_evaluators_of_the_package_itself() -> None:
    evaluation = pytest.importorskip("langsmith.evaluation")
    decorated = evaluation.run_evaluator(
        lambda run, example: {"key": "k", "score": len(run.outputs["output"])}
    )
    found = texts_given(decorated, outputs="four")
    assert (found.key, found.score) == ("k", 4)


def test_a_function_of_inspect_ai_that_makes_a_scorer_is_called() -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")

    @scorer.scorer(metrics=[scorer.accuracy()])  # type: ignore[untyped-decorator]
    def overlap() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return scorer.Score(value=1.0)

        return score

    @scorer.scorer(metrics=[scorer.accuracy()])  # type: ignore[untyped-decorator]
    def above(threshold: float) -> Any:
        async def score(state: Any, target: Any) -> Any:
            return scorer.Score(value=threshold)

        return score

    assert adapt(overlap, "judge").shape == "inspect_ai scorer"
    with pytest.raises(InputError, match=r"write judge = above\(threshold=...\)"):
        adapt(above, "judge")
