"""The scores in logs of other tools are ratings; the logs are cut from what the tools wrote."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.ratings_table import ratings_of_log

TEXTS = [("1", "original"), ("1", "typos"), ("2", "original"), ("2", "typos")]
NAMES = [{"example": example, "variant": variant} for example, variant in TEXTS]


def written(path: Path, content: Any) -> Path:
    lines = map(json.dumps, content) if path.suffix == ".jsonl" else [json.dumps(content)]
    path.write_text("\n".join(lines))
    return path


def ratings(path: Path, **fields: str) -> dict[tuple[str, str, str], object]:
    """(example, variant, metric) -> its score, or why there is none."""
    table = ratings_of_log(path, fields)
    assert table is not None
    frame = table.set_index(["example", "variant", "metric"])
    return {
        key: row["score"] if row["status"] == "scored" else f"{row['status']}: {row['raw']}"
        for key, row in frame.iterrows()
    }


def promptfoo(entries: list[dict[str, Any]], **about: Any) -> dict[str, Any]:
    """`promptfoo eval -o results.json` of 0.121.20."""
    return {"evalId": "e", "results": {"version": 3, "results": entries, **about}, "config": {}}


def graded(variables: dict[str, str], score: float) -> dict[str, Any]:
    """An entry with a metric of a name, an unnamed assertion that names a score, and a grader that failed."""
    words = {"pass": score > 0.5, "score": score, "reason": "r"}
    no_json = "Could not extract JSON from llm-rubric response"
    failed = {"pass": False, "score": 0, "reason": no_json, "metadata": {"graderError": True}}
    components = [
        {**words, "assertion": {"type": "javascript", "metric": "words", "value": "x"}},
        {**words, "namedScores": {"clarity": 0.5}, "assertion": {"type": "javascript", "value": "y"}},
        {**words, "assertion": {"type": "javascript", "value": "z"}},
        {**failed, "assertion": {"type": "llm-rubric", "value": "is fine"}},
        {"pass": False, "score": 0, "reason": "No output", "assertion": {"type": "factuality", "value": "f"}},
    ]
    named = {"words": score, "clarity": 0.5}
    grading = {
        "pass": False,
        "score": 0.3,
        "reason": "r",
        "namedScores": named,
        "componentResults": components,
    }
    return {"vars": variables, "gradingResult": grading, "score": 0.3, "response": {"output": "Hi."}}


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_assertions_of_promptfoo_are_metrics(tmp_path: Path, name: str) -> None:
    entries = [graded(names, score) for names, score in zip(NAMES, [0.9, 0.2, 0.8, 0.4], strict=True)]
    read = ratings(written(tmp_path / name, promptfoo(entries) if name.endswith(".json") else entries))
    assert {key[2] for key in read} == {
        *("words", "javascript", "javascript 2", "llm-rubric", "factuality", "clarity")
    }
    assert read["1", "original", "words"] == 0.9
    assert read["2", "typos", "javascript 2"] == 0.4
    assert read["2", "typos", "clarity"] == 0.5
    assert read["1", "typos", "llm-rubric"] == "failed: Could not extract JSON from llm-rubric response"
    assert read["1", "typos", "factuality"] == "failed: No output"


def test_an_entry_of_promptfoo_with_an_error_failed_in_each_metric(tmp_path: Path) -> None:
    plain = {"pass": True, "score": 1, "reason": "All assertions passed", "namedScores": {}}
    entries = [{"vars": names, "gradingResult": plain} for names in NAMES[:3]]
    entries.append({"vars": NAMES[3], "gradingResult": None, "error": "API error:\n429"})
    read = ratings(written(tmp_path / "r.json", promptfoo(entries)))
    assert read["1", "typos", "overall"] == 1
    assert read["2", "typos", "overall"] == "failed: API error: 429"


def test_a_pass_without_a_score_counts_one(tmp_path: Path) -> None:
    entries = [{"vars": names, "gradingResult": {"pass": "o" in names["variant"][0]}} for names in NAMES]
    read = ratings(written(tmp_path / "r.json", promptfoo(entries)))
    assert read["1", "original", "overall"] == 1
    assert read["1", "typos", "overall"] == 0


def test_metrics_of_deepeval(tmp_path: Path) -> None:
    """A test run as `evaluate` of deepeval 4.3.1 stores it; the judge is the model that evaluated."""
    cases = [
        {
            "name": f"test_case_{n}",
            "input": "q",
            "actualOutput": "t",
            "metadata": names,
            "metricsData": [
                {"name": "A", "threshold": 0.5, "success": True, "score": 0.9, "evaluationModel": "gpt-x"},
                {
                    "name": "B",
                    "success": False,
                    "error": "judge answered\nnothing",
                    "evaluationModel": "gpt-x",
                },
                {"name": "C", "success": False, "evaluationModel": "gpt-x"},
            ],
        }
        for n, names in enumerate(NAMES)
    ]
    path = written(tmp_path / "run.json", {"testCases": cases, "conversationalTestCases": []})
    read = ratings(path)
    assert read["1", "typos", "A"] == 0.9
    assert read["1", "typos", "B"] == "failed: judge answered nothing"
    assert read["1", "typos", "C"] == 0
    assert [result.model for result in dhp.analyze(path)] == ["gpt-x"]


def test_scorers_of_inspect_ai(tmp_path: Path) -> None:
    """As inspect_ai 0.3.285 writes JSON: an unscored value is NaN."""
    unscored = {"value": float("nan"), "explanation": "no grade\nin it", "reason": "grader_failed"}
    grades = [{"value": "C"}, {"value": "I"}, {"value": "P"}, unscored]
    samples = [
        {
            "id": n,
            "epoch": 1,
            "metadata": names,
            "scores": {"grade": grade, "parts": {"value": {"a": 0.5, "b": True}}, "word": {"value": "maybe"}},
        }
        for n, (names, grade) in enumerate(zip(NAMES, grades, strict=True))
    ]
    read = ratings(written(tmp_path / "log.json", {"version": 2, "eval": {}, "samples": samples}))
    assert [read[(*text, "grade")] for text in TEXTS] == [1, 0, 0.5, "failed: grader_failed: no grade in it"]
    assert (read["1", "typos", "parts a"], read["1", "typos", "parts b"]) == (0.5, 1)
    assert read["1", "typos", "word"] == "failed: 'maybe' is no score"


def otlp(values: dict[str, object]) -> list[dict[str, object]]:
    kinds = {str: "stringValue", float: "doubleValue", bool: "boolValue"}
    return [{"key": key, "value": {kinds[type(value)]: value}} for key, value in values.items()]


def evaluated(score: float) -> list[dict[str, object]]:
    """The attributes of two events: a score, and a label alone."""
    relevance: dict[str, object] = {
        "gen_ai.evaluation.name": "Relevance",
        "gen_ai.evaluation.score.value": score,
    }
    label = {
        "gen_ai.evaluation.name": "Ok",
        "gen_ai.evaluation.score.label": "pass" if score > 0.5 else "fail",
    }
    return [relevance, label]


EVENT = "gen_ai.evaluation.result"
SCORES = [0.9, 0.2, 0.8, 0.4]


def test_events_of_spans(tmp_path: Path) -> None:
    """As OTLP's JSON, a line for each batch, and as the Python SDK writes a span."""
    of_sdk, of_otlp = [], []
    for n, (names, score) in enumerate(zip(NAMES, SCORES, strict=True)):
        events = evaluated(score)
        context = {"trace_id": "0x1", "span_id": f"0x{n}"}
        plain = [{"name": EVENT, "attributes": event} for event in events]
        of_sdk.append({"name": "chat", "context": context, "attributes": names, "events": plain})
        listed = [{"name": EVENT, "attributes": otlp(event)} for event in events]
        span = {"traceId": "1", "spanId": str(n), "kind": 1, "attributes": otlp({**names}), "events": listed}
        of_otlp.append({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    for name, lines in (("sdk.jsonl", of_sdk), ("otlp.jsonl", of_otlp)):
        read = ratings(written(tmp_path / name, lines))
        assert [read[(*text, "Relevance")] for text in TEXTS] == SCORES
        assert [read[(*text, "Ok")] for text in TEXTS] == [1, 0, 1, 0]


def test_log_records_belong_to_spans(tmp_path: Path) -> None:
    """By the id of the span, or of the response; an error is no score."""
    spans, records = [], []
    for n, (names, score) in enumerate(zip(NAMES, SCORES, strict=True)):
        about = otlp(
            {"eval.item": names["example"], "eval.copy": names["variant"], "gen_ai.response.id": f"r{n}"}
        )
        spans.append({"traceId": "1", "spanId": str(n), "kind": 1, "attributes": about})
        values = evaluated(score)[0]
        if n == 3:
            values = {"gen_ai.evaluation.name": "Relevance", "error.type": "timeout"}
        if n % 2:
            records.append({"spanId": str(n), "eventName": EVENT, "attributes": otlp(values)})
        else:
            event = {"event.name": EVENT, "gen_ai.response.id": f"r{n}"}
            records.append({"attributes": otlp({**values, **event})})
    parts = [
        {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]},
    ]
    read = ratings(written(tmp_path / "t.jsonl", parts), example="eval.item", variant="eval.copy")
    assert [read[(*text, "Relevance")] for text in TEXTS] == [0.9, 0.2, 0.8, "failed: timeout"]


def test_a_log_that_does_not_name_its_texts_says_what_to_do(tmp_path: Path) -> None:
    entries = [graded({"item": names["example"], "copy": names["variant"]}, 0.5) for names in NAMES]
    path = written(tmp_path / "r.json", promptfoo(entries))
    with pytest.raises(InputError) as error:
        ratings(path)
    message = str(error.value)
    assert "--field example=PATH --field variant=PATH" in message
    assert "vars.item, vars.copy" in message
    assert f"dhp benchmark --dataset {path} --model MODEL" in message
    read = ratings(path, example="vars.item", variant="vars.copy")
    assert read["2", "typos", "words"] == 0.5
    with pytest.raises(InputError, match="unknown field 'score'"):
        ratings(path, score="x")


def test_a_log_without_scores_names_the_command(tmp_path: Path) -> None:
    samples = [{"id": 1, "input": "Q?", "output": {"completion": "A."}, "scores": None}]
    path = written(tmp_path / "log.json", {"version": 2, "eval": {}, "samples": samples})
    with pytest.raises(
        InputError, match=r"inspect_ai log without scores of a judge; .*dhp benchmark --dataset"
    ):
        ratings(path)
    texts = written(tmp_path / "texts.json", [{"input": "Q?", "output": "A."}])
    with pytest.raises(InputError, match=r"dhp benchmark --dataset .*texts.json --model MODEL"):
        dhp.analyze(texts)


def test_entries_without_names_are_left_out_up_to_a_tenth(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [graded({"example": str(n // 2), "variant": TEXTS[n % 2][1]}, 0.5) for n in range(20)]
    path = written(tmp_path / "r.json", promptfoo([*entries, graded({"example": "1"}, 0.9)]))
    assert len({key[:2] for key in ratings(path)}) == 20
    assert "without variant (entry 21)" in caplog.text
    path = written(tmp_path / "r.json", promptfoo([*entries, *[graded({"example": "1"}, 0.9)] * 3]))
    with pytest.raises(InputError, match=r"3 of 23 rows .*without variant"):
        ratings(path)


def test_tables_are_no_logs(tmp_path: Path) -> None:
    rows = [{**names, "score": score, "trace_id": "1"} for names, score in zip(NAMES, SCORES, strict=True)]
    for path in (tmp_path / "t.json", tmp_path / "t.jsonl"):
        assert ratings_of_log(written(path, rows)) is None
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv")
    assert ratings_of_log(tmp_path / "t.csv") is None


@pytest.mark.slow
def test_a_log_is_analysed_and_recorded_as_a_table_of_the_same_ratings_is(tmp_path: Path) -> None:
    scores = {"original": 0.9, "typos": 0.2, "swaps": 0.9}
    texts = [{"example": str(n), "variant": variant} for n in range(8) for variant in scores]
    entries = [graded(names, scores[names["variant"]]) for names in texts]
    path = written(tmp_path / "r.json", promptfoo(entries))
    (result,) = dhp.analyze(path)
    words = {row.variant: row.metrics["words"].detection for row in result.variants}
    assert words == {"typos": 1.0, "swaps": 0.5}
    assert (result.dataset, result.judge) == ("r.json", "the judge")
    recorded = dhp.run(f"recorded/{path}")[0]
    assert {row.variant: row.metrics["words"].detection for row in recorded.variants} == words
