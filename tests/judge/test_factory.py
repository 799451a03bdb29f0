"""From names and objects to judges."""

from collections.abc import Iterator, Sequence

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge, as_judge
from dhp.judge.factory import find_judges
from dhp.llm.settings import ModelSettings


class Plain:
    """A judge with the least that one needs."""

    model, protocol = "own/plain", "none"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        return iter(())


class Richer(Plain):
    samples = 3

    def __init__(self) -> None:
        self.settings = {"depth": 2}
        self.prepared: list[int] = []

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        self.prepared.append(len(candidates))


class Derived(Judge):
    model, protocol = "own/derived", "none"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        return iter(())


def test_a_plain_judge_is_completed_with_defaults() -> None:
    task = dhp.perturb_datasets("mini/story_cloze", n=1)[0].dataset.task
    plain, richer, derived = Plain(), Richer(), Derived()
    for judge in (as_judge(plain), as_judge(derived)):
        assert (judge.samples, dict(judge.settings), judge.cached_model) == (1, {}, None)
        assert list(judge.prompts(Candidate("a", "original", "Text.", ""), task)) == []
        assert list(judge.requests([], task)) == []
        judge.prepare([], task)
    found = as_judge(richer)
    found.prepare([Candidate("a", "original", "Text.", "")], task)
    assert (found.model, found.samples, found.settings, richer.prepared) == (
        "own/plain",
        3,
        {"depth": 2},
        [1],
    )
    assert as_judge(derived) is derived


@pytest.mark.parametrize("given", [None, 4, object(), Plain, "text".upper])
def test_what_is_no_judge_is_named(given: object) -> None:
    with pytest.raises(InputError, match="is not a judge; allowed: provider/name, or an object with texts"):
        as_judge(given)


@pytest.mark.parametrize("samples", [0, True, 2.0, "3"])
def test_samples_must_be_a_count(samples: object) -> None:
    judge = Plain()
    judge.samples = samples  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"judge 'own/plain': samples is .*; allowed: 1 or more"):
        as_judge(judge)


def test_a_model_is_opened_once_for_all_that_is_asked_in_a_context() -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:9/v1", store=False)
    context = settings.context()
    judges = find_judges(["openai/a", "openai/b"], ["dhp", "analyze-rate"], settings, context)
    models = [judge.cached_model.model for judge in judges if judge.cached_model]
    assert [model.model for model in models] == ["openai/a", "openai/a", "openai/b", "openai/b"]
    assert models[0] is models[1] is settings.open("openai/a", context)
    assert models[2] is not models[0]
    assert settings.open("openai/a", settings.context()) is not models[0]
