"""Degraded texts by a language model: what counts, what is asked again, what is given up, what is kept."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.records import Variant
from dhp.llm import estimate
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.limits import Budget, Limits
from dhp.llm.records import Failure, Params, Request
from dhp.llm.store import Store
from dhp.perturb.llm.model import TRIES, LlmPerturber
from dhp.perturb.llm.prompt_files import PromptFiles
from dhp.perturb.llm.steps_file import read_steps

from .follows import tagged, text_of
from .says import Says

EXAMPLES = [
    dhp.Example(
        f"e{i}", "source", f"Mara Quint opened a bakery in Leeds. She sells {i + 3} kinds of bread there."
    )
    for i in range(5)
]
MINOR = Variant(
    "fictional_named_entities.minor", "fictional_named_entities", "word", "llm", "minor", {"count": 1}
)
GRAMMAR = Variant("grammatical_errors.minor", "grammatical_errors", "word", "llm", "minor", {"count": 2})


def by_model(model: Says, context: RequestContext = RequestContext(), **more: object) -> LlmPerturber:  # noqa: B008  frozen
    return LlmPerturber(CachedModel(model, context), PromptFiles(), **more)  # type: ignore[arg-type]


def moved(prompt: str) -> str:
    """A good answer: the town is another."""
    return tagged(prompt, text_of(prompt).replace("Leeds", "Varnholm"))


def only_after(reasons: int, good: Callable[[str], str]) -> Callable[[str], str]:
    """Echoes the text until it was told a reason so often."""
    told: dict[str, int] = {}

    def brain(prompt: str) -> str:
        text = text_of(prompt)
        told[text] = told.get(text, -1) + 1
        return good(prompt) if told[text] >= reasons else tagged(prompt, text)

    return brain


def test_good_answers_count_at_once_and_are_audited() -> None:
    model = Says(lambda prompt: f"Sure! Here is the revised summary:\n\n{moved(prompt)}")
    made = by_model(model).perturb(EXAMPLES, MINOR, "summarization")
    assert [t.example for t in made] == [e.id for e in EXAMPLES]
    assert [t.text for t in made] == [e.output.replace("Leeds", "Varnholm") for e in EXAMPLES]
    assert all(t.audit and t.audit.edit_distance == 8 and t.rejected == () for t in made)
    assert len(model.prompts) == len(EXAMPLES)
    assert all(e.output in prompt for e, prompt in zip(EXAMPLES, model.prompts, strict=True))


def test_a_failing_answer_is_asked_again_with_the_reason() -> None:
    model = Says(only_after(2, moved))
    made = by_model(model).perturb(EXAMPLES[:2], MINOR, "summarization")
    assert all(t.text and "Varnholm" in t.text and len(t.rejected) == 2 for t in made)
    assert len(set(made[0].rejected)) == 1
    reason = made[0].rejected[0]
    asked_again = [prompt for prompt in model.prompts if reason in prompt]
    assert len(asked_again) == 4
    assert all(f"<answer>\n{EXAMPLES[0].output}" in prompt for prompt in asked_again[::2])


def test_what_never_passes_is_not_applicable_after_four_tries() -> None:
    model = Says(lambda prompt: tagged(prompt, text_of(prompt)) if " 3 kinds" in prompt else moved(prompt))
    made = by_model(model).perturb(EXAMPLES, MINOR, "summarization")
    assert [t.text is None for t in made] == [True, False, False, False, False]
    assert len(made[0].rejected) == TRIES == 4
    assert made[0].reason == made[0].rejected[-1]
    assert len(model.prompts) == 4 + 4


def test_a_right_text_without_tags_is_taken() -> None:
    model = Says(lambda prompt: text_of(prompt).replace("Leeds", "Varnholm"))
    made = by_model(model).perturb(EXAMPLES, MINOR, "summarization")
    assert all("Varnholm" in (text.text or "") for text in made)
    assert len(model.prompts) == len(EXAMPLES)


@pytest.mark.parametrize(
    ("brain", "finish", "reason"),
    [
        (lambda prompt: "I'm sorry, but I can't help with that.", "stop", "refus"),
        (lambda prompt: "", "content_filter", "refused"),
        (moved, "length", "cut off"),
        (lambda prompt: tagged(prompt, "zxq blorf 77 (( the the the"), "stop", ""),
        (lambda prompt: "Here: " + text_of(prompt).replace("Leeds", "Varnholm"), "stop", "between the tags"),
        (lambda prompt: moved(prompt).replace("</revised>", ""), "stop", "the closing tag is missing"),
    ],
)
def test_a_model_of_which_nothing_counts_is_one_line(
    brain: Callable[[str], str], finish: str, reason: str
) -> None:
    model = Says(brain, finish)
    with pytest.raises(InputError) as caught:
        by_model(model).perturb(EXAMPLES, MINOR, "summarization")
    message = str(caught.value)
    assert message.startswith(
        "perturber 'fictional_named_entities.minor': none of 20 answers of hf/says passed the check: "
    )
    assert reason in message
    assert "(20)" in message
    assert "\n" not in message


def test_an_empty_answer_is_really_asked_again() -> None:
    answers = iter([lambda _: "", lambda _: "", moved])
    model = Says(lambda prompt: next(answers)(prompt))
    (made,) = by_model(model).perturb(EXAMPLES[:1], MINOR, "summarization")
    assert made.text == EXAMPLES[0].output.replace("Leeds", "Varnholm")
    assert len(made.rejected) == 2
    assert len(set(model.prompts)) == 1


def test_an_answer_without_tags_is_shown_with_the_reason() -> None:
    model = Says(lambda prompt: moved(prompt) if "does not count" in prompt else "<think>x</think> Velmora.")
    (made,) = by_model(model).perturb(EXAMPLES[:1], MINOR, "summarization")
    assert made.text
    assert made.rejected == ("the revised text does not stand between the tags asked for",)
    assert "<answer>\nVelmora.\n</answer>" in model.prompts[1]


def test_everything_is_asked_once_also_after_a_stop(tmp_path: Path) -> None:
    store = Store(tmp_path / "replies.sqlite")
    stopping = RequestContext(store, budget=Budget(Limits(calls=7)))
    model = Says(only_after(1, moved))
    with pytest.raises(StoppedEarly):
        by_model(model, stopping).perturb(EXAMPLES, MINOR, "summarization")
    assert len(model.prompts) == 7
    made = by_model(model, RequestContext(store)).perturb(EXAMPLES, MINOR, "summarization")
    assert len(model.prompts) == 10
    assert all(t.text for t in made)
    silent = Says(lambda prompt: 1 / 0)  # type: ignore[return-value, arg-type]
    assert by_model(silent, RequestContext(store)).perturb(EXAMPLES, MINOR, "summarization") == made


def test_steps_by_the_model_are_asked_once_a_variant() -> None:
    def brain(prompt: str) -> str:
        if "<text>" in prompt:
            return moved(prompt)
        return "1. Look for the town.\n2. Name another."

    model = Says(brain)
    maker = by_model(model, steps="auto")
    maker.perturb(EXAMPLES, MINOR, "summarization")
    assert len(model.prompts) == 1 + len(EXAMPLES)
    assert maker.auto_steps == {"summarization": {MINOR.name: ["Look for the town.", "Name another."]}}
    written = PromptFiles()("summarization", MINOR.name).steps[0]
    assert all("1. Look for the town." in p and written not in p for p in model.prompts[1:])
    with pytest.raises(InputError, match=r"steps of 'grammatical_errors.minor'"):
        by_model(Says(lambda p: "No."), steps="auto").perturb(EXAMPLES, GRAMMAR, "summarization")


def test_a_bad_count_is_one_line() -> None:
    with pytest.raises(InputError, match=r"perturber 'x.minor': `count` 0: must be 1 or more"):
        by_model(Says(moved)).perturb(
            EXAMPLES,
            Variant("x.minor", "fictional_named_entities", "word", "llm", "minor", {"count": 0}),
            "summarization",
        )


def test_answers_may_be_about_twice_as_long_as_the_text() -> None:
    _, (request,) = by_model(Says(moved)).recall(EXAMPLES[:1], MINOR, "summarization")
    assert request.params.max_tokens > 256
    assert request.params.temperature is None
    _, (request,) = by_model(Says(moved), max_tokens=9).recall(EXAMPLES[:1], MINOR, "summarization")
    assert request.params.max_tokens == 9


def test_a_cut_off_answer_gets_twice_the_room() -> None:
    model = Says(moved)
    model.finish = "length"
    with pytest.raises(InputError, match="cut off"):
        by_model(model, max_tokens=50).perturb(EXAMPLES[:1], MINOR, "summarization")
    assert model.rooms == [50, 100, 200, 400]
    assert len(set(model.prompts)) == 1


def test_a_call_that_fails_in_passing_is_no_verdict_on_the_text(tmp_path: Path) -> None:
    context = RequestContext(Store(tmp_path / "replies.sqlite"))
    model = Says(moved)
    model.failures = [Failure("HTTP 503", passing=True)]
    with pytest.raises(StoppedEarly, match=r"hf/says: 1 texts of '.*minor' could not be had \(HTTP 503\)"):
        by_model(model, context).perturb(EXAMPLES, MINOR, "summarization")
    made = by_model(model, context).perturb(EXAMPLES, MINOR, "summarization")
    assert len(model.prompts) == len(EXAMPLES) + 1
    assert made == by_model(Says(moved)).perturb(EXAMPLES, MINOR, "summarization")


def test_a_text_that_the_server_will_not_have_is_not_applicable() -> None:
    model = Says(moved)
    model.failures = [Failure("HTTP 400, content management policy")]
    first, *others = by_model(model).perturb(EXAMPLES, MINOR, "summarization")
    assert first.reason == "the call was rejected: HTTP 400, content management policy"
    assert all(other.text for other in others)
    assert len(model.prompts) == len(EXAMPLES)


def test_steps_that_are_cut_off_are_asked_once_more_with_more_room(tmp_path: Path) -> None:
    model = Says(lambda prompt: "1. Look for the town.\n2. Na", "length")
    context = RequestContext(Store(tmp_path / "replies.sqlite"))
    with pytest.raises(InputError, match=r"the answer was cut off; allowed: a file of steps"):
        by_model(model, context, steps="auto", max_tokens=80).perturb(EXAMPLES, MINOR, "summarization")
    assert model.rooms == [1024, 4096]


def test_steps_that_could_not_be_had_are_asked_again_by_the_same_command() -> None:
    model = Says(lambda prompt: moved(prompt) if "<text>" in prompt else "1. Look for the town.")
    model.failures = [Failure("HTTP 503", passing=True)]
    maker = by_model(model, steps="auto")
    with pytest.raises(StoppedEarly, match="HTTP 503"):
        maker.perturb(EXAMPLES, MINOR, "summarization")
    assert all(t.text for t in maker.perturb(EXAMPLES, MINOR, "summarization"))


def test_steps_that_fit_the_second_time_are_used_and_recalled(tmp_path: Path) -> None:
    def brain(prompt: str) -> str:
        model.finish = "length" if len(model.prompts) == 1 else "stop"
        return moved(prompt) if "<text>" in prompt else "1. Look for the town.\n2. Name another."

    model, context = Says(brain), RequestContext(Store(tmp_path / "replies.sqlite"))
    made = by_model(model, context, steps="auto").perturb(EXAMPLES, MINOR, "summarization")
    assert all(t.text for t in made)
    assert len(model.prompts) == 2 + len(EXAMPLES)
    assert "Name another" in model.prompts[-1]
    silent = Says(lambda prompt: 1 / 0)  # type: ignore[return-value, arg-type]
    recalled, _ = by_model(silent, context, steps="auto").recall(EXAMPLES, MINOR, "summarization")
    assert len(recalled) == len(EXAMPLES)


def test_steps_of_a_file_take_the_place_of_the_written_ones(tmp_path: Path) -> None:
    file = tmp_path / "steps.yaml"
    file.write_text("fictional_named_entities.minor: [Look for a town., Name another.]\n")
    model = Says(moved)
    maker = by_model(model, steps=read_steps(file))
    maker.check([MINOR], "summarization")
    maker.check_names([("summarization", MINOR.name)])
    assert all(t.text for t in maker.perturb(EXAMPLES, MINOR, "summarization"))
    assert all("1. Look for a town.\n2. Name another." in prompt for prompt in model.prompts)
    assert "steps of a file" in maker.origin("summarization", [MINOR])
    with pytest.raises(InputError, match=r"lacks steps for task 'summarization': grammatical_errors.minor"):
        maker.check([MINOR, GRAMMAR], "summarization")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fictional_named_entites.minor: [Look.]\n", "'fictional_named_entities.minor'"),
        ("sumarization: {fictional_named_entities.minor: [Look.]}\n", "unknown task 'sumarization'"),
        ("fictional_named_entities.minor: Look.\n", "must be a list of steps"),
        ("[a]\n", "must be a mapping of variant"),
    ],
)
def test_a_faulty_file_of_steps_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "steps.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        by_model(Says(moved), steps=read_steps(file)).check_names([("summarization", MINOR.name)])


def test_what_is_stored_is_recalled_and_what_is_not_is_counted(tmp_path: Path) -> None:
    context = RequestContext(Store(tmp_path / "replies.sqlite"))
    with pytest.raises(StoppedEarly):
        by_model(
            Says(only_after(1, moved)), RequestContext(context.store, budget=Budget(Limits(calls=7)))
        ).perturb(EXAMPLES, MINOR, "summarization")
    silent = Says(lambda prompt: 1 / 0)  # type: ignore[return-value, arg-type]
    made, counted = by_model(silent, context).recall(EXAMPLES, MINOR, "summarization")
    assert len(made) == 2
    assert [request.samples for request in counted] == [(0,), (0,), (1,), (1,), (1,)]


def taking(seconds: float, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Says "x" in this time by the clock of the measurement, which no other process slows."""
    clock = [0.0]
    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def says(prompt: str) -> str:
        clock[0] += seconds
        return "x"

    return says


def test_a_dry_run_measures_on_few_tokens_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = taking(0.02, monkeypatch)

    def rooms(prompts: int) -> list[int]:
        model = Says(slow)
        cached = CachedModel(model, RequestContext())
        params = Params(temperature=None, top_p=None, max_tokens=1024)
        requests = [Request(f"prompt {i}", params, (0,), "x") for i in range(prompts)]
        found = estimate_requests(cached, "perturbations", "data", requests, "texts")
        assert found.bill.seconds >= 0.02 * prompts
        return model.rooms

    assert rooms(20) == [1, 16, 1, *[16] * 8]
    monkeypatch.setattr(estimate, "_SECONDS", 0.22)
    assert 3 <= len(rooms(20)) < 3 + 8


def test_a_dry_run_measures_for_a_bounded_time_over_all_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each prompt takes 10 ms: after some sets what is known of the model stands for further measuring."""
    monkeypatch.setattr(estimate, "_SECONDS", 0.3)
    context, slow = RequestContext(), taking(0.01, monkeypatch)

    def estimated(name: str) -> Estimate:
        model = Says(slow)
        params = Params(temperature=None, top_p=None, max_tokens=1024)
        requests = [Request(f"prompt {name} {i}", params, (0,), "x") for i in range(20)]
        return estimate_requests(CachedModel(model, context), "dhp", name, requests)

    found = [estimated(str(i)) for i in range(12)]
    assert context.measured.seconds < 0.3
    assert re.search(r"measured on [2-8] of them", found[0].assumed)
    assert found[-1].assumed.endswith("measured on other requests in this process")
    first, last = found[0].bill.seconds, found[-1].bill.seconds
    assert 0.3 < last / first < 3
