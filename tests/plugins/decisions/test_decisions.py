"""Decision models as judges: both wire forms, all that may go wrong, and the probabilities that stay."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.plugins.decisions.client import _asked
from tests.server import Answer, Call, Says, Scripted, scripted_server

from .server import decisions, system_one

METRICS = ["coherence", "consistency", "fluency", "relevance"]


def rated(server: Scripted | str, tmp_path: Path, *, cache: str = "cache", **more: Any) -> pd.DataFrame:
    """The ratings of a run of two examples."""
    address = server if isinstance(server, str) else server.url
    settings = dhp.ModelSettings(base_url=address, cache=tmp_path / cache)
    out = tmp_path / "run"
    dhp.run("decisions/judge", "mini/summeval", n=2, out=out, settings=settings, progress=None, **more)
    return pd.read_parquet(out / "ratings.parquet")


def probabilities(ratings: pd.DataFrame) -> list[list[float]]:
    return [json.loads(each) for each in ratings["probabilities"]]


@pytest.mark.slow
@pytest.mark.parametrize("says", [system_one(), decisions()])
def test_all_metrics_of_a_text_go_in_one_request_in_either_form(says: Says, tmp_path: Path) -> None:
    with scripted_server(says) as server:
        ratings = rated(server, tmp_path)
        answered = [call for call in server.calls if call.path.endswith(("/systemone", "/decisions"))]
        texts = ratings[["example", "variant"]].drop_duplicates()
        # where the first form is not known the calls that were in flight have asked for it
        assert len(texts) <= len(answered) <= 2 * len(texts)
        assert (ratings["status"] == "scored").all()
        assert set(ratings["metric"]) == set(METRICS)
        before = len(server.calls)
        again = rated(server, tmp_path)
        assert len(server.calls) == before, "all is stored"
        pd.testing.assert_frame_equal(ratings, again)


@pytest.mark.slow
def test_the_score_is_the_expected_level_and_the_probabilities_stay(tmp_path: Path) -> None:
    """.25 on each of the lower four of five levels and 0 on the best: level 1.5 from 0, 2.5 from 1."""

    def flat(_: str, answer: dict[str, Any]) -> dict[str, Any]:
        given = {"0": 0.25, "1": 0.25, "2": 0.25, "3": 0.25, "4": 0.0}
        return answer | {"score": 1.5, "probabilities": given}

    with scripted_server(system_one(flat)) as server:
        ratings = rated(server, tmp_path, metrics=["coherence"])
    assert set(ratings["score"]) == {2.5}
    assert probabilities(ratings)[0] == [0.25, 0.25, 0.25, 0.25, 0.0]


@pytest.mark.slow
def test_probabilities_of_two_digits_are_taken_as_shares(tmp_path: Path) -> None:
    """They sum to .99; without a score of the server's the mean level is 3.00 / .99."""

    def rounded(_: str, answer: dict[str, Any]) -> dict[str, Any]:
        del answer["score"]
        return answer | {"probabilities": {"0": 0.0, "1": 0.0, "2": 0.33, "3": 0.33, "4": 0.33}}

    with scripted_server(system_one(rounded)) as server:
        ratings = rated(server, tmp_path, metrics=["coherence"])
    assert ratings["score"].iloc[0] == pytest.approx(4.0)
    assert sum(probabilities(ratings)[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_what_the_judge_sees_is_named(tmp_path: Path) -> None:
    with scripted_server(system_one()) as server:
        rated(server, tmp_path)
        body = next(call.body for call in server.calls if call.path == "/v1/systemone")
    assert list(body) == ["model", "state", "questions"]
    assert list(body["state"]) == ["task", "source", "output"]
    assert list(body["questions"]) == METRICS
    question = body["questions"]["fluency"]
    assert question["type"] == "score"
    assert question["criteria"] == ["1 of 5: disfluency", "2 of 5", "3 of 5", "4 of 5", "5 of 5: fluency"]


@pytest.mark.slow
def test_other_words_for_the_levels_are_another_protocol_and_another_signature(tmp_path: Path) -> None:
    with scripted_server(system_one()) as server:
        ratings = rated(server, tmp_path, protocol=["decision", "decision-faults"], metrics=["coherence"])
        asked = {tuple(call.body["questions"]["coherence"]["criteria"]) for call in server.calls if call.raw}
    assert len(asked) == 2
    assert ("wrong or unreadable", "no fault") in {(words[0], words[-1]) for words in asked}
    names = set(ratings["protocol"])
    assert {name.partition("@")[0] for name in names} == {"decision", "decision-faults"}
    assert len({name.partition("@")[2] for name in names}) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("says", "kind"), [(system_one(), "noul"), (decisions(), "predicate")])
def test_pass_and_fail_become_a_question_of_truth(says: Says, kind: str, tmp_path: Path) -> None:
    questions = tmp_path / "q.json"
    asked = {"type": "noul", "instructions": "Is `output` true?", "criteria": {"true": "yes", "false": "no"}}
    questions.write_text(json.dumps({"truth": asked}))
    metric = dhp.own_metric("truth", labels=["fail", "pass"])
    with scripted_server(says) as server:
        ratings = rated(server, tmp_path, metrics=[metric], prompt=questions)
        body = server.calls[-1].body["questions"]
    question = body["truth"] if kind == "noul" else body[0]
    assert question["type"] == kind
    assert "Is `output` true?" in question["instructions"]
    assert (question["instructions"] == "Is `output` true?") == (kind == "noul"), "no criteria on the wire"
    first = ratings.iloc[0]
    assert first["score"] == pytest.approx(1 + json.loads(first["probabilities"])[1])


@pytest.mark.slow
def test_several_labels_become_a_choice_with_the_expected_label_as_score(tmp_path: Path) -> None:
    prompt = tmp_path / "tone.txt"
    prompt.write_text("How good is the tone of {{output}}, after {{article}}?")
    metric = dhp.own_metric("tone", labels=["rude", "flat", "kind"])
    with scripted_server(system_one(lambda _, answer: answer)) as server:
        ratings = rated(server, tmp_path, metrics=[metric], prompt=prompt)
        question = server.calls[-1].body["questions"]["tone"]
    assert question["type"] == "choice"
    assert list(question["criteria"]) == ["rude", "flat", "kind"]
    assert question["instructions"] == "How good is the tone of `output`, after `source`?"
    low, middle, high = json.loads(ratings.iloc[0]["probabilities"])
    assert ratings.iloc[0]["score"] == pytest.approx(low + 2 * middle + 3 * high)


@pytest.mark.slow
def test_a_scale_where_low_is_good_is_asked_from_the_worst_and_turned_once(tmp_path: Path) -> None:
    metric = dhp.own_metric("harm", "5..1").model_copy(update={"definition": "What it may do."})
    with scripted_server(system_one()) as server:
        ratings = rated(server, tmp_path, metrics=[metric])
        levels = server.calls[-1].body["questions"]["harm"]["criteria"]
    assert levels[0] == "5 of 5: harm"
    assert levels[-1] == "1 of 5: no harm"
    by_text = ratings.set_index(["example", "variant"])["score"]
    best = [json.loads(each)[-1] for each in ratings["probabilities"]]
    assert by_text.corr(pd.Series(best, index=by_text.index)) > 0.99, "likely the best level, high score"


@pytest.mark.slow
def test_a_wide_scale_is_cut_into_ten_levels_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metric = dhp.own_metric("depth", "0..100").model_copy(update={"definition": "How deep it goes."})
    with scripted_server(system_one()) as server:
        rated(server, tmp_path, metrics=[metric])
        levels = server.calls[-1].body["questions"]["depth"]["criteria"]
    assert len(levels) == 10
    assert levels[1] == "11 of 100"
    assert any("the scale 0 to 100 is cut into so many" in message for message in caplog.messages)


@pytest.mark.slow
def test_a_rubric_gives_the_levels(tmp_path: Path) -> None:
    words = ["nothing is right", "half is right", "all is right"]
    metric = dhp.own_metric("truth", "1..5").model_copy(update={"definition": "x", "levels": words})
    with scripted_server(system_one()) as server:
        ratings = rated(server, tmp_path, metrics=[metric])
        assert server.calls[-1].body["questions"]["truth"]["criteria"] == words
    low, middle, high = json.loads(ratings.iloc[0]["probabilities"])
    assert ratings.iloc[0]["score"] == pytest.approx(low + 3 * middle + 5 * high)


@pytest.mark.slow
def test_what_is_left_out_or_refused_has_no_score(tmp_path: Path) -> None:
    def holes(name: str, answer: dict[str, Any]) -> dict[str, Any] | None:
        return {"coherence": None, "fluency": {"type": "refusal"}}.get(name, answer)

    with scripted_server(system_one(holes)) as server:
        ratings = rated(server, tmp_path)
    by_metric = ratings.groupby("metric")["status"].agg(set).to_dict()
    assert by_metric["coherence"] == {"unparsed"}
    assert by_metric["fluency"] == {"refused"}
    assert by_metric["relevance"] == {"scored"}
    assert set(ratings.loc[ratings["metric"] == "coherence", "rule"]) == {
        "the answer leaves this question out"
    }


@pytest.mark.slow
def test_questions_are_cut_where_a_server_takes_fewer(tmp_path: Path) -> None:
    asked = system_one()

    def says(call: Call) -> Answer | None:
        if len(call.body["questions"]) > 3:
            return 422, {}, {"error": "at most 3 questions a request"}
        return asked(call)

    with scripted_server(says) as server:
        ratings = rated(server, tmp_path)
        sizes = [len(call.body["questions"]) for call in server.calls]
    assert (ratings["status"] == "scored").all()
    assert set(sizes) == {4, 3, 1}


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"error": "bad key"}, "set TYPESAFE_API_KEY (HTTP 401)"),
        (403, {"detail": "forbidden"}, "takes no calls without a key (HTTP 403); set TYPESAFE_API_KEY"),
        (404, {"error": "no"}, "has neither /systemone nor /decisions"),
        (400, {"error": {"message": "bad schema"}}, "does not take the questions (HTTP 400: bad schema)"),
        (400, {"error": {"message": "unknown model: judge"}}, "does not know the decision model 'judge'"),
        (422, {"error": "no criteria"}, "does not take the questions (HTTP 422: no criteria)"),
    ],
)
def test_a_refusal_is_one_line(status: int, body: object, words: str, tmp_path: Path) -> None:
    with (
        scripted_server(lambda call: (status, {}, body)) as server,
        pytest.raises(dhp.DhpError) as stopped,
    ):
        rated(server, tmp_path)
    assert words in str(stopped.value)
    assert "\n" not in str(stopped.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body"),
    [(413, "too big"), (400, {"error": {"code": "max_tokens_exceeded", "message": "33k"}})],
)
def test_a_text_that_is_too_long_fails_alone(status: int, body: object, tmp_path: Path) -> None:
    asked = system_one()

    def says(call: Call) -> Answer | None:
        too_long = len(call.body["state"]["output"]) % 3 == 0
        return (status, {}, body) if too_long else asked(call)

    with scripted_server(says) as server:
        ratings = rated(server, tmp_path)
    failed = ratings[ratings["status"] == "failed"]
    assert 0 < len(failed) < len(ratings)
    assert failed["raw"].str.contains("too long").all()


@pytest.mark.slow
def test_a_server_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    asked, busy = system_one(), iter(range(5))

    def says(call: Call) -> Answer | None:
        if next(busy, None) is not None:
            return 429, {"Retry-After": "0.01"}, {"error": {"message": "rate limit: 1,200 requests a minute"}}
        return asked(call)

    with scripted_server(says) as server:
        ratings = rated(server, tmp_path)
        texts = ratings[["example", "variant"]].drop_duplicates()
        assert (ratings["status"] == "scored").all()
        assert len(server.calls) == len(texts) + 5, "each text once, and each refusal again"


def test_a_spent_quota_stops_the_run_in_one_line(tmp_path: Path) -> None:
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}
    with (
        scripted_server(lambda call: (429, {}, body)) as server,
        pytest.raises(dhp.DhpError, match="quota") as stopped,
    ):
        rated(server, tmp_path)
    assert "\n" not in str(stopped.value)


@pytest.mark.parametrize("content", ["Rate this text.", [{"type": "text", "text": "Rate this text."}], None])
def test_a_prompt_in_words_is_refused(content: object) -> None:
    body = {"model": "judge", "messages": [{"role": "user", "content": content}]}
    with pytest.raises(InputError, match="answers typed questions and no prompts"):
        _asked(body)


@pytest.mark.slow
def test_the_explorer_shows_the_probabilities(tmp_path: Path) -> None:
    """Hundredths by text, metric, sample and level, the original first: those of the answers."""
    with scripted_server(system_one()) as server:
        ratings = rated(server, tmp_path, metrics=["coherence"])
    (packed,) = re.findall(
        r"<script[^>]*>([A-Za-z0-9+/=]{200,})</script>", (tmp_path / "run" / "report.html").read_text()
    )
    (judge,) = json.loads(gzip.decompress(base64.b64decode(packed)))["judges"]
    original = ratings[ratings["variant"] == "original"].iloc[0]
    expected = [round(100 * share) for share in json.loads(original["probabilities"])]
    assert judge["examples"][0]["shares"][0] == [[expected]]


def test_no_server_and_no_key_are_one_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    with pytest.raises(dhp.DhpError, match=r"http://127\.0\.0\.1:9/v1"):
        rated("http://127.0.0.1:9", tmp_path)
    with pytest.raises(InputError, match=r"^decisions/jev-latest: TYPESAFE_API_KEY is not set"):
        dhp.run("decisions/jev-latest", "mini/summeval", n=1, progress=None)
    with pytest.raises(InputError, match="HOSTED_VLLM_API_BASE is not set"):
        dhp.run("decisions/hosted_vllm/judge", "mini/summeval", n=1, progress=None)


@pytest.mark.parametrize(
    ("variable", "path"),
    [("TYPESAFE_BASE_URL", ""), ("TYPESAFE_API_BASE", "/v1"), ("HOSTED_VLLM_API_BASE", "")],
)
def test_the_address_is_taken_from_the_variables_of_the_packages(
    variable: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "decisions/hosted_vllm/judge" if "VLLM" in variable else "decisions/judge"
    with scripted_server(system_one()) as server:
        monkeypatch.setenv(variable, server.url + path)
        settings = dhp.ModelSettings(cache=tmp_path)
        dhp.run(name, "mini/summeval", n=1, metrics="fluency", settings=settings, progress=None)
        assert {call.body["model"] for call in server.calls} == {"judge"}


@pytest.mark.slow
def test_a_key_is_sent_and_stored_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "ts-secret-0123456789")
    with scripted_server(system_one()) as server:
        rated(server, tmp_path)
        assert {call.headers.get("authorization") for call in server.calls} == {"Bearer ts-secret-0123456789"}
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"secret-0123456789" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_protocol_for_words_is_refused_and_the_default_is_replaced(tmp_path: Path) -> None:
    with scripted_server(system_one()) as server:
        with pytest.raises(InputError, match=r"allowed: `protocol` decision, decision-faults, decision-pair"):
            rated(server, tmp_path, protocol="da")
        with pytest.raises(InputError, match=r"temperature: a decision model writes nothing"):
            rated(server, tmp_path, protocol=dhp.protocol("decision", temperature=0.5))
        ratings = rated(server, tmp_path, protocol=dhp.protocol("dhp", samples=2), metrics="fluency")
    assert set(ratings["sample"]) == {0, 1}
    with pytest.raises(InputError, match=r"which openai/gpt-4o does not take; allowed: a decision model"):
        dhp.run("openai/gpt-4o", "mini/summeval", protocol="decision", progress=None)


@pytest.mark.parametrize("status", [404, 400, 422])
def test_a_chat_model_at_such_a_server_names_the_other_provider(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {404: "not found", 400: "this model answers /v1/systemone only", 422: "'questions' is required"}
    body = {"error": {"message": words[status]}}
    settings = dhp.ModelSettings(cache=tmp_path)
    with scripted_server(lambda call: (status, {}, body)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        with pytest.raises(dhp.DhpError, match="is named decisions/NAME"):
            dhp.run("openai/gpt-6-luna", "mini/summeval", n=1, settings=settings, progress=None)


@pytest.mark.slow
@pytest.mark.parametrize("says", [system_one, decisions])
def test_two_texts_are_compared_in_both_orders(says: Any, tmp_path: Path) -> None:
    """A judge that takes the longer text whichever comes first."""

    def longer(call: Call) -> Answer | None:
        state = call.body.get("state") or json.loads(call.body["input"])
        better = "first" if len(state["first"]) >= len(state["second"]) else "second"
        choices = {name: 0.9 if name == better else 0.05 for name in ("first", "second", "tie")}
        if call.path.endswith("/systemone"):
            if says is decisions:
                return 404, {}, ""
            answer = {"type": "choice", "choice": better, "probabilities": choices}
            return 200, {}, {"model": "m", "answers": {"better": answer}}
        given = [{"value": name, "probability": p} for name, p in choices.items()]
        answer = {"type": "choice", "name": "better", "choice": better, "probabilities": given}
        return 200, {}, {"model": "m", "answers": [answer]}

    with scripted_server(longer) as server:
        ratings = rated(server, tmp_path, protocol="decision-pair")
    cut = ratings[ratings["variant"].str.startswith("random_deletions")]
    assert set(cut["score"]) == {-1.0}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"cohesion": {}}, "unknown metric 'cohesion'"),
        ({"coherence": {"type": "score", "instructions": "x", "criteria": ["one"]}}, "2 to 10 levels"),
        ({"coherence": {"type": "scale", "instructions": "x"}}, "type 'scale'"),
        ({"coherence": {"type": "score", "criteria": ["a", "b"]}}, "must have `type`, `instructions`"),
        ({"coherence": {"type": "choice", "instructions": "x", "criteria": {"a": 1}}}, "needs the labels"),
        ([], "must be an object of questions"),
        ("{", "is no JSON"),
    ],
)
def test_a_file_of_questions_is_read_strictly(content: object, words: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with scripted_server(system_one()) as server, pytest.raises(InputError, match=words):
        rated(server, tmp_path, prompt=file, metrics=["coherence"])


@pytest.mark.slow
def test_a_file_of_questions_is_what_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    levels = ["bad", "fair", "good"]
    question = {"type": "score", "instructions": "Does `output` hang together?", "criteria": levels}
    file.write_text(json.dumps({"questions": {"coherence": question}, "state": "ignored"}))
    with scripted_server(system_one()) as server:
        ratings = rated(server, tmp_path, prompt=file, metrics=["coherence"])
        assert server.calls[-1].body["questions"] == {"coherence": question}
    assert set(ratings["protocol"].str.partition("@")[0]) == {"mine"}
    with (
        scripted_server(system_one()) as server,
        pytest.raises(InputError, match="no question for the metric"),
    ):
        rated(server, tmp_path / "other", prompt=file, metrics=["coherence", "fluency"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.txt", "Does {{output}} fit {{source}} in the {{Register}}?"),
        ("mine.json", {"fit": {"type": "noul", "instructions": "Does `output` fit in its `Register`?"}}),
    ],
)
def test_texts_that_own_questions_name_are_in_the_state(name: str, content: object, tmp_path: Path) -> None:
    texts, file = tmp_path / "texts.jsonl", tmp_path / name
    row = {"source": "The harbour opened in 1998.", "output": "It opened in 1998.", "Register": "news"}
    texts.write_text("\n".join(json.dumps(row | {"id": str(i)}) for i in range(2)))
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with scripted_server(system_one()) as server:
        settings = dhp.ModelSettings(base_url=server.url, cache=tmp_path / "cache")
        asked = {"prompt": file, "metrics": ["fit"], "labels": ["fail", "pass"], "progress": None}
        dhp.run("decisions/judge", str(texts), out=tmp_path / "run", settings=settings, **asked)
        body = server.calls[-1].body
        assert body["state"].items() >= (row | {"output": body["state"]["output"]}).items()
        file.write_text(file.read_text().replace("Register", "reference"))
        with pytest.raises(InputError, match="has no 'reference', which the questions name"):
            dhp.run("decisions/judge", str(texts), out=tmp_path / "other", settings=settings, **asked)
