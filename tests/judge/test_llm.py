"""A language model as a judge: what it is asked, and what is made of its answers."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol
from dhp.core.records import Candidate, Rating
from dhp.judge.factory import protocol, request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.ratings import checked_ratings
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.records import Failure, Position, Reply, Request

TASK = read_task("summarization")
TEXTS = [
    Candidate(
        example,
        variant,
        f"Summary {variant} of {example}.",
        f"Article {example}.",
        references=("Known good.",),
    )
    for example in ("a", "b")
    for variant in ("original", "worse")
]


class Scripted:
    """A model in this process that says what it is told to."""

    model, endpoint = "hf/scripted", "here"

    def __init__(self, says: object) -> None:
        self.says = says
        self.asked: list[Request] = []

    def count_tokens(self, prompt: str) -> int:
        return len(prompt.split())

    def misfit(self, request: Request) -> None:
        pass

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Mapping[int, Reply | Failure]]]:
        for request in requests:
            self.asked.append(request)
            yield request, {sample: self._outcome(request, sample) for sample in request.samples}

    def _outcome(self, request: Request, sample: int) -> Reply | Failure:
        said = self.says(request, sample) if callable(self.says) else self.says
        return Reply(said, "stop", 10, 1, 1) if isinstance(said, str) else said


def rated(says: object, chosen: Protocol, **more: object) -> tuple[list[Rating], Scripted]:
    model = Scripted(says)
    judge = LlmJudge(CachedModel(model, RequestContext()), request_builder(chosen, **more))
    return list(checked_ratings(judge, TEXTS, TASK)), model


def test_each_text_is_rated_by_each_metric_as_often_as_asked() -> None:
    ratings, model = rated("4", protocol("dhp", samples=3))
    assert len(ratings) == 4 * 4 * 3 == len({(r.example, r.variant, r.metric, r.sample) for r in ratings})
    assert {(r.status, r.score, r.raw, r.rule) for r in ratings} == {("scored", 4.0, "4", "bare")}
    assert {request.params.temperature for request in model.asked} == {0.0}
    assert {request.params.seed for request in model.asked} == {None}


def test_prompts_of_one_example_and_metric_follow_each_other_and_differ_in_the_text_alone() -> None:
    _, model = rated("4", protocol("dhp"))
    groups = [request.group for request in model.asked]
    assert groups[::2] == groups[1::2]
    assert len(set(groups)) == 8
    for one, other in zip(model.asked[::2], model.asked[1::2], strict=True):
        assert one.prompt.replace("Summary original", "Summary worse") == other.prompt


def test_the_judge_sees_neither_the_original_nor_the_name_of_the_variant() -> None:
    for name in ("dhp", "rate-explain", "da", "letters", "free-text"):
        _, model = rated("4", protocol(name, ask_again=False))
        for request in model.asked:
            assert "variant" not in request.prompt
            assert ("Summary original" in request.prompt) != ("Summary worse" in request.prompt)
            assert "Known good" not in request.prompt


def test_a_reference_is_shown_where_the_protocol_says_so() -> None:
    _, model = rated("4", protocol("dhp", reference=True))
    assert all("Known good." in request.prompt for request in model.asked)


@pytest.mark.parametrize(
    ("says", "status", "raw"),
    [
        ("I would rather talk about the weather.", "unparsed", "I would rather talk about the weather."),
        ("I'm sorry, but I cannot rate this.", "refused", "I'm sorry, but I cannot rate this."),
        ("Rating: 9", "out_of_scale", "Rating: 9"),
        ("", "unparsed", None),
        (Failure("HTTP 500: broken"), "failed", "HTTP 500: broken"),
        (Reply("", "tool_calls", 1, 1, 1), "unparsed", "(a tool call, and no text that answers)"),
        (Reply("", "content_filter", 1, 1, 1), "refused", None),
        (Reply("", "length", 1, 16, 1), "unparsed", "(no text within 16 tokens)"),
        (Reply("Rating: 4, as", "length", 1, 16, 1), "scored", "Rating: 4, as"),
    ],
)
def test_a_failure_is_kept_with_its_reason_and_never_a_score(
    says: object, status: str, raw: str | None
) -> None:
    ratings, _ = rated(says, protocol("dhp", samples=1, ask_again=False))
    assert {(r.status, r.raw) for r in ratings} == {(status, raw)}
    assert all((r.score is None) == (status != "scored") for r in ratings)


@pytest.mark.parametrize("name", ["analyze-rate", "free-text"])
def test_an_answer_cut_off_where_its_rating_may_go_on_has_none(name: str) -> None:
    ratings, _ = rated(Reply("I give it a score of 4", "length", 1, 16, 1), protocol(name, samples=1))
    assert {(r.status, r.score) for r in ratings} == {("unparsed", None)}


@pytest.mark.parametrize(
    ("name", "says", "score"),
    [
        ("da", "80", 4.2),
        ("da", "0", 1.0),
        ("stars", "four stars", 4.0),
        ("letters", "B", 2.0),
        ("free-text", "I give it a 2.", 2.0),
    ],
)
def test_answers_on_other_scales_are_put_on_the_metrics(name: str, says: str, score: float) -> None:
    ratings, _ = rated(says, protocol(name))
    assert {r.score for r in ratings} == {score}


def test_mix_asks_half_of_the_samples_before_and_half_after_the_reason() -> None:
    def says(request: Request, sample: int) -> str:
        return "It is clear.\nI rate it 5." if sample % 2 else f"{1 + sample}\nIt is clear."

    ratings, model = rated(says, protocol("mix", samples=4))
    assert {request.samples for request in model.asked} == {(0, 2), (1, 3)}
    scores = {r.sample: r.score for r in ratings}
    assert scores == {0: 1.0, 1: 5.0, 2: 3.0, 3: 5.0}  # explained: the first line counts; analysed: the last


def likely(*chances: float) -> Reply:
    import math

    tops = tuple((str(score), math.log(p)) for score, p in enumerate(chances, 1) if p)
    best = str(chances.index(max(chances)) + 1)
    return Reply(best, "stop", 10, 0, 1, (Position(best, tops),))


def test_probabilities_make_an_expected_score() -> None:
    ratings, model = rated(likely(0, 0, 0.2, 0.6, 0), protocol("g-eval-prob"))
    assert {(r.rule, round(r.score or 0, 9), round(r.missing_mass or 0, 9)) for r in ratings} == {
        ("prob", 3.75, 0.2)
    }
    assert len(model.asked) == 16
    assert model.asked[0].params.top_logprobs == 20


def test_without_probabilities_nothing_is_read_in_their_place_unless_allowed() -> None:
    with pytest.raises(
        InputError, match=r"hf/scripted: here gives no log-probabilities; allowed: `extraction` parse"
    ):
        rated("4", protocol("g-eval-prob"))
    ratings, _ = rated("4", protocol("g-eval-prob", extraction="prob-or-parse"))
    assert {(r.score, r.rule, r.missing_mass) for r in ratings} == {(4.0, "parse:bare", None)}
    with_none = Reply("Sure!", "stop", 1, 1, 1, (Position("Sure", (("Sure", -0.1), ("Well", -3.0))),))
    ratings, _ = rated(with_none, protocol("g-eval-prob"))
    assert {r.status for r in ratings} == {"unparsed"}


def test_the_model_writes_the_steps_once_for_each_metric() -> None:
    def says(request: Request, sample: int) -> str:
        return "1. Read all.\n2. Look twice." if "steps" in request.place else "4"

    judge = LlmJudge(
        CachedModel(model := Scripted(says), RequestContext()),
        request_builder(protocol("dhp", steps="auto", samples=1)),
    )
    for _ in range(2):
        assert len(list(judge.rate(TEXTS, TASK))) == 16
    assert sum("steps" in request.place for request in model.asked) == 4
    assert judge.auto_steps == {
        "summarization": {name: ["Read all.", "Look twice."] for name in TASK.metric_names}
    }
    assert all("2. Look twice." in request.prompt for request in model.asked[4:])
    assert TASK.metrics[0].steps[0] not in model.asked[4].prompt
    with pytest.raises(
        InputError, match=r"evaluation steps of 'coherence': the answer is not a list of steps"
    ):
        rated("I will not.", protocol("dhp", steps="auto"))


def test_steps_written_by_a_model_can_be_given_back(tmp_path: Path) -> None:
    file = tmp_path / "steps.yaml"
    file.write_text("summarization:\n" + "".join(f"  {m}: [Look at {m}.]\n" for m in TASK.metric_names))
    _, model = rated("4", protocol("dhp", steps=str(file)))
    assert all(f"1. Look at {request.tag[0].metric}." in request.prompt for request in model.asked)
    file.write_text("coherence: [Look.]\n")
    with pytest.raises(InputError, match="consistency"):
        rated("4", protocol("dhp", steps=str(file)))


def test_whatever_decides_how_it_is_asked_changes_the_label(tmp_path: Path) -> None:
    (tmp_path / "coherence.txt").write_text("Judge {{Summary}}")
    (tmp_path / "persona.txt").write_text("You are stern.")
    (tmp_path / "steps.yaml").write_text("coherence: [Look.]")
    prompts = [str(tmp_path / "coherence.txt")]
    changes: list[dict[str, object]] = [
        {},
        {"samples": 4},
        {"temperature": 0.5},
        {"temperature": None},
        {"top_p": 0.5},
        {"max_tokens": 9},
        {"language": "zh"},
        {"persona": "hhh"},
        {"persona": str(tmp_path / "persona.txt")},
        {"steps": "none"},
        {"steps": str(tmp_path / "steps.yaml")},
        {"reference": True},
        {"answer": "stars", "steps": "none"},
    ]
    labels = [request_builder(protocol("dhp", **change)).label for change in changes]
    labels.append(request_builder(protocol("dhp"), prompt_files=prompts).label)
    assert len(set(labels)) == len(labels)
    (tmp_path / "persona.txt").write_text("You are mild.")
    assert request_builder(protocol("dhp", persona=str(tmp_path / "persona.txt"))).label not in labels
    assert request_builder(protocol("dhp")).label == labels[0]
    (tmp_path / "copy.yaml").write_text((tmp_path / "steps.yaml").read_text())
    one = request_builder(protocol("dhp", steps=str(tmp_path / "steps.yaml")))
    copy = request_builder(protocol("dhp", steps=str(tmp_path / "copy.yaml")))
    assert one.label == copy.label, "what a file says counts, not where it lies"


def test_published_prompts_are_used_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "coh_v1.txt").write_text("Text: {{Document}}\nSummary: {{Summary}}\n- Coherence:")
    (tmp_path / "flu_v1.txt").write_text("{{Summary}} Fluency:")
    task = TASK.model_copy(
        update={"metrics": [m for m in TASK.metrics if m.name in ("coherence", "fluency")]}
    )
    asked = request_builder(protocol("dhp"), prompt_files=[str(tmp_path)])
    found = {request.prompt for request in asked.requests(TEXTS[:1], task)}
    assert found == {
        "Text: Article a.\nSummary: Summary original of a.\n- Coherence:",
        "Summary original of a. Fluency:",
    }
    said = "no prompt file for the metric 'consistency'; add one, or take only `metrics` coherence `metrics`"
    with pytest.raises(InputError, match=said):
        list(asked.requests(TEXTS, TASK))
    for change in ({"answer": "da", "steps": "none"}, {"steps": "auto"}):
        with pytest.raises(InputError, match="prompt files say themselves how to answer"):
            request_builder(protocol("dhp", **change), prompt_files=[str(tmp_path)])
