"""Perturbers of one's own that ask the perturb model: stored, counted, side by side; what a dry run calls."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.records import PerturbedText
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.limits import Budget, Limits
from dhp.llm.store import Store
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.api import AskedModel, Perturber
from dhp.perturb.builder import build_texts
from dhp.perturb.llm.functions import function_texts
from dhp.perturb.llm.model import LlmPerturber
from dhp.perturb.llm.prompt_files import PromptFiles
from dhp.perturb.registry import load_perturber
from dhp.perturb.settings import Choice

from .says import Says


@dhp.perturber(
    name="rude", level="sentence", method="llm", degrees={"minor": {"words": 1}, "major": {"words": 3}}
)
def rude(text: str, rng: random.Random, *, model: AskedModel, words: int) -> str:
    """Ask for a word, then for a text with it."""
    word = model.ask(f"Name {words} of {rng.randint(0, 9)} rude words for: {text}")
    return model.ask(f"Put {word} into: {text}")


COUNTER = itertools.count()


def brain(prompt: str) -> str:
    return "bah" if prompt.startswith("Name") else f"{prompt.partition(': ')[2]} Bah."


def texts(model: Says, context: RequestContext, perturber: Perturber = rude) -> list[PerturbedText]:
    (data,) = resolve_datasets(["mini/summeval"], n=6)
    variant, *_ = perturber.variants
    function = function_texts(data, variant, {perturber.name: perturber}, 0)
    asked = LlmPerturber(CachedModel(model, context), PromptFiles())
    return asked.perturb(data.examples, variant, data.task.task, function=function)


def test_what_a_function_asks_is_asked_once_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    store = Store(tmp_path / "replies.sqlite")
    model = Says(brain)
    with pytest.raises(StoppedEarly):
        texts(model, RequestContext(store, budget=Budget(Limits(calls=8))))
    made = texts(model, RequestContext(store))
    assert all(t.text and t.text.endswith(" Bah.") and t.audit for t in made)
    assert len(model.prompts) == len(set(model.prompts)) == 12
    silent = Says(lambda prompt: 1 / 0)  # type: ignore[return-value, arg-type]
    assert texts(silent, RequestContext(store)) == made


def test_the_questions_of_all_examples_are_asked_together() -> None:
    rounds: list[int] = []

    class Batches(Says):
        def answer(self, requests):  # type: ignore[no-untyped-def]
            listed = list(requests)
            rounds.append(len(listed))
            return super().answer(listed)

    texts(Batches(brain), RequestContext())
    assert rounds == [6, 6]


def test_the_same_prompt_again_is_another_sample_and_no_answer_is_not_applicable() -> None:
    answers: dict[str, int] = {}

    def second(prompt: str) -> str:
        answers[prompt] = answers.get(prompt, 0) + 1
        return "" if "Piers" in prompt else f"{prompt} {answers[prompt]}"

    @dhp.perturber(name="twice", level="sentence", method="llm")
    def twice(text: str, rng: random.Random, *, model: AskedModel) -> str:
        return f"{model.ask(text)} {model.ask(text)}"

    made = texts(Says(second), RequestContext(), twice)
    assert {t.reason for t in made if t.text is None} <= {"the answer is empty"}
    good = [t.text for t in made if t.text]
    assert good
    assert all(text.rstrip().endswith(" 2") and " 1 " in text for text in good)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda text, rng, *, model: model.ask(str(next(COUNTER))),
            "asks something else",
        ),
        (lambda text, rng, *, model: "".join(model.ask(text) for _ in range(99)), "more than 32 questions"),
        (lambda text, rng, *, model: model.ask(""), "the prompt is ''"),
    ],
)
def test_a_faulty_function_is_one_line(function: Callable[..., str], message: str) -> None:
    faulty = dhp.perturber(name="faulty", level="sentence", method="llm")(function)
    with pytest.raises(InputError, match=message):
        texts(Says(lambda prompt: prompt), RequestContext(), faulty)


def test_a_method_needs_its_parameter_and_a_model() -> None:
    with pytest.raises(InputError, match="method llm: the function must have a parameter `model`"):
        dhp.perturber(name="none", level="sentence", method="llm")(lambda text, rng: text)
    with pytest.raises(InputError, match="perturber 'rude': asks a language model; give one"):
        built(rude, dry=True)


def built(perturber: Perturber, *, dry: bool) -> list[PerturbedText]:
    settings = dhp.ModelSettings()
    choice = Choice(n=3, perturbers=perturber)
    (part,) = build_texts("mini/summeval", choice, 0, settings, settings.context(), dry=dry)
    return [t for t in part.texts if t.variant.startswith(perturber.name)]


def test_a_function_that_asks_has_the_model_for_itself() -> None:
    """The kinds of the suite are authored beside it, as without a model, unless they are named, too."""
    settings = dhp.ModelSettings()
    for others, by_model in (
        ((), {"rude"}),
        ((load_perturber("grammatical_errors"),), {"rude", "grammatical_errors"}),
    ):
        choice = Choice(n=3, perturbers=(rude, *others), perturb_model="openai/nobody")
        (part,) = build_texts("mini/summeval", choice, 0, settings, settings.context(), dry=True)
        assert {v.perturber for v in part.variants if v.method == "llm"} == by_model
        assert any(v.method == "authored" for v in part.variants)


def test_a_dry_run_calls_no_function_of_the_user() -> None:
    calls: list[str] = []

    @dhp.perturber(name="calls_by_itself", level="sentence")
    def calls_by_itself(text: str, rng: random.Random) -> str:
        calls.append(text)
        return f"{text} Bah."

    stand_ins = built(calls_by_itself, dry=True)
    assert calls == []
    assert len(stand_ins) == 3
    assert all(t.text for t in stand_ins)
    assert [t.text for t in built(calls_by_itself, dry=False)] == [f"{text} Bah." for text in calls]
