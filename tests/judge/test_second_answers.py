"""Answers that cannot be read: each is asked for once more, in the same conversation."""

import json
import logging
import threading
from pathlib import Path

import pytest

from dhp.content.catalog import read_pairwise
from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import Unreadable
from dhp.core.protocol_spec import Protocol
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Scale
from dhp.judge.factory import protocol, request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.pairs import Pair
from dhp.judge.ratings import checked_ratings, judge_estimates
from dhp.judge.unreadable import readable
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.limits import Prices
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.settings import ModelSettings
from dhp.llm.store import Store
from dhp.report.notes import notes
from dhp.run import run
from dhp.runs.reader import read_run
from tests.cli.conftest import Run, dhp, short_waits, undrawn_charts
from tests.judge.test_llm import TASK, TEXTS, Scripted
from tests.llm.helpers import cached_model
from tests.plugins.batch.answers import read, write_answers
from tests.server import Answer, Call, refusal, reply, scripted_server

__all__ = ["dhp", "short_waits", "undrawn_charts"]
ONE = TASK.model_copy(update={"metrics": TASK.metrics[:1]})


def rated(says: object, chosen: Protocol, store: Path | None = None) -> tuple[list[Rating], Scripted]:
    model = Scripted(says)
    context = RequestContext(Store(store) if store else None)
    judge = LlmJudge(CachedModel(model, context), request_builder(chosen))
    return list(checked_ratings(judge, TEXTS, ONE)), model


def once(first: object, then: object) -> object:
    """Says one thing at first, and another when asked again."""
    return lambda request, sample: then if "assistant" in dict(request.before) else first


def test_an_unreadable_answer_is_asked_for_again_in_its_conversation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="dhp"):
        ratings, model = rated(once("Well, it reads nicely.", "4"), protocol("analyze-rate", samples=2))
    assert {(r.status, r.score, r.rule) for r in ratings} == {("scored", 4.0, "again:bare")}
    assert {r.raw for r in ratings} == {"Well, it reads nicely.\n[asked again]\n4"}
    first = {request.prompt: request for request in model.asked if not request.before}
    second = [request for request in model.asked if request.before]
    assert len(first) == 4
    assert len(second) == 8, "one for each answer"
    for request in second:
        (_, prompt), (role, text) = request.before
        assert prompt in first
        assert (role, text) == ("assistant", "Well, it reads nicely.")
        assert request.params == first[prompt].params
        assert "alone, as one number from 1 to 5" in request.prompt
    (said,) = caplog.messages
    assert said.startswith("hf/scripted (analyze-rate): 8 of 8 answers asked again, as they could not be")
    assert said.endswith("; 8 of these then were")


def test_a_second_unreadable_answer_is_unparsed_and_no_third_is_asked_for() -> None:
    ratings, model = rated(once("Well.", "Hm."), protocol("dhp", samples=1))
    assert {(r.status, r.score, r.rule) for r in ratings} == {("unparsed", None, "again")}
    assert len(model.asked) == 2 * 4


@pytest.mark.parametrize(
    "says",
    [
        "4",
        "I'm sorry, but I cannot rate this.",
        "Rating: 9",
        "",
        Failure("HTTP 500: broken"),
        Reply("", "tool_calls", 1, 1, 1),
        Reply("", "content_filter", 1, 1, 1),
        Reply("", "length", 1, 16, 1),
    ],
)
def test_what_can_be_read_was_refused_failed_or_says_nothing_is_not_asked_for_again(says: object) -> None:
    _, model = rated(says, protocol("dhp", samples=1))
    assert len(model.asked) == 4


def test_an_answer_that_was_cut_off_is_asked_for_again() -> None:
    cut = Reply("The text begins well, and then", "length", 1, 16, 1)
    ratings, _ = rated(once(cut, "Rating: 3"), protocol("analyze-rate", samples=1))
    assert {(r.status, r.score) for r in ratings} == {("scored", 3.0)}


def test_where_the_second_call_fails_the_first_answer_counts() -> None:
    ratings, _ = rated(once("Well.", Failure("HTTP 500: broken")), protocol("dhp", samples=1))
    assert {(r.status, r.raw, r.rule) for r in ratings} == {("unparsed", "Well.", None)}


@pytest.mark.parametrize("changes", [{"ask_again": False}, {"extraction": "prob-or-parse"}])
def test_nothing_is_asked_again_where_it_is_off_or_probabilities_are_read(changes: dict[str, object]) -> None:
    ratings, model = rated("Well.", protocol("dhp", samples=1, **changes))
    assert {r.status for r in ratings} == {"unparsed"}
    assert len(model.asked) == 4
    assert protocol("dhp").ask_again
    labels = [request_builder(protocol("dhp", ask_again=on)).label for on in (True, False)]
    assert labels[0] != labels[1], "it is part of the signature"


@pytest.mark.parametrize(
    ("form", "answer", "score"),
    [("stars", "three", 3.0), ("letters", "C", 3.0), ("da", "50", 3.0), ("free-text", "2", 2.0)],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_form_is_asked_for_in_its_own_words(
    form: AnswerForm, answer: str, score: float, language: str
) -> None:
    names = {"free-text": "free-text", "da": "da", "stars": "stars", "letters": "letters"}
    chosen = protocol(names[form], samples=1, language=language)
    ratings, model = rated(once("Well.", answer), chosen)
    assert {(r.status, r.score) for r in ratings} == {("scored", score)}
    wording = request_builder(chosen).wording
    kind = {"stars": "stars", "letters": "letter"}.get(form, "number")
    beginning = wording.again[kind].split("{{")[0]
    assert all(r.prompt.startswith(beginning) for r in model.asked if r.before)
    assert not any("{{" in r.prompt for r in model.asked)


def test_labels_are_named_again(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Is it good? {{output}}")
    labels = {"labels": ["fail", "pass"], "scale": Scale(min=1, max=2)}
    metric = TASK.metrics[0].model_copy(update=labels)
    task = TASK.model_copy(update={"metrics": [metric], "translations": {}})
    model = Scripted(once("Hm.", "pass"))
    builder = request_builder(protocol("dhp", samples=1), prompt_files=[str(tmp_path / "p.txt")])
    judge = LlmJudge(CachedModel(model, RequestContext()), builder)
    assert {r.score for r in judge.rate(TEXTS, task)} == {2.0}
    assert all("fail, pass" in request.prompt for request in model.asked if request.before)


def test_of_several_metrics_those_that_were_read_stay(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Rate it as JSON. {{output}}")
    names = TASK.metric_names
    first = json.dumps({names[0]: 2})
    model = Scripted(once(first, json.dumps(dict.fromkeys(names, 5))))
    builder = request_builder(
        protocol("dhp", samples=1, answer="json"), prompt_files=[str(tmp_path / "p.txt")]
    )
    found = list(LlmJudge(CachedModel(model, RequestContext()), builder).rate(TEXTS, TASK))
    assert {r.score for r in found if r.metric == names[0]} == {2.0}
    assert {r.score for r in found if r.metric != names[0]} == {5.0}
    assert len(model.asked) == 2 * 4, "one conversation for all metrics"


@pytest.mark.parametrize(
    ("name", "first", "second", "choice"),
    [
        ("swap", "Both have merits.", "A", 1),
        ("choose", "Hard to say.", "B", -1),
        ("battle", "Both.", "7 3", 1),
    ],
)
def test_a_verdict_is_asked_for_again(name: str, first: str, second: str, choice: int) -> None:
    original, worse = TEXTS[:2]
    model = Scripted(once(first, second))
    builder = request_builder(read_pairwise(name))
    judge = LlmJudge(CachedModel(model, RequestContext()), builder)
    given, swapped = list(judge.verdicts([Pair(original, worse)], TASK))[:2]
    assert (given.choice, swapped.choice) == (choice, -choice)
    assert [request.prompt == model.asked[0].prompt for request in model.asked[:4]].count(True) == 1
    assert [len(request.before) for request in model.asked[:4]].count(len(model.asked[0].before) + 2) == 2


def test_a_finished_run_makes_no_call_and_gives_the_same_ratings(tmp_path: Path) -> None:
    def says(request: Request, sample: int) -> str:
        return "4" if request.before or len(request.prompt) % 2 else "Well."

    first, model = rated(says, protocol("dhp", samples=2), tmp_path / "s.sqlite")
    assert any(request.before for request in model.asked)
    again, model = rated(says, protocol("dhp", samples=2), tmp_path / "s.sqlite")
    assert not model.asked
    assert sorted(map(repr, again)) == sorted(map(repr, first))


@pytest.mark.slow
def test_a_run_in_which_nothing_can_be_read_stops_early() -> None:
    texts = [Candidate(f"e{i}", "original", f"Text {i}.", "Source.") for i in range(2000)]
    with scripted_server(lambda call: reply("Well.")) as server:
        judge = LlmJudge(cached_model(f"{server.url}/v1"), request_builder(protocol("dhp", samples=1)))
        with pytest.raises(Exception, match="can be read"):
            list(readable(checked_ratings(judge, texts, ONE), judge, ONE, "the texts"))
    assert len(server.calls) < 250


def test_the_estimate_has_an_upper_limit_of_what_it_costs() -> None:
    context = RequestContext(budget=RequestContext().budget)
    context.budget.prices = Prices(1.0, 2.0)
    found = []
    for on in (True, False):
        judge = LlmJudge(CachedModel(Scripted("4"), context), request_builder(protocol("dhp", ask_again=on)))
        (estimate,) = judge_estimates([judge], "x", TEXTS, ONE)
        found.append(estimate.again)
    assert found[0].calls == 4 * 5
    assert found[0].completion_tokens == 4 * 5 * 16
    assert (found[1].calls, found[1].prompt_tokens) == (0, 0)


def _server(call: Call) -> object:
    return reply("4" if len(call.body["messages"]) > 1 else "Well.")


@pytest.mark.slow
def test_the_command_line_counts_it_prices_it_and_turns_it_off(dhp: Run, tmp_path: Path) -> None:
    way = ("benchmark", "--model", "openai/stub", "--dataset", "mini/summeval", "--n", "5")
    way = (*way, "--metric", "fluency", "--samples", "1", "--cache", "cache")
    with scripted_server(_server) as server:
        url = ("--base-url", f"{server.url}/v1")
        dry = dhp(*way, *url, "--dry-run").out
        assert "answers that cannot be read are asked again, at most " in dry
        assert "--no-ask-again never does" in dry
        assert "asked again" not in dhp(*way, *url, "--dry-run", "--no-ask-again").out
        done = dhp(*way, *url, "--out", "out")
        assert done.code == 0, done.err
        calls = len(server.calls)
        assert "asked again" in done.err
        rules = json.loads((tmp_path / "out" / "results.json").read_text())["rules"]
        assert set(rules) == {"again:bare"}
        assert dhp(*way, *url, "--out", "other").code == 0
        assert len(server.calls) <= calls + 1, "what was answered is not asked for again"
        off = dhp(*way, *url, "--out", "off", "--no-ask-again")
        assert (off.code, "none of the first" in off.err) == (3, True), off.err
    paper = ("benchmark", "--model", "openai/stub", "--preset", "paper", "--dry-run", "--n", "2")
    assert "contradicts --preset paper" in dhp(*paper, "--ask-again").err


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "most"), [("1", 100), ("5", 140)])
@pytest.mark.parametrize("concurrency", ["4", "64"])
def test_a_run_of_which_nothing_can_be_read_pays_for_few_calls(
    dhp: Run, samples: str, most: int, concurrency: str
) -> None:
    """Also if the server answers samples one by one: the first answers go alone."""
    way = ("benchmark", "--model", "openai/stub", "--dataset", "mini/summeval", "--samples", samples)
    with scripted_server(lambda call: reply("Well.")) as server:
        where = ("--base-url", f"{server.url}/v1", "--cache", "cache", "--out", "out")
        done = dhp(*way, *where, "--concurrency", concurrency)
        assert (done.code, "none of the first 40" in done.err) == (3, True), done.err
        assert sum(call.method == "POST" for call in server.calls) <= most


@pytest.mark.slow
def test_with_batch_files_it_is_a_second_round(dhp: Run, tmp_path: Path) -> None:
    way = ("benchmark", "--dataset", "mini/summeval", "--n", "5", "--metric", "fluency", "--samples", "1")
    way = (*way, "--model", "openai/judge", "--cache", "cache", "--out", "out")

    def says(prompt: str) -> str:
        return "4" if "No score could be read" in prompt else "Well."

    assert dhp(*way, "--batch-write", "1.jsonl").code == 3
    write_answers(tmp_path / "1.jsonl", tmp_path / "1.results.jsonl", says)
    second = dhp(*way, "--batch-read", "1.results.jsonl", "--batch-write", "2.jsonl")
    assert second.code == 3, second.err
    lines = read(tmp_path / "2.jsonl")
    assert len(lines) == len(read(tmp_path / "1.jsonl"))
    assert {len(line["body"]["messages"]) for line in lines} == {3}
    write_answers(tmp_path / "2.jsonl", tmp_path / "2.results.jsonl", says)
    done = dhp(*way, "--batch-read", "1.results.jsonl", "--batch-read", "2.results.jsonl")
    assert done.code == 0, done.err
    counts = json.loads((tmp_path / "out" / "results.json").read_text())["ratings"]
    assert counts["asked"] == counts["scored"] > 0


def test_a_server_is_asked_for_the_schema_of_json_and_may_refuse_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "p.txt").write_text("Rate it as JSON. {{output}}")
    chosen = protocol("dhp", samples=1, answer="json")
    answer = json.dumps(dict.fromkeys(TASK.metric_names, 4))
    for refuses in (False, True):

        def says(call: Call, refuses: bool = refuses) -> object:
            if refuses and "response_format" in call.body:
                return refusal(400, "This model takes no structured output")
            return reply(answer)

        with scripted_server(says) as server:
            builder = request_builder(chosen, prompt_files=[str(tmp_path / "p.txt")])
            judge = LlmJudge(cached_model(f"{server.url}/v1", concurrency=1), builder)
            assert {r.score for r in judge.rate(TEXTS, TASK)} == {4.0}
        sent = [call.body.get("response_format") for call in server.calls]
        assert sent[0]["json_schema"]["schema"]["required"] == list(TASK.metric_names)
        assert [each for each in sent[1:] if each] == ([] if refuses else sent[1:])
        assert len(sent) == len(TEXTS) + refuses
    (said,) = caplog.messages
    assert said == "openai/stub: the server refuses response_format: the prompt alone asks for JSON"


@pytest.mark.slow
def test_results_and_notes_count_what_was_asked_again(tmp_path: Path) -> None:
    def says(call: Call) -> Answer:
        messages = call.body["messages"]
        unclear = len(messages) == 1 and len(messages[0]["content"]) % 3 == 0
        return reply("Well, it reads nicely." if unclear else "4")

    with scripted_server(says) as server:
        settings = ModelSettings(base_url=f"{server.url}/v1", cache=str(tmp_path / "cache"))
        texts = {"n": 4, "metrics": ["fluency"], "controls": False, "out": tmp_path / "run"}
        once_each = protocol("dhp", samples=1)
        (result,) = run("openai/m", "mini/summeval", protocol=once_each, settings=settings, **texts)
        second = sum(len(call.body.get("messages", ())) > 1 for call in server.calls)
    assert 0 < second < result.ratings["asked"]
    assert result.ratings["asked_again"] == second
    assert result.ratings["scored"] == result.ratings["asked"]
    said = f"{second} of {result.ratings['asked']} answers were asked for again, as unreadable"
    assert said in notes(result)
    (written,) = read_run(tmp_path / "run").results
    assert written.ratings == result.ratings


@pytest.mark.slow
def test_a_run_that_stops_closes_what_it_asks() -> None:
    def engines() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "dhp-engine"}

    before = engines()
    with scripted_server(lambda call: reply("Well.")) as server:
        settings = ModelSettings(base_url=f"{server.url}/v1", store=False)
        with pytest.raises(Unreadable) as stopped:
            run("openai/judge", "mini/summeval", n=8, settings=settings, progress=None)
        assert engines() <= before, f"while the exception is held: {stopped.value}"
