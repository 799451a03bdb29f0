"""Judges of each framework, by stubs of a planted sensitivity; skipped where the package is absent."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.judge.adapters.adapter import adapt
from dhp.plugins.frameworks.inspect_ai import log_scorers
from tests.cli.conftest import Run, results_in, write_rows
from tests.judge.adapters.planted import check_planted, found_in, planted

UNIT = dhp.JudgeSettings(scale=(0, 1))


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=f"the package of {name} is not installed")


def rate(judge: object, **fields: str | None) -> Any:
    """One call of an adapted judge, with its own names of parameters."""
    adapter = adapt(judge, "judge")
    given = adapter.call({name: fields.get(name) for name in adapter.fields if name not in adapter.optional})
    return asyncio.run(given) if adapter.is_async else given  # type: ignore[arg-type]


def shape(judge: object) -> tuple[str, str]:
    adapter = adapt(judge, "judge")
    return adapter.shape, adapter.name


def test_deepeval_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    metrics = package("deepeval.metrics")

    class Own(metrics.BaseMetric):  # type: ignore[misc]
        threshold = 0.5

        def measure(self, test_case: Any) -> float | None:
            assert test_case.input.strip()
            assert test_case.context == test_case.retrieval_context == [test_case.input]
            assert test_case.expected_output is None
            self.score, self.reason = planted(test_case.actual_output), "because"
            return self.score

        def is_successful(self) -> bool:
            return True

        @property
        def __name__(self) -> str:
            return "Own Metric"

    own = Own()
    found = check_planted(own)
    assert shape(own) == ("deepeval metric", "Own Metric")
    assert (list(found.variants[0].metrics), own.score) == (["own_metric"], None)


def test_deepeval_g_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    metrics, models = package("deepeval.metrics"), package("deepeval.models")
    case = package("deepeval.test_case")

    class Stub(models.DeepEvalBaseLLM):  # type: ignore[misc]
        def load_model(self) -> object:
            return self

        def generate(self, prompt: str, schema: Any = None) -> Any:
            score = planted(found_in(prompt))
            if score is None:
                raise RuntimeError("planted")
            return schema(score=score * 10, reason="because")

        async def a_generate(self, prompt: str, schema: Any = None) -> Any:
            return self.generate(prompt, schema)

        def get_model_name(self) -> str:
            return "stub"

    judge = metrics.GEval(
        name="Quality",
        evaluation_steps=["Read the text.", "Rate it."],
        evaluation_params=[case.SingleTurnParams.ACTUAL_OUTPUT],
        model=Stub(),
    )
    (found,) = dhp.run(judge, "mini/summeval")
    assert found.ratings["failed"] == 3
    assert found.failures == {"RuntimeError: planted": 3}
    d = {v.variant: v.d or 0 for v in found.variants}
    assert d["random_typos.major"] == pytest.approx(24 * 0.2314, rel=1e-3)
    assert d["random_deletions.major"] == 0


def test_autoevals_scorers() -> None:
    autoevals = package("autoevals")
    score = package("autoevals.score")

    class Own(score.Scorer):  # type: ignore[misc]
        def _run_eval_sync(self, output: str, expected: str | None = None, **fields: Any) -> Any:
            assert fields["input"] == fields["context"]
            return score.Score(name="own", score=planted(output))

    check_planted(Own())
    assert shape(autoevals.Levenshtein()) == ("autoevals scorer", "Levenshtein")
    with pytest.raises(InputError, match="expected"):
        dhp.run(autoevals.Levenshtein(), "mini/summeval", n=6)


def test_openevals_evaluators() -> None:
    create = package("openevals.llm").create_llm_as_judge

    def completed(messages: list[dict[str, Any]], **_: Any) -> Any:
        score = planted(found_in("\n".join(message["content"] for message in messages)))
        return SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(content=json.dumps({"score": score})))]
        )

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=completed)))
    judge = create(
        prompt="Rate this: {outputs}", judge=client, model="stub", continuous=True, use_reasoning=False
    )
    assert shape(judge) == ("openevals evaluator", "score")
    check_planted(judge)


def test_inspect_scorers() -> None:
    scorer = package("inspect_ai.scorer")

    @scorer.scorer(metrics=[scorer.mean()])  # type: ignore[untyped-decorator]
    def own() -> Any:
        async def score(state: Any, target: Any) -> Any:
            assert state.input_text.strip()
            value = planted(state.output.completion)
            return scorer.Score.unscored(reason="no grade") if value is None else scorer.Score(value=value)

        return score

    found = check_planted(own())
    assert list(found.variants[0].metrics) == ["own"]


def test_inspect_grades() -> None:
    scorer = package("inspect_ai.scorer")

    async def graded(state: Any, target: Any) -> Any:
        return scorer.Score(value={"C": "C", "P": "P", "I": "I", "N": "N"}, explanation=target.text)

    found = rate(graded, input="in", output="out", target="aim")
    assert {each["key"]: each["score"] for each in found} == {"C": 1.0, "P": 0.5, "I": 0.0, "N": None}
    assert {each["reason"] for each in found} == {"aim"}
    assert rate(scorer.includes(), input="", output="an answer", target="answer")["score"] == 1.0


@pytest.mark.parametrize("suffix", ["json", "eval"])
def test_inspect_logs_are_audited_by_their_own_scorers(tmp_path: Path, suffix: str) -> None:
    log = package("inspect_ai.log")
    sample = {"id": 1, "epoch": 1, "input": "Who?", "target": "Ann. She", "messages": []}
    said = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "It was Ann. She left."}}]}
    spec = {
        "created": "2026-01-01T00:00:00+00:00",
        "task": "t",
        "dataset": {},
        "model": "m",
        "config": {},
        "scorers": [{"name": "includes", "options": {}}],
    }
    whole = log.EvalLog(eval=spec, status="success", samples=[{**sample, "output": said}])
    path = str(tmp_path / f"log.{suffix}")
    log.write_eval_log(whole, path)
    (found,) = dhp.run(log_scorers(path), dhp.log_dataset(path, language="en"))
    fell = {v.variant: v.metrics["includes"].fell for v in found.variants}
    assert (found.model, fell["random_deletions.major"]) == ("python:inspect_ai:includes", 1.0)


def test_phoenix_evaluators() -> None:
    evals = package("phoenix.evals")

    @evals.create_evaluator(name="own", direction="minimize")  # type: ignore[untyped-decorator]
    def own(output: str, input: str) -> Any:
        assert input.strip()
        score = planted(output)
        return {"label": "none"} if score is None else 1 - score

    check_planted(own, UNIT)
    assert adapt(own, "own").lower_is_better


def test_ragas_metrics() -> None:
    ragas = package("ragas.metrics")

    @ragas.numeric_metric(name="own", allowed_values=(0.0, 1.0))  # type: ignore[untyped-decorator]
    def own(user_input: str, response: str) -> Any:
        assert user_input.strip()
        return package("ragas.metrics.result").MetricResult(value=planted(response), reason="because")

    class Own(package("ragas.metrics.collections.base").BaseMetric):  # type: ignore[misc]
        async def ascore(self, response: str, retrieved_contexts: list[str]) -> Any:
            assert len(retrieved_contexts) == 1
            return package("ragas.metrics.result").MetricResult(value=planted(response))

    assert shape(own) == shape(Own(name="own")) == ("ragas metric", "own")
    check_planted(Own(name="own"))
    check_planted(own, unparsed=3, failed=0)  # ragas itself turns what a function raises into no score
    needy = ragas.DiscreteMetric(name="needy", prompt="Is {response} good?", allowed_values=["pass", "fail"])
    with pytest.raises(InputError, match="needs a model; set its attribute llm"):
        adapt(needy, "judge")


def test_ragas_single_turn_metrics() -> None:
    ragas = package("ragas.metrics")
    match = ragas.ExactMatch()
    assert rate(match, response="a", reference="a") == 1.0
    assert rate(match, response="a", reference="b") == 0.0


def test_mlflow_scorers() -> None:
    mlflow = package("mlflow.genai.scorers")
    entities = package("mlflow.entities")

    @mlflow.scorer  # type: ignore[untyped-decorator]
    def own(inputs: dict[str, str], outputs: str) -> Any:
        assert list(inputs) == ["source"]
        value = planted(outputs)
        return None if value is None else entities.Feedback(value=value, rationale="because")

    assert shape(own) == ("mlflow scorer", "own")
    check_planted(own, UNIT)


def test_langfuse_evaluators() -> None:
    langfuse = package("langfuse")

    def own(*, input: str, output: str, expected_output: str | None, metadata: Any, **_: Any) -> Any:
        assert metadata is None
        return langfuse.Evaluation(name="own", value=planted(output), comment="because")

    assert shape(own) == ("langfuse evaluator", "score")
    check_planted(own, UNIT)


def test_shapes_are_told_apart_without_their_packages() -> None:
    def plain(outputs: str) -> bool:
        return True

    assert shape(plain) == ("function", "score")

    class Scorer:
        def __call__(self, *, inputs: str, outputs: str) -> bool:
            return True

    assert shape(Scorer()) == ("function", "score")
    for wrong in (3, object(), Candidate("a", "original", "text", "")):
        with pytest.raises(InputError, match="no judge"):
            adapt(wrong, "judge")


WORDS = "The river rose again. Nobody saw the bridge fall in {}. Later the town paid for it."

JUDGE = """
def judge(*, inputs, outputs):
    assert inputs.startswith("What")
    return len(outputs) / 400
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(JUDGE)
    rows = [{"input": f"What happened in {i}?", "output": WORDS.format(1900 + i)} for i in range(8)]
    write_rows(str(tmp_path / "log.jsonl"), rows)
    return tmp_path / "log.jsonl"


@pytest.mark.slow
def test_the_report_says_what_the_originals_are(dhp: Run, log: Path) -> None:
    judge = ("--model", "python:mine.py:judge", "--scale", "0..1", "--out", "run")
    done = dhp("benchmark", "--dataset", log, *judge)
    assert done.code == 0, done.err
    assert "production texts, not references" in done.out
    assert "production texts, not references" in Path("run/report.html").read_text()
    result = results_in("run")
    d = {v["variant"]: v["d"] for v in result["variants"]}
    assert d["sentence_deletion.minor"] == pytest.approx(8 * 0.2314, rel=1e-3)
    assert (d["sentence_repetition.minor"], result["n"]) == (pytest.approx(0, abs=1e-6), 8)


def test_doctor_shows_what_a_judge_is_given(dhp: Run, log: Path) -> None:
    done = dhp("doctor", "--judge", "python:mine.py:judge", "--map", "inputs=source")
    said = "function, metric 'score', synchronous, scale not known; inputs <- source, outputs <- output"
    assert said in done.out
    wrong = dhp("doctor", "--judge", "python:mine.py:juge")
    assert "no 'juge' in mine.py" in wrong.out
    assert wrong.code == 1
