"""Batch files: what is written, what may come back, and that a run ends as if it had asked directly."""

import json
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pytest

import dhp
from dhp.core.errors import DiskFull, InputError, StoppedEarly
from dhp.core.records import Candidate
from dhp.judge import ratings as judge_ratings
from dhp.llm.records import Failure, Reply
from dhp.plugins.batch import request_files
from dhp.plugins.batch.request_files import BatchWriter
from dhp.plugins.batch.results import BatchResults, read_result_line, same_model
from dhp.plugins.batch.settings import BatchSettings
from tests.plugins.batch.answers import answer, expired, read, refused, score, write, write_answers
from tests.server import Call, reply, scripted_server

WAY = {"dataset": "mini/answer_equivalence", "n": 3, "controls": False}


def settings(
    folder: Path, *, write: str | None = None, read: tuple[Path, ...] = (), **more: object
) -> object:
    batch = BatchSettings(folder / write if write else None, read)
    return dhp.ModelSettings(cache=folder / "cache", filler=batch, **more)


def run(folder: Path, *, model: object = "openai/m", out: str = "out", **given: object) -> dhp.Results:
    protocol = dhp.protocol("dhp", samples=given.pop("samples", 2))
    return dhp.run(model, protocol=protocol, out=folder / out, settings=settings(folder, **given), **WAY)


def lacking(folder: Path, name: str, **given: object) -> list[dict]:
    """The lines that a run writes."""
    with pytest.raises(StoppedEarly, match=f"{name}.*`batch_read`"):
        run(folder, write=name, **given)
    return read(folder / name)


def ratings(folder: Path, out: str = "out") -> pd.DataFrame:
    return pd.read_parquet(folder / out / "ratings.parquet")


def asked(calls: Sequence[Call]) -> list[dict[str, object]]:
    """The bodies of the calls, but not the look at the server before a run, which has none."""
    return [call.body for call in calls if call.body]


@pytest.mark.slow
def test_a_batch_gives_what_direct_calls_give(tmp_path: Path) -> None:
    def says(call: Call) -> object:
        text = score(call.body["messages"][-1]["content"])
        return reply(*[text] * call.body.get("n", 1))

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with scripted_server(says) as server:
        url = f"{server.url}/v1"
        direct = run(tmp_path / "a", base_url=url)
        calls = asked(server.calls)
        lines = lacking(tmp_path / "b", "r.jsonl", base_url=url)
        assert len(asked(server.calls)) == len(calls), "writing a batch asked the server"
        assert sorted(map(json.dumps, calls)) == sorted(json.dumps(line["body"]) for line in lines)
        results = write_answers(tmp_path / "b" / "r.jsonl", tmp_path / "res.jsonl")
        batch = run(tmp_path / "b", base_url=url, read=(results,))
        again = run(tmp_path / "b", base_url=url, out="again")
        assert len(asked(server.calls)) == len(calls), "what came by batch was asked again"
    assert direct.to_frame().equals(batch.to_frame())
    assert direct.to_frame().equals(again.to_frame())
    assert ratings(tmp_path / "a").equals(ratings(tmp_path / "b"))


@pytest.mark.slow
def test_a_run_in_parts_writes_and_reads_what_one_as_a_whole_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = lacking(tmp_path / "a", "r.jsonl")
    results = write_answers(tmp_path / "a" / "r.jsonl", tmp_path / "res.jsonl")
    monkeypatch.setattr(judge_ratings, "PART_RATINGS", 10)
    assert lacking(tmp_path / "b", "r.jsonl") == whole
    late = write(tmp_path / "late.jsonl", [expired(line) for line in whole[1::2]])
    done = {line["custom_id"] for line in whole[::2]}
    some = write(tmp_path / "some.jsonl", [line for line in read(results) if line["custom_id"] in done])
    assert lacking(tmp_path / "b", "r2.jsonl", read=(late, some)) == whole[1::2]
    assert run(tmp_path / "b", read=(results,)).ratings["failed"] == 0
    monkeypatch.undo()
    assert run(tmp_path / "a", read=(results,)).ratings["failed"] == 0
    pd.testing.assert_frame_equal(ratings(tmp_path / "a"), ratings(tmp_path / "b"))


@pytest.mark.slow
def test_results_of_the_last_texts_alone_are_those_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_ratings, "PART_RATINGS", 10)
    with scripted_server(lambda call: reply(*["3"] * call.body.get("n", 1))) as server:
        url = f"{server.url}/v1"
        lines = lacking(tmp_path, "r.jsonl", base_url=url)
        last = write(tmp_path / "last.jsonl", [answer(line) for line in lines[-2:]])
        before = len(asked(server.calls))
        assert run(tmp_path, base_url=url, read=(last,)).ratings["failed"] == 0
        assert len(asked(server.calls)) - before == len(lines) - 2


@pytest.mark.slow
def test_lines_are_openais_and_named_by_the_stores_key(tmp_path: Path) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    results = run(tmp_path, read=(write_answers(tmp_path / "r.jsonl", tmp_path / "res.jsonl"),))
    assert results.ratings["failed"] == 0
    assert len({line["custom_id"] for line in lines}) == len(lines) == results.usage["calls"]
    for line in lines:
        assert line["method"] == "POST"
        assert line["url"] == "/v1/chat/completions"
        assert line["body"]["model"] == "m"
        assert line["body"]["n"] == 2
        assert "max_tokens" not in line["body"], "OpenAI's newer models refuse it"
        assert len(line["custom_id"]) == 64


@pytest.mark.slow
def test_what_expired_or_failed_for_a_time_is_written_again(tmp_path: Path) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    done, late, busy = lines[::3], lines[1::3], lines[2::3]
    output = write(tmp_path / "output.jsonl", [answer(line) for line in done])
    errors = [expired(line) for line in late] + [refused(line, 429, "Rate limit reached") for line in busy]
    error = write(tmp_path / "error.jsonl", errors)
    again = lacking(tmp_path, "r2.jsonl", read=(error, output))
    assert {line["custom_id"] for line in again} == {line["custom_id"] for line in late + busy}
    more = write_answers(tmp_path / "r2.jsonl", tmp_path / "res2.jsonl")
    assert run(tmp_path, read=(more,)).ratings["failed"] == 0


@pytest.mark.slow
def test_errors_are_told_by_kind_and_a_content_filter_is_no_score(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    filtered = [refused(line, 400, "The content was flagged by our safety system") for line in lines[:2]]
    results = write(tmp_path / "res.jsonl", [*filtered, *(answer(line) for line in lines[2:])])
    found = run(tmp_path, read=(results,))
    assert found.ratings["failed"] == 2 * 2
    assert f"{len(lines) - 2} answers, 2 errors (2 HTTP 400: The content was flagged" in caplog.text


@pytest.mark.slow
def test_lines_twice_count_once_and_the_first_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    twice = [expired(lines[0]), *map(answer, lines), *(answer(line, lambda _: "1") for line in lines)]
    (tmp_path / "res.jsonl").write_text("\n".join(map(json.dumps, twice)))
    found = run(tmp_path, read=(tmp_path / "res.jsonl",))
    assert set(ratings(tmp_path)["raw"]) == {score(line["body"]["messages"][-1]["content"]) for line in lines}
    assert found.ratings["failed"] == 0
    assert f"{len(lines)} lines twice, of which the first counts" in caplog.text


def test_a_refusal_for_good_counts_before_an_error_that_passes(tmp_path: Path) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    late = write(tmp_path / "late.jsonl", [expired(line) for line in lines])
    flagged = [refused(line, 400, "The content was flagged by our safety system") for line in lines[:3]]
    again = write(tmp_path / "again.jsonl", flagged)
    for order in ((late, again), (again, late)):
        (tmp_path / "n.jsonl").unlink(missing_ok=True)
        assert len(lacking(tmp_path, "n.jsonl", read=order)) == len(lines) - 3


@pytest.mark.slow
def test_fewer_answers_than_samples_leave_the_others_to_ask(tmp_path: Path) -> None:
    lines = lacking(tmp_path, "r.jsonl", samples=3)
    one = [{**line, "body": {**line["body"], "n": 1}} for line in lines]
    results = write(tmp_path / "res.jsonl", [answer(line) for line in one])
    rest = lacking(tmp_path, "r2.jsonl", read=(results,), samples=3)
    assert [line["body"]["n"] for line in rest] == [2] * len(lines)
    results = write_answers(tmp_path / "r2.jsonl", tmp_path / "res2.jsonl")
    assert run(tmp_path, read=(results,), samples=3).ratings["failed"] == 0


def test_samples_stand_in_their_order_however_they_came(tmp_path: Path) -> None:
    texts = [Candidate("a", "one", "Ann has a dog.", "Ann has a cat.")]

    def table(**given: object) -> pd.DataFrame:
        protocol = dhp.protocol("dhp", samples=3)
        return dhp.judge("openai/m", texts, protocol=protocol, settings=settings(tmp_path, **given))

    def writes(name: str, **given: object) -> list[dict]:
        with pytest.raises(StoppedEarly, match=name):
            table(write=name, **given)
        return read(tmp_path / name)

    lines = writes("r.jsonl")
    one = [{**line, "body": {**line["body"], "n": 1}} for line in lines]
    first = write(tmp_path / "1.jsonl", [answer(line) for line in one])
    writes("r2.jsonl", read=(first,))
    rest = write_answers(tmp_path / "r2.jsonl", tmp_path / "2.jsonl")
    for cache in ("known", "new"):  # the first answers are stored, or come with the others
        if cache == "new":
            shutil.rmtree(tmp_path / "cache")
        assert table(read=(rest, first))["sample"].tolist() == [0, 1, 2] * len(lines)


@pytest.mark.slow
def test_results_of_another_run_and_of_another_model_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    results = write_answers(tmp_path / "r.jsonl", tmp_path / "res.jsonl")
    for name in (None, "next.jsonl"):
        with pytest.raises(
            InputError, match=r"res\.jsonl: none of 30 results belongs to .* nothing was asked or wr"
        ):
            run(tmp_path, model="openai/other", out="other", read=(results,), write=name)
    assert not list(tmp_path.glob("next*"))
    renamed = [answer({**line, "body": {**line["body"], "model": "smaller"}}) for line in lines]
    others = write(tmp_path / "others.jsonl", renamed)
    for name in (None, "none.jsonl"):
        with pytest.raises(InputError, match="all 30 answers are of another model, 'smaller-2026-01-01'"):
            run(tmp_path, read=(others,), write=name)
    mixed = write(tmp_path / "mixed.jsonl", [*renamed[:20], *map(answer, lines[20:])])
    assert len(lacking(tmp_path, "r2.jsonl", read=(mixed,))) == 20
    assert "20 results are of another model, 'smaller-2026-01-01'; left out" in caplog.text
    stray = [{**answer(lines[0]), "custom_id": "f" * 64}, *map(answer, lines)]
    (tmp_path / "stray.jsonl").write_text("\n".join(map(json.dumps, stray)))
    run(tmp_path, read=(tmp_path / "stray.jsonl",))
    assert "1 of 31 results belong to no request of this run (first: " in caplog.text
    assert "stray.jsonl line 1)" in caplog.text


@pytest.mark.slow
def test_results_of_one_of_two_judges_are_enough_to_ask_the_other(tmp_path: Path) -> None:
    """What came for the second judge is no file of another run, though the first is asked before it."""
    both = ["openai/a", "openai/b"]
    with pytest.raises(StoppedEarly):
        run(tmp_path, model=both, write="r.jsonl", base_url="http://127.0.0.1:9/v1")
    results = write_answers(tmp_path / "r-2.jsonl", tmp_path / "res.jsonl")
    with scripted_server(lambda call: reply(*["3"] * call.body.get("n", 1))) as server:
        url = f"{server.url}/v1"
        with pytest.raises(InputError, match="none of 30 results belongs"):
            run(tmp_path, model=["openai/a", "openai/c"], base_url=url, read=(results,), out="c")
        with pytest.raises(InputError, match="none of 30 results belongs"):
            run(tmp_path, model="openai/b", base_url=url, read=(results,), out="d")
        assert not asked(server.calls), "the results are of another address"
    lines = read(tmp_path / "r-2.jsonl")
    names = {line["custom_id"] for line in lines}
    with pytest.raises(StoppedEarly, match=r"q\.jsonl \(30 requests to openai/a\)"):
        run(tmp_path, model=both, base_url="http://127.0.0.1:9/v1", read=(results,), write="q.jsonl")
    assert names.isdisjoint(line["custom_id"] for line in read(tmp_path / "q.jsonl"))


@pytest.mark.slow
def test_files_are_read_with_a_byte_order_mark_other_line_ends_and_by_a_pattern(tmp_path: Path) -> None:
    lacking(tmp_path, "r.jsonl")
    whole = write_answers(tmp_path / "r.jsonl", tmp_path / "res.jsonl").read_bytes()
    lines = whole.replace(b"\n", b"\r\n").splitlines(keepends=True)
    (tmp_path / "part1.jsonl").write_bytes(b"\xef\xbb\xbf" + b"".join(lines[:7]))
    (tmp_path / "part2.jsonl").write_bytes(b"\r\n" + b"".join(lines[7:]))
    pattern = tmp_path / "part*.jsonl"
    assert run(tmp_path, read=(pattern, tmp_path / "part1.jsonl")).ratings["failed"] == 0


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\x1f\x8b\x08\x00\n", "line 1: not UTF-8 text"),
        (b"", "holds no results; allowed: files with the results of batches"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "res.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=f"res.jsonl: {fault}"):
        run(tmp_path, read=(tmp_path / "res.jsonl",))


def test_an_answer_that_cannot_be_read_is_an_error_and_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    empty, aborted, inside, *good = (answer(line) for line in lines)
    empty["response"]["body"]["choices"] = []
    for choice in aborted["response"]["body"]["choices"]:
        choice["finish_reason"] = "error"
    inside["response"]["body"] = {"error": {"message": "overloaded", "code": 503}}
    results = write(tmp_path / "res.jsonl", [empty, aborted, inside, *good])
    again = lacking(tmp_path, "r2.jsonl", read=(results,))
    assert {line["custom_id"] for line in again} == {line["custom_id"] for line in lines[:3]}
    assert "3 errors (2 without an answer that can be read, 1 HTTP 503: overloaded)" in caplog.text


@pytest.mark.parametrize(
    ("answered_by", "asked_for", "same"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini", True),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo", True),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet-latest", True),
        ("mistral-large-2411", "mistral-large-latest", True),
        ("/models/Llama-3-8B", "meta-llama/Llama-3-8B", True),
        ("llama3:latest", "llama3", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", False),
        ("gpt-4o", "gpt-4", False),
        ("Llama-3-8B-Instruct", "Llama-3-8B", False),
        ("Qwen2.5-72B", "Qwen2.5-7B", False),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
    ],
)
def test_names_of_one_model_differ_in_a_date_alone(answered_by: str, asked_for: str, same: bool) -> None:
    assert same_model(answered_by, asked_for) == same


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> BinaryIO:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr("dhp.plugins.batch.request_files.new_file", full)
    writer = BatchWriter(tmp_path / "r.jsonl")
    with pytest.raises(DiskFull, match=r"r\.jsonl: cannot be written .No space left on device."):
        writer.add("openai/m", "here", {"model": "m", "messages": ["x" * 1_000_000]}, {0: b"1"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_broken_off_counts_as_far_as_it_goes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    whole = write_answers(tmp_path / "r.jsonl", tmp_path / "res.jsonl").read_bytes()
    (tmp_path / "res.jsonl").write_bytes(whole[:-20])
    assert len(lacking(tmp_path, "r2.jsonl", read=(tmp_path / "res.jsonl",))) == 1
    assert f"line {len(lines)} is broken off" in caplog.text


def test_a_refused_parameter_stops_the_run(tmp_path: Path) -> None:
    lines = lacking(tmp_path, "r.jsonl")
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    errors = write(tmp_path / "error.jsonl", [refused(line, 400, message) for line in lines])
    with pytest.raises(InputError, match="refuses the parameter 'temperature'"):
        run(tmp_path, read=(errors,))


def test_two_models_have_a_file_each_and_files_are_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoppedEarly, match=r"r\.jsonl \(30 .* openai/a\), .*r-2\.jsonl \(30 .* openai/b\)"):
        run(tmp_path, model=["openai/a", "openai/b"], write="r.jsonl")
    body = {"model": "m", "messages": []}
    monkeypatch.setattr(request_files, "_MOST_REQUESTS", 2)
    writer = BatchWriter(tmp_path / "s.jsonl")
    for number in range(5):
        writer.add("openai/m", "here", body, {0: b"%d" % number})
    assert not (tmp_path / "s.jsonl").exists(), "only whole files have their names"
    assert [part.requests for part in writer.close()] == [2, 2, 1]
    line = len((tmp_path / "s-3.jsonl").read_bytes())
    monkeypatch.undo()
    monkeypatch.setattr(request_files, "_MOST_BYTES", 2 * line)
    by_size = BatchWriter(tmp_path / "t.jsonl")
    for number in range(3):
        by_size.add("openai/m", "here", body, {0: b"%d" % number})
    assert [part.size for part in by_size.close()] == [2 * line, line]
    before = (tmp_path / "s.jsonl").read_bytes()
    same, other = nullcontext(), pytest.raises(InputError, match=r"s\.jsonl: holds other requests")
    for number, outcome in ((0, same), (1, other)):
        again = BatchWriter(tmp_path / "s.jsonl")
        again.add("openai/m", "here", body, {0: b"%d" % number})
        again.add("openai/m", "here", body, {0: b"1"})
        with outcome:
            again.close()
        assert (tmp_path / "s.jsonl").read_bytes() == before
        assert not [*tmp_path.glob(".s.jsonl*")]


def test_a_limit_bounds_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly, match=r"\(7 requests .*stopped at `limits.calls` 7"):
        run(tmp_path, write="r.jsonl", limits=dhp.Limits(calls=7))
    results = write_answers(tmp_path / "r.jsonl", tmp_path / "res.jsonl")
    assert len(lacking(tmp_path, "r2.jsonl", read=(results,))) == 30 - 7


def test_steps_that_the_model_writes_come_first(tmp_path: Path) -> None:
    way = {"model": "openai/m", "protocol": dhp.protocol("dhp", steps="auto", samples=1), **WAY}

    def asked(name: str, read: tuple[Path, ...] = ()) -> Path:
        with pytest.raises(StoppedEarly, match=name):
            dhp.run(settings=settings(tmp_path, write=name, read=read), **way)
        return tmp_path / name

    steps = write_answers(asked("1.jsonl"), tmp_path / "a.jsonl", lambda _: "1. Read it.\n2. Rate it.")
    assert len(read(steps)) == 1
    ratings = write_answers(asked("2.jsonl", (steps,)), tmp_path / "b.jsonl")
    assert "Read it." in read(tmp_path / "2.jsonl")[0]["body"]["messages"][0]["content"]
    assert dhp.run(settings=settings(tmp_path, read=(ratings,)), **way).ratings["failed"] == 0


def test_an_answer_far_longer_than_was_asked_for_is_not_kept(tmp_path: Path) -> None:
    request = {"custom_id": "ab", "body": {"model": "m", "messages": [{"content": ""}], "max_tokens": 16}}
    for length, kept in ((2**17 + 16 * 64, Reply), (2**17 + 16 * 64 + 1, Failure)):
        path = write(tmp_path / "results.jsonl", [answer(request, lambda _, n=length: "4" * n)])
        results = BatchResults([path])
        outcome = results.read("ab", request["body"])
        outcome = outcome if isinstance(outcome, Failure) else outcome[0]
        assert isinstance(outcome, kept)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"custom_id": "a", "url": "/v1/x", "body": {}}\n', "is a request; must be the results"),
        (b'{"custom_id": "a"}\n', "is not a result of a batch"),
        (b"[1]\n", "is not a result of a batch"),
        (b"{\n", "broken JSON"),
    ],
)
def test_a_line_that_is_no_result_is_named(line: bytes, fault: str) -> None:
    with pytest.raises(InputError, match=f"res.jsonl: line 3: {fault}"):
        read_result_line("res.jsonl: line 3", line)


def test_vllms_error_lines_are_read() -> None:
    error = {"message": "The prompt is too long: maximum context length is 64", "type": "BadRequestError"}
    line = {"id": "vllm-1", "custom_id": "a", "response": {"status_code": 400, "body": None}}
    for said in (error, {"error": error}):
        result = read_result_line("f", json.dumps({**line, "error": said}).encode())
        assert result.problem.too_long
        assert result.problem.status == 400


def test_batches_need_the_store() -> None:
    for given, fault in (
        ({"store": False}, "`store=False`: would lose"),
        ({"refresh": True}, "`refresh`: w"),
    ):
        with pytest.raises(InputError, match=fault):
            dhp.ModelSettings(filler=BatchSettings("r.jsonl"), **given)
