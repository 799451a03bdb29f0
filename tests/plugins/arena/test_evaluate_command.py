"""`dhp evaluate` as it is typed: ColossalEval's files unchanged, references, bad input, discernment."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dhp.plugins.arena.content import read_evaluation
from tests.cli.conftest import Run
from tests.llm.stub import stats, stub_server

PROMPT = "Rate.\n\n{question}\n\n{answer}\n\n{metric}\n\n{steps}"
QUESTIONS: list[dict[str, Any]] = [
    {
        "category": c,
        "instruction": f"Question {i}?",
        "input": "",
        "output": "",
        "target": f"Good {i}.",
        "id": i,
    }
    for i, c in enumerate(("chat", "chat", "open_qa", "open_qa", "open_qa"), 1)
]
CONFIG = {
    "language": "en",
    "category": {
        "chat": {"GPT": ["fidelity"]},
        "open_qa": {"GPT": ["correctness", "kindness"], "Metrics": ["BLEU"]},
    },
}
PROMPTS = {
    name: {
        "id": 1,
        "category": name,
        "metrics": {m: f"{m} (1-5): how {m}" for m in metrics},
        "CoT": {m: f"1. Look for {m}.\n\n{m.capitalize()}:" for m in metrics},
        "prompt": PROMPT,
    }
    for name, metrics in (("chat", ["fidelity", "humour"]), ("open_qa", ["correctness", "kindness"]))
}
BATTLE = {
    "system_prompt": "Be fair.",
    "prompt_template": "{question} {answer_1} {answer_2} {prompt}",
    "prompt": "Two scores.",
}


def put(name: str, data: object) -> str:
    Path(name).write_text(json.dumps(data, ensure_ascii=False))
    return name


def answered(name: str, text: str, **changes: object) -> str:
    return put(name, [{**q, "output": f"{text} {{x}} {q['id']}", **changes} for q in QUESTIONS])


@pytest.fixture
def files(dhp: Run) -> tuple[str, ...]:
    put("config.json", CONFIG)
    put("prompts.json", PROMPTS)
    put("battle.json", BATTLE)
    put("targets.json", QUESTIONS)
    answered("alpha.json", "<b>First</b>")
    answered("beta.json", "Second")
    return ("--config", "config.json", "--prompts", "prompts.json", "--answers", "alpha.json")


def server(url: str) -> tuple[str, ...]:
    return ("--model", "openai/stub", "--base-url", url, "--cache", "cache")


def says(prompt: str) -> str | None:
    """Scores in both texts' favour, unreadable words about kindness, and steps where they are asked for."""
    if "Write the steps" in prompt:
        return "1. Look for {{it}}.\n2. Weigh it."
    if "Two scores." in prompt:
        return "8 3\nThe first one."
    return "Who can tell?" if "how kindness" in prompt else None


def test_a_folder_that_cannot_be_written_to_is_named_before_a_call(dhp: Run, files: tuple[str, ...]) -> None:
    Path("out").write_text("a file")
    with stub_server() as url:
        refused = dhp("evaluate", *files, *server(url), "--out", "out")
        assert (refused.code, stats(url)["calls"]) == (2, 0)


@pytest.mark.slow
def test_two_models_are_evaluated_and_fight_each_order_once(dhp: Run, files: tuple[str, ...]) -> None:
    more = ("--answers", "beta.json", "--battle-prompts", "battle.json", "--out", "out")
    with stub_server("--say", "tests.plugins.arena.test_evaluate_command:says") as url:
        dry = dhp("evaluate", *files, *more[:4], *server(url), "--dry-run")
        assert "4 ratings" in dry.out
        assert "12 ratings" in dry.out
        assert "10 verdicts" in dry.out
        assert stats(url)["calls"] == 0
        done = dhp("evaluate", *files, *more, *server(url))
        assert (done.code, stats(url)["calls"]) == (0, 4 + 12 + 10)
        assert set(stats(url)["paid"].values()) == {1}
        again = dhp("evaluate", *files, *more[:4], *server(url), "--json", "--concurrency", "1")
        assert stats(url)["calls"] == 26
    found = json.loads(Path("out/evaluation.json").read_text())
    cells = {(c["category"], c["metric"], c["model"]): c for c in found["results"]}
    assert set(cells) == {
        (category, metric, model)
        for category, metric in (
            ("chat", "fidelity"),
            ("open_qa", "correctness"),
            ("open_qa", "kindness"),
            ("open_qa", "bleu"),
        )
        for model in ("alpha", "beta")
    }
    kind = cells["open_qa", "kindness", "alpha"]
    assert (kind["n"], kind["mean"], kind["unread"]) == (0, None, {"unparsed": 3})
    good = cells["open_qa", "correctness", "alpha"]
    assert good["n"] == len(good["best"]) == 3
    assert good["best"][0]["score"] >= good["worst"][0]["score"]
    battle = json.loads(Path("out/battle/battle.json").read_text())["contests"][0]
    assert (battle["win_rate"]["value"], battle["position_bias"]["share"]) == (0.5, 1.0)
    repeated = json.loads(again.out)
    assert repeated["results"] == found["results"]
    with Path("out/evaluation.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [r["unread"] for r in rows if r["metric"] == "kindness"] == ["3", "3"]
    page = Path("out/report.html").read_text()
    assert "<b>First" not in page
    assert "&lt;b&gt;First" in page


def test_the_prompt_file_is_sent_as_it_is(dhp: Run, files: tuple[str, ...]) -> None:
    with stub_server() as url:
        dhp("evaluate", *files, *server(url))
        prompts = {body["messages"][-1]["content"] for body in stats(url)["bodies"]}
    expected = "Question 1?\n\n<b>First</b> {x} 1\n\nfidelity (1-5): how fidelity\n\n1. Look for fidelity."
    assert f"Rate.\n\n{expected}\n\nFidelity:" in prompts
    assert len(prompts) == 2 + 6


@pytest.mark.parametrize("turn", ["one-prompt", "second-turn"])
def test_the_target_answer_is_shown(dhp: Run, files: tuple[str, ...], turn: str) -> None:
    with stub_server() as url:
        done = dhp("evaluate", *files, *server(url), "--targets", "targets.json", "--with-reference", turn)
        bodies, calls = stats(url)["bodies"], stats(url)["calls"]
    assert (done.code, calls) == (0, 8 if turn == "one-prompt" else 16)
    content = read_evaluation("en")
    shown = [b["messages"] for b in bodies if "Good" in b["messages"][-1]["content"]]
    assert len(shown) == 8
    for messages in shown:
        roles = [m["role"] for m in messages]
        assert roles == (["user"] if turn == "one-prompt" else ["user", "assistant", "user"])
        correct = "how correctness" in messages[0]["content"]
        assert (content.correct_answer in messages[-1]["content"]) == correct
        assert (content.good_answer in messages[-1]["content"]) != correct


@pytest.mark.slow
def test_bundled_content_in_two_languages_and_its_questions(dhp: Run) -> None:
    for language in ("en", "zh"):
        dhp("evaluate", "--save-questions", "q.json", "--language", language)
        questions = json.loads(Path("q.json").read_text())
        assert len(questions) == 25
        assert len({q["category"] for q in questions}) == 5
        put("a.json", [{**q, "output": f"回答 {q['id']}", "target": "好。"} for q in questions])
        with stub_server() as url:
            more = ("--answers", "a.json", "--language", language, "--with-reference", "one-prompt", "--json")
            done = dhp("evaluate", *more, *server(url), "--cache", f"cache-{language}")
            prompts = [body["messages"][0]["content"] for body in stats(url)["bodies"]]
        found = json.loads(done.out)["results"]
        content = read_evaluation(language)  # type: ignore[arg-type]
        assert {c["metric"] for c in found} == {m.label or name for name, m in content.metrics.items()}
        assert all("<answer>\n回答" in p or "<output>\n回答" in p for p in prompts), "texts are fenced"


def test_metrics_left_out_and_steps_by_the_model(dhp: Run, files: tuple[str, ...]) -> None:
    lacking = json.loads(json.dumps(PROMPTS))
    del lacking["chat"]["CoT"]["humour"]
    put("prompts.json", lacking)
    refused = dhp("evaluate", *files, "--model", "mock/ideal", "--all-metrics")
    assert "prompts.json: chat.CoT: metric 'humour' has no evaluation steps" in refused.err
    with stub_server("--say", "tests.plugins.arena.test_evaluate_command:says") as url:
        done = dhp("evaluate", *files, *server(url), "--all-metrics", "--steps", "auto", "--json")
        prompts = [body["messages"][0]["content"] for body in stats(url)["bodies"]]
    assert "humour" in {c["metric"] for c in json.loads(done.out)["results"]}
    assert sum("1. Look for {it}.\n2. Weigh it." in p for p in prompts) == 2
    assert sum("Write the steps" in p for p in prompts) == 1


def test_a_category_of_ones_own_and_other(dhp: Run, files: tuple[str, ...]) -> None:
    wit = {"metrics": {"wit": "Wit (1-10): is it witty?"}, "CoT": {"wit": "1. Laugh."}}
    put("prompts.json", {**PROMPTS, "Other": {**PROMPTS["chat"], **wit}})
    put("config.json", {"language": "en", "category": {"jokes": {"GPT": ["wit"]}}})
    answered("alpha.json", "Ha", category="jokes")
    with stub_server("--say", "tests.plugins.arena.test_evaluate_command:eight_and_a_half") as url:
        done = dhp("evaluate", *files, *server(url), "--json")
    (cell,) = json.loads(done.out)["results"]
    assert (cell["metric"], cell["mean"], cell["scale"]) == ("wit", 8.5, [1.0, 10.0])
    assert "category 'jokes' has no prompt: by that of 'Other' questions 1, 2, 3, 4, 5" in done.err


def test_questions_that_are_not_evaluated_are_said(dhp: Run, files: tuple[str, ...]) -> None:
    put("config.json", {"language": "en", "category": {"chat": {"GPT": ["fidelity"]}}})
    done = dhp("evaluate", *files, "--model", "mock/noisy")
    assert done.code == 0
    assert "category 'open_qa' has no metrics: left out are questions 3, 4, 5" in done.err
    assert "Other" not in done.err


@pytest.mark.slow
def test_unread_answers_stop_the_evaluation(dhp: Run, files: tuple[str, ...]) -> None:
    """A prompt that nobody answers with a score is not paid for to the end."""
    many = [{**QUESTIONS[0], "output": f"Answer {i}.", "id": i} for i in range(400)]
    put("alpha.json", [*many, *({**q, "output": "Yes.", "id": q["id"] + 400} for q in QUESTIONS[2:])])
    with stub_server("--say", "tests.plugins.arena.test_evaluate_command:no_score") as url:
        done = dhp("evaluate", *files, *server(url), "--concurrency", "4")
        assert done.code == 3
        assert "on category 'chat': stopped" in " ".join(done.err.split())
        assert stats(url)["calls"] < 100
        assert dhp("evaluate", *files, *server(url), "--keep-going").code == 0
        assert stats(url)["calls"] == 406


def no_score(prompt: str) -> str:
    """Words alone."""
    return "Who can tell?"


def eight_and_a_half(prompt: str) -> str:
    """A score between two points."""
    return "8.5 out of 10"


def test_a_score_by_probability_is_renormalised(dhp: Run, files: tuple[str, ...]) -> None:
    with stub_server() as url:
        done = dhp("evaluate", *files, *server(url), "--extraction", "prob", "--json")
    means = [c["mean"] for c in json.loads(done.out)["results"] if c["kind"] == "judge"]
    assert all(1 <= mean <= 5 and mean != round(mean, 2) for mean in means)


@pytest.mark.slow
def test_discernment_of_the_evaluation(dhp: Run, files: tuple[str, ...]) -> None:
    with stub_server() as url:
        done = dhp("evaluate", *files, *server(url), "--discernment", "--json")
    results = json.loads(done.out)
    assert [r["dataset"] for r in results] == ["alpha/chat", "alpha/open_qa"]
    assert all(r["signature"].count("protocol:evaluate@") == 1 for r in results)


def changed(data: Any, *path: str, to: object) -> Any:
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return copy


FAULTS = {
    "language": ("config.json", changed(CONFIG, "language", to="de"), "language: 'de'; allowed: en, cn, zh"),
    "no prompt": (
        "config.json",
        changed(CONFIG, "category", "chatt", to={"GPT": ["fidelity"]}),
        "prompts.json: category 'chatt' has no prompt; did you mean 'chat'?",
    ),
    "no metric": (
        "config.json",
        changed(CONFIG, "category", "chat", to={"GPT": ["fidelty"]}),
        "prompts.json: chat: unknown metric 'fidelty'; did you mean 'fidelity'?",
    ),
    "empty": ("config.json", changed(CONFIG, "category", "chat", to={}), "category.chat: names no metric"),
    "no list": (
        "config.json",
        changed(CONFIG, "category", "chat", to={"GPT": "x"}),
        "category.chat.GPT: must be a list of names",
    ),
    "shape": ("config.json", [1], "config.json: must be an object, not list"),
    "unknown slot": (
        "prompts.json",
        changed(PROMPTS, "chat", "prompt", to=PROMPT + "{qestion}"),
        "prompts.json: chat.prompt: unknown slot '{qestion}'; did you mean 'question'?",
    ),
    "other category": (
        "alpha.json",
        [{**q, "output": "x", "category": "poetry"} for q in QUESTIONS],
        "no answer belongs to the categories chat, open_qa; found: poetry",
    ),
}


@pytest.mark.parametrize(("name", "data", "message"), FAULTS.values(), ids=FAULTS)
def test_bad_input_is_one_line(
    dhp: Run, files: tuple[str, ...], name: str, data: object, message: str
) -> None:
    put(name, data)
    done = dhp("evaluate", *files, "--model", "mock/ideal")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_faults_between_files_and_options(dhp: Run, files: tuple[str, ...]) -> None:
    model = ("--model", "mock/ideal")
    put("less.json", QUESTIONS[:3])
    put("bare.json", [{**q, "target": ""} for q in QUESTIONS])
    for more, message in (
        (("--targets", "less.json"), "less.json: lacks id '4' and 1 more"),
        (
            ("--targets", "bare.json", "--with-reference", "second-turn"),
            "id '1' has no target, which --with-reference shows",
        ),
        (
            ("--with-reference", "later"),
            "--with-reference 'later': unknown; allowed: one-prompt, second-turn",
        ),
        (("--steps", "never"), "--steps: unknown steps 'never'"),
    ):
        done = dhp("evaluate", *files, *model, *more)
        assert message in done.err
        assert done.err.splitlines()[-1].startswith("dhp: ")
        assert done.code == 2


@pytest.mark.slow
@pytest.mark.realdata
def test_the_english_files_run_unchanged(dhp: Run, real: Path) -> None:
    folder = real / "prompt_files" / "colossaleval"
    questions = json.loads((folder / "eval_en_examples.json").read_text())
    for name in ("one", "two"):
        put(f"{name}.json", [{**q, "output": f"{name} says {q['id']}"} for q in questions])
    given = {
        "config": "config_en",
        "prompts": "evaluation_prompt_en",
        "battle-prompts": "battle_prompt_en",
        "targets": "eval_en_examples",
    }
    arguments = [part for k, v in given.items() for part in (f"--{k}", folder / f"{v}.json")]
    arguments += ["--answers", "one.json", "--answers", "two.json", "--json"]
    offline = json.loads(dhp("evaluate", *arguments, "--model", "mock/noisy").out)
    config = json.loads((folder / "config_en.json").read_text())
    metrics = sum(len(category["GPT"]) for category in config["category"].values())
    assert len(offline["results"]) == 2 * metrics
    with stub_server() as url:
        served = json.loads(dhp("evaluate", *arguments, *server(url)).out)
        assert stats(url)["calls"] == 2 * 5 * metrics + 2 * len(questions)
        assert set(stats(url)["paid"].values()) == {1}
    assert all(c["n"] == 5 for c in served["results"])
