"""`dhp battle` as it is typed: answer files, faults in them, resuming, and recorded verdicts."""

import json
from pathlib import Path

import pytest

from dhp.core.writing import OutputFolder
from tests.cli.conftest import Run
from tests.llm.stub import stats, stub_server

LONGER = ("--say", "tests.judge.pairwise.pairs:longer")
FIRST = ("--say", "tests.judge.pairwise.pairs:always_first")


def answers(name: str, texts: dict[str, str], **columns: str) -> str:
    rows = [{"id": i, "question": f"What is {i}?", "output": t, **columns} for i, t in texts.items()]
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


@pytest.fixture
def files(dhp: Run) -> tuple[str, str]:
    old = answers("old.jsonl", {"1": "Short {x}", "2": "The longest of all of them", "3": "same len"})
    new = answers("new.jsonl", {"1": "A longer <b>one</b>", "2": "Tiny", "3": "same too"})
    return old, new


def server(url: str, *more: str) -> tuple[str, ...]:
    return ("--model", "openai/stub", "--base-url", url, "--cache", "cache", *more)


@pytest.mark.slow
def test_a_battle_is_asked_once_in_each_order_resumed_and_written(dhp: Run, files: tuple[str, str]) -> None:
    with stub_server(*LONGER) as url:
        dry = dhp("battle", *files, *server(url), "--dry-run")
        assert "6 verdicts\n" in dry.out
        stopped = dhp("battle", *files, *server(url), "--max-calls", "2", "--concurrency", "1")
        assert (stopped.code, stats(url)["calls"]) == (3, 2)
        done = dhp("battle", *files, *server(url), "--out", "out")
        assert (done.code, stats(url)["calls"]) == (0, 6)
        assert set(stats(url)["paid"].values()) == {1}
        again = dhp("battle", "new.jsonl", "old.jsonl", *server(url), "--json", "--concurrency", "1")
        assert stats(url)["calls"] == 6
    found = json.loads(Path("out/battle.json").read_text())["contests"][0]
    assert (found["better"], found["worse"], found["tie"], found["invalid"]) == (["2"], ["1"], ["3"], [])
    assert found["mean_scores"] == pytest.approx([(9 + 10 + 8) / 3, (10 + 4 + 8) / 3])
    mirrored = json.loads(again.out)["contests"][0]
    assert (mirrored["better"], mirrored["worse"]) == (["1"], ["2"])
    lines = [json.loads(line) for line in Path("out/verdicts.jsonl").read_text().splitlines()]
    assert [(r["example"], r["order"]) for r in lines] == [
        (i, o) for i in "123" for o in ("given", "swapped")
    ]
    assert "one" in Path("out/report.html").read_text()


def test_a_battle_without_verdicts_is_no_result(dhp: Run, files: tuple[str, str]) -> None:
    with stub_server("--say", "tests.judge.pairwise.pairs:silent") as url:
        done = dhp("battle", *files, *server(url))
    assert done.code == 3
    assert "6 unparsed" in done.err


def test_a_judge_that_always_says_first_is_seen_through(dhp: Run, files: tuple[str, str]) -> None:
    with stub_server(*FIRST) as url:
        for protocol in ("battle", "choose", "swap"):
            done = dhp("battle", *files, *server(url, "--protocol", protocol, "--json"))
            (found,) = json.loads(done.out)["contests"]
            assert (found["win_rate"]["value"], found["position_bias"]["share"], found["d"]) == (
                0.5,
                1.0,
                0.0,
            )
    offline = dhp("battle", *files, "--model", "mock/first")
    assert "100% [29–100], 100% to the first" in offline.out


def test_a_battle_prompt_of_colossaleval_is_sent_with_its_system_message(
    dhp: Run, files: tuple[str, str]
) -> None:
    prompt = {
        "id": 1,
        "system_prompt": "Be fair.",
        "prompt_template": "{question}|{answer_1}|{answer_2}|{prompt}",
    }
    Path("battle.json").write_text(json.dumps({**prompt, "prompt": "Two scores."}))
    with stub_server() as url:
        done = dhp("battle", *files, *server(url, "--battle-prompts", "battle.json", "--json"))
        messages = [body["messages"] for body in stats(url)["bodies"]]
    assert done.code == 3, "no verdict at all"
    assert {m[0]["content"] for m in messages} == {"Be fair."}
    assert "What is 1?|Short {x}|A longer <b>one</b>|Two scores." in {m[1]["content"] for m in messages}
    assert json.loads(done.out)["contests"][0]["n_invalid"] == 3, "one number is not two scores"


@pytest.mark.slow
def test_several_systems_and_metrics(dhp: Run, files: tuple[str, str]) -> None:
    third = answers("c.jsonl", {"1": "x", "2": "y", "3": "z"})
    done = dhp(
        "battle", *files, f"third={third}", "--model", "baseline/surface", "--metric", "clarity", "--json"
    )
    found = json.loads(done.out)
    assert [(c["first"], c["second"]) for c in found["contests"]] == [
        ("old", "new"),
        ("old", "third"),
        ("new", "third"),
    ]
    assert {s["system"] for s in found["bradley_terry"]} == {"old", "new", "third"}


BAD = {
    "less.jsonl": {"1": "a", "2": "b"},
    "more.jsonl": {"1": "a", "2": "b", "3": "c", "4": "d"},
    "empty.jsonl": {"1": "a", "2": " ", "3": "c"},
}
FAULTS = [
    (("less.jsonl",), "less.jsonl: lacks id '3', which old.jsonl has"),
    (("more.jsonl",), "old.jsonl: lacks id '4', which more.jsonl has"),
    (("empty.jsonl",), "line 2: id '2': the answer in column 'output' is missing"),
    (("old.jsonl",), "system 'old': is given twice"),
    (("question.jsonl",), "id '1' has another question than in old.jsonl"),
    (("new.jsonl", "--metric", "clarty"), "--metric: unknown metric 'clarty'"),
    (("new.jsonl", "--protocol", "swop"), "'swop'"),
    (("new.jsonl", "--answer", "letter"), "protocol 'battle': answer 'letter': unknown"),
    (("new.jsonl", "--battle-prompts", "slot.json"), "unknown slot '{anser_1}'; did you mean 'answer_1'?"),
    (("new.jsonl", "--battle-prompts", "lack.json"), "lacks the slot '{answer_2}'"),
    (("new.jsonl", "--out", "other"), "--out other"),
    (("--recorded", "x.jsonl"), "--recorded: asks no judge"),
]


@pytest.mark.parametrize(("given", "message"), FAULTS, ids=lambda part: " ".join(part)[:40])
def test_bad_input_is_one_line(
    dhp: Run, files: tuple[str, str], given: tuple[str, ...], message: str
) -> None:
    for name, texts in BAD.items():
        answers(name, texts)
    answers("question.jsonl", {"1": "a", "2": "b", "3": "c"})
    Path("question.jsonl").write_text(Path("question.jsonl").read_text().replace("What is 1?", "Why 1?"))
    Path("other").mkdir()
    Path("other/file").write_text("x")
    template = "{question} {answer_1} {answer_2} {prompt}"
    for name, text in (
        ("slot", template.replace("{answer_1}", "{anser_1}")),
        ("lack", template.replace("{answer_2}", "")),
    ):
        Path(f"{name}.json").write_text(
            json.dumps({"system_prompt": "", "prompt_template": text, "prompt": ""})
        )
    done = dhp("battle", "old.jsonl", *given, "--model", "mock/first")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.slow
def test_recorded_comparisons_have_a_verdict_and_a_report(dhp: Run) -> None:
    orders = (
        [("original", "original")] * 16 + [("original", "degraded")] * 3 + [("tie", "original"), ("", "tie")]
    )
    rows = [f"M,e{i},negation,{one},{two}" for i, (one, two) in enumerate(orders)]
    Path("v.csv").write_text("\n".join(["model,example,variant,original_first,original_second", *rows]))
    shown = dhp("battle", "--recorded", "v.csv", "--out", "out")
    assert (shown.code, shown.err) == (0, "")
    words = " ".join(shown.out.split())
    assert "M (pairwise:recorded)" in words
    assert "wrong negation 90% 74–97 98% noticed 21" in words
    # 19 and 17 of 21, both 16, together 17; 3 of the 20 with both verdicts flip.
    assert "M negation 21 1 90% 81% 76% 81% 15%" in words
    assert Path("out/report.html").is_file()
    found = json.loads(dhp("battle", "--recorded", "v.csv", "--json").out)
    (orders_found,), result = found["orders"], found["results"]
    assert (orders_found["n"], orders_found["unread"], orders_found["bias"]["flips"]) == (21, 1, 3)
    assert result["variants"][0]["detection"] == (17 + 4 / 2) / 21
    assert result["read"] == 41 / 42
    Path("scores.csv").write_text("example,variant,score\na,original,3\na,worse,2\n")
    refused = dhp("battle", "--recorded", "scores.csv")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "holds no comparisons" in refused.err


def test_one_folder_has_one_writer(dhp: Run, files: tuple[str, str]) -> None:
    with stub_server(*LONGER) as url:
        with OutputFolder("out", "battle") as held:
            held.take()
            refused = dhp("battle", *files, *server(url), "--out", "out")
            assert (refused.code, stats(url)["calls"]) == (2, 0)
            assert refused.err.startswith("dhp: --out out: ")
        Path("out").mkdir()
        Path("out/.lock").touch()  # left by one that was killed
        assert dhp("battle", *files, *server(url), "--out", "out").code == 0
    names = {p.name for p in Path("out").iterdir()}
    assert names == {"manifest.json", "battle.json", "verdicts.jsonl", "report.html"}
