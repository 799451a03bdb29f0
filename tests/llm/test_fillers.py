"""Fillers: anything may put replies into the store, and the run then asks nothing."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.fillers import Target
from dhp.llm.limits import Budget, Limits, Prices
from dhp.llm.records import Answer, Failure, Reply, Request
from dhp.llm.store import Store
from dhp.perturb.settings import PerturbModel
from tests.llm.helpers import requests
from tests.perturb.follows import follow
from tests.plugins.batch.answers import score

NOBODY = "http://127.0.0.1:9/v1"


class ByHand:
    """A filler that answers all by a function; where that returns None, the request is refused."""

    is_used, multi_sample, discounted, calls_functions, collects = True, True, False, False, True

    def __init__(self, says: Callable[[str], str | None]) -> None:
        self.says = says
        self.refused: set[bytes] = set()
        self.rounds: list[list[tuple[Target, Request]]] = [[]]
        self.ended = 0

    @property
    def taken(self) -> int:
        return len(self.rounds[-1])

    def check_dry_run(self) -> None: ...

    def open(self, context: RequestContext) -> "ByHand":
        self.store = context.store
        return self

    def check(self, model: str, endpoint: str | None = None) -> None: ...

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            if self.refused.issuperset(request.keys.values()):
                yield request, dict.fromkeys(request.samples, Failure("refused"))
            else:
                self.rounds[-1].append((target, request))

    def fill(self) -> None:
        for target, request in self.rounds[-1]:
            said = self.says(request.prompt)
            if said is None:
                self.refused.update(request.keys.values())
                continue
            came = {
                sample: Reply(said, "stop", 10, 1, int(sample == request.samples[0]))
                for sample in request.samples
            }
            target.keep(request, came)
        self.rounds.append([])

    def end(self) -> None:
        self.ended += 1


def settings(folder: Path, filler: object = None) -> dhp.ModelSettings:
    return dhp.ModelSettings(base_url=NOBODY, cache=folder, filler=filler)


@pytest.mark.slow
def test_a_filled_store_needs_no_call(tmp_path: Path) -> None:
    way = {"n": 2, "progress": None}
    filler = ByHand(score)
    found = dhp.run("openai/later", "mini/summeval", settings=settings(tmp_path, filler), **way)
    assert found.ratings["scored"] == found.ratings["asked"] > 0
    assert [len(taken) > 0 for taken in filler.rounds] == [True, False], "one round and no second one"
    assert filler.ended == 1
    again = dhp.run("openai/later", "mini/summeval", settings=settings(tmp_path), **way)
    assert again.to_frame().equals(found.to_frame())
    assert again.usage["calls"] == found.usage["calls"] == sum(len(taken) for taken in filler.rounds)


@pytest.mark.slow
def test_what_follows_replies_comes_in_a_round_of_its_own(tmp_path: Path) -> None:
    def says(prompt: str) -> str:
        return "1. Read it.\n2. Rate it." if "steps" in prompt and "Read it." not in prompt else "4"

    filler = ByHand(says)
    protocol = dhp.protocol("dhp", steps="auto", samples=1)
    way = {"dataset": "mini/answer_equivalence", "n": 3, "controls": False, "progress": None}
    found = dhp.run("openai/m", protocol=protocol, settings=settings(tmp_path, filler), **way)
    assert found.ratings["scored"] == found.ratings["asked"]
    assert len(filler.rounds[0]) == 1, "the steps of the one metric"
    assert len(filler.rounds) == 3


@pytest.mark.slow
def test_texts_of_a_model_come_before_their_ratings(tmp_path: Path) -> None:
    def says(prompt: str) -> str:
        return score(prompt) if "Score for" in prompt else follow(prompt)

    filler = ByHand(says)
    parts = dhp.perturb_datasets(
        "mini/summeval", n=1, perturb_model=PerturbModel("openai/w"), settings=settings(tmp_path, filler)
    )
    assert any(text.text for part in parts for text in part.texts)
    assert {target.model.model for taken in filler.rounds for target, _ in taken} == {"openai/w"}


def test_what_is_refused_for_good_is_not_asked(tmp_path: Path) -> None:
    filler = ByHand(lambda prompt: None)
    way = {"dataset": "mini/answer_equivalence", "n": 3, "controls": False, "progress": None}
    found = dhp.run("openai/m", settings=settings(tmp_path, filler), **way)
    assert found.ratings["failed"] == found.ratings["asked"]


@pytest.mark.slow
def test_what_is_held_is_asked_by_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Held(ByHand):
        def fill(self) -> None:
            keys = [key for _, request in self.rounds[-1] for key in request.keys.values()]
            self.store.hold(keys, "the far machine", "wait for it")
            raise StoppedEarly("sent away")

    way = {"dataset": "mini/answer_equivalence", "n": 3, "controls": False, "progress": None}
    with pytest.raises(StoppedEarly, match="sent away"):
        dhp.run("openai/m", settings=settings(tmp_path, Held(score)), **way)
    monkeypatch.setattr(OpenAIClient, "check", lambda self: None)  # nobody listens
    with pytest.raises(StoppedEarly, match="requests wait in the far machine; wait for it"):
        dhp.run("openai/m", settings=settings(tmp_path), **way)
    assert Store(tmp_path / "replies.sqlite").free("the far machine") > 0
    filler = ByHand(score)
    assert dhp.run("openai/m", settings=settings(tmp_path, filler), **way).ratings["failed"] == 0
    assert filler.taken == 0


class Half:
    """A model in this process that answers only the first sample of each request."""

    model, endpoint = "half/model", "here"

    def count_tokens(self, prompt: str) -> int:
        return 1

    def misfit(self, request: Request) -> None: ...

    def answer(self, wanted: Iterable[Request]) -> Iterator[Answer]:
        for request in wanted:
            yield request, {request.samples[0]: Reply("4", "stop", 1, 1, 1)}


def test_what_a_model_leaves_out_has_failed(tmp_path: Path) -> None:
    asked = CachedModel(Half(), RequestContext(Store(tmp_path / "s.sqlite")))
    came = dict(asked.ask(requests(3, samples=2)))
    assert all(outcomes[1] == Failure("the model gave no answer") for outcomes in came.values())
    assert [outcomes[0].text for outcomes in came.values()] == ["4"] * 3


def test_a_judge_made_by_hand_takes_no_filler(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`settings\.filler`: is for whole runs"):
        dhp.llm_judge("openai/m", settings=settings(tmp_path, ByHand(score)))


def test_calls_of_functions_say_nothing_of_the_tokens_of_a_model() -> None:
    budget = Budget(Limits(cost=0.0001), Prices(1.0, 1.0))
    for _ in range(5):
        budget.settle(budget.reserve(0, 0), [Reply("{}", "stop", 0, 0, 1)])
    assert budget.reserve(10, 50) == (10, 50), "as much as an answer may take, while none is known"
    with pytest.raises(StoppedEarly, match=r"limits\.cost"):
        budget.reserve(10, 50)
