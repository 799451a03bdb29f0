"""Logs of other tools become datasets of production texts; each fault is one clear line."""

import csv
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dhp.core import files
from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.loaders.resolve import resolve_datasets
from dhp.plugins.frameworks.logs import log_dataset

TEXT = "Paris is the capital. It is old."
UNVERSIONED = {"results": {"results": [{"prompt": {"raw": "Q"}, "response": {"output": "A"}}]}}


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    if isinstance(content, list) and name.endswith(".jsonl"):
        path.write_text("\n".join(map(json.dumps, content)))
    else:
        path.write_text(json.dumps(content))
    return path


def inspect_log(**changes: Any) -> dict[str, Any]:
    """The parts of a log of inspect_ai 0.3 that are read."""
    user = {"role": "user", "content": "What is the capital?"}
    samples = [
        {
            "id": "q1",
            "epoch": 1,
            "input": [{"role": "system", "content": "Be brief."}, user],
            "target": ["Paris"],
            "output": {"model": "m", "completion": TEXT, "choices": []},
        },
        {"id": "q1", "epoch": 2, "input": "What?", "target": "Paris", "output": {"completion": TEXT}},
        {
            "id": 2,
            "epoch": 1,
            "input": "Who?",
            "target": "",
            "error": {"message": "x"},
            "output": {"choices": []},
        },
        {
            "id": 3,
            "epoch": 1,
            "input": "Where?",
            "target": "",
            "output": {"choices": [{"message": {"content": [{"type": "text", "text": TEXT}]}}]},
        },
    ]
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples, **changes}


def test_inspect_logs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = log_dataset(written(tmp_path, "a.json", inspect_log()))
    assert found.examples == (
        Example("q1", "Be brief.\n\nWhat is the capital?", TEXT, {"reference": "Paris"}),
        Example("3", "Where?", TEXT, {}),
    )
    assert (found.task.task, found.suite and found.suite.suite) == ("instruction", "general")
    assert "production texts" in found.notes[0]
    assert "4 entries, left out: 1 of further epochs, 1 without output" in caplog.text
    odd = inspect_log(samples=[{"id": 1, "epoch": 1e999, "input": "Who?", "output": {"completion": TEXT}}])
    with pytest.raises(InputError, match=r"a\.json: .*1: epoch 'inf'"):
        log_dataset(written(tmp_path, "a.json", odd))


def test_eval_files(tmp_path: Path) -> None:
    log = inspect_log()
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
    plain = log_dataset(written(tmp_path, "a.json", log)).examples
    assert sorted(log_dataset(tmp_path / "a.eval").examples, key=str) == sorted(plain, key=str)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "MOST_UNPACKED", 100)
        with pytest.raises(InputError, match=r"a\.eval: holds more than 100 bytes when unpacked"):
            log_dataset(tmp_path / "a.eval")
    (tmp_path / "b.eval").write_text("no archive")
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "c.eval", "w", method) as archive:
            archive.writestr("header.json", json.dumps(log) * 9)
        packed = bytearray((tmp_path / "c.eval").read_bytes())
        packed[60:200] = bytes(140)
        (tmp_path / "c.eval").write_bytes(packed)
        with pytest.raises(InputError, match=r"c\.eval: not an inspect_ai log"):
            log_dataset(tmp_path / "c.eval")
    with pytest.raises(InputError, match=r"b\.eval: not an inspect_ai log"):
        log_dataset(tmp_path / "b.eval")


def test_promptfoo_results(tmp_path: Path) -> None:
    def result(number: int, output: object, **variables: str) -> dict[str, Any]:
        prompt = {"raw": f"Answer {number}", "label": "x"}
        return {
            "prompt": prompt,
            "vars": variables,
            "response": {"output": output},
            "success": True,
            "score": 1,
        }

    results = [result(1, TEXT, expected="Paris"), result(2, {"answer": TEXT}), result(3, None)]
    log = {"evalId": "e", "results": {"version": 3, "results": results, "stats": {}}, "config": {}}
    found = log_dataset(written(tmp_path, "results.json", log))
    assert found.examples == (
        Example("1", "Answer 1", TEXT, {"reference": "Paris"}),
        Example("2", "Answer 2", TEXT, {}),
    )
    log["results"]["version"] = 9  # type: ignore[index]
    with pytest.raises(InputError, match="promptfoo results of version 9; allowed: 1, 2, 3"):
        log_dataset(written(tmp_path, "results.json", log))


def test_deepeval_runs(tmp_path: Path) -> None:
    case = {
        "name": "test_case_0",
        "input": "Which?",
        "actualOutput": TEXT,
        "expectedOutput": "Paris",
        "retrievalContext": ["One.", "Two."],
        "metricsData": [],
    }
    for log in ({"testCases": [case]}, {"testRunData": {"testCases": [case]}}):
        found = log_dataset(written(tmp_path, "run.json", log))
        fields = {"reference": "Paris", "question": "Which?"}
        assert found.examples == (Example("test_case_0", "One.\n\nTwo.", TEXT, fields),)
        assert found.task.task == "rag"


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({"input": "Who?", "output": TEXT, "expectedOutput": "x"}, {"reference": "x"}),
        (
            {
                "id": "t",
                "input": {"messages": [{"role": "user", "content": "Who?"}]},
                "output": {"role": "assistant", "content": TEXT},
            },
            {},
        ),
        ({"inputs": {"question": "Who?"}, "outputs": {"answer": TEXT}, "reference_outputs": None}, {}),
        ({"input": "Who?", "output": {"choices": [{"message": {"content": TEXT}}]}}, {}),
        (
            {
                "prompt": "Who?",
                "output": [{"role": "tool", "content": "x"}, {"role": "assistant", "content": TEXT}],
            },
            {},
        ),
    ],
)
def test_tables_of_other_tools(tmp_path: Path, row: dict[str, Any], fields: dict[str, str]) -> None:
    (found,) = log_dataset(written(tmp_path, "log.jsonl", [row])).examples
    assert (found.source, found.output, dict(found.fields)) == ("Who?", TEXT, fields)


def test_fields_say_where_texts_stand(tmp_path: Path) -> None:
    path = written(tmp_path, "log.jsonl", [{"a": {"b": ["Who?"]}, "said": TEXT, "input": "no"}])
    (found,) = log_dataset(path, fields={"input": "a.b[0]", "output": "said"}, task="summarization").examples
    assert (found.source, found.output) == ("Who?", TEXT)
    with pytest.raises(
        InputError, match="`fields` output=sayd: no entry has it; an entry has a, said, input"
    ):
        log_dataset(path, fields={"output": "sayd"})
    with pytest.raises(InputError, match=r"unknown field '[a-z_]+'.*'output'"):
        log_dataset(path, fields={"outptu": "said"})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", inspect_log(version=7), "inspect_ai log of version 7; allowed: 1, 2"),
        ("a.json", UNVERSIONED, "promptfoo results of version None; allowed: 1, 2, 3"),
        ("a.json", inspect_log(samples=[]), r"inspect_ai log without outputs \(0 entries\)"),
        ("a.json", inspect_log(samples=None), r"inspect_ai log without outputs \(0 entries\)"),
        ("a.json", {"testCases": [{"input": "x"}]}, r"deepeval test run without outputs \(1 entries\)"),
        ("a.jsonl", [{"input": "x"}], r"log without outputs \(1 entries\); allowed: entries with"),
        ("a.txt", "x", "unknown kind of log '.txt'"),
    ],
)
def test_logs_that_cannot_be_used(tmp_path: Path, name: str, content: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        log_dataset(written(tmp_path, name, content))
    with pytest.raises(InputError, match="no"):
        log_dataset(tmp_path / f"absent-{name}")


@pytest.mark.parametrize(
    ("cell", "what", "path"),
    [
        ('{"output": "%s"}', "object (output)", "outputs.output"),
        ("{'score': 3, 'answer': '%s'}", "object (score, answer)", "outputs.answer"),
        ('{"meta": {"n": 1}, "result": {"text": "%s"}}', "object (meta, result)", "outputs.result.text"),
        ('["%s", "b"]', "list", "outputs[0]"),
        ('[{"text": "%s"}]', "list", "outputs[0].text"),
        ('{"messages": [{"role": "assistant", "content": "%s"}]}', "object (messages)", "outputs.messages"),
    ],
)
def test_json_in_a_cell_of_outputs_is_refused_with_the_path_to_its_text(
    tmp_path: Path, cell: str, what: str, path: str
) -> None:
    file = tmp_path / "log.csv"
    with file.open("w", newline="") as rows:
        csv.writer(rows).writerows([["input", "outputs"], ["What?", cell % TEXT], ["Who?", cell % TEXT]])
    for fields in ({}, {"output": "outputs"}):
        with pytest.raises(InputError) as error:
            log_dataset(file, fields=fields)
        assert f"row 1: column 'outputs' holds a JSON {what}; say which part" in str(error.value)
        assert str(error.value).endswith("output=outputs[0]" if what == "list" else "output=outputs.KEY")
    found = log_dataset(file, fields={"output": path})
    assert [example.output for example in found.examples] == [TEXT, TEXT]


@pytest.mark.parametrize(
    "columns",
    [
        ("question", "contexts", "answer", "ground_truth"),
        ("query", "retrieved_contexts", "response", "reference"),
        ("user_input", "Retrieved Contexts", "Response", "Reference"),
        ("Question", "Documents", "Answer", "expected_output"),
        ("input", "retrievalContext", "actualOutput", "expectedOutput"),
    ],
)
@pytest.mark.parametrize(("cell", "task"), [(json.dumps, None), (str, "rag")])
def test_columns_of_retrieval_are_known_by_their_names(
    tmp_path: Path, columns: Sequence[str], cell: Callable[[object], str], task: str | None
) -> None:
    path = tmp_path / "rag.csv"
    passages = ["Paris is the capital of France.", "It is old."]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, ["What is the capital?", cell(passages), TEXT, "Paris"]])
    (found,) = resolve_datasets([str(path)], task=task)
    assert found.task.task == "rag"
    fields = {"question": "What is the capital?", "reference": "Paris"}
    assert found.examples == (Example("1", "\n\n".join(passages), TEXT, fields),)


def test_a_table_without_passages_is_none_of_retrieval(tmp_path: Path) -> None:
    path = tmp_path / "rag.csv"
    path.write_text(f"question,answer\nWhat?,{TEXT}\n")
    with pytest.raises(InputError, match="column 'source' is missing"):
        resolve_datasets([str(path)], task="rag")
