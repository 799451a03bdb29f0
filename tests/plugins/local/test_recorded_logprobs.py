"""Answers of several servers with log-probabilities are rated as the same tokens are in this process.

`tests/data/logprobs/replies.json` holds one body for each case in the form of a provider: OpenAI, vLLM,
llama.cpp, and servers that give tokens as their vocabulary writes them. The scores here are worked by hand.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dhp.content.catalog import read_task
from dhp.core.records import Candidate, Rating
from dhp.judge.factory import protocol, request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.records import Reply, Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.local.hf import Generated, HfModel
from tests.server import scripted_server

TASK = read_task("summarization")
TEXTS = [Candidate("a", "original", "The boat came home.", "A boat came home at noon.")]
FILE = Path(__file__).resolve().parents[2] / "data" / "logprobs" / "replies.json"
RECORDED: dict[str, dict[str, Any]] = {case["case"]: case for case in json.loads(FILE.read_text("utf-8"))}

# Case -> the score (the mean of scores 1 to 5 by probability) and the probability off the scale.
WORKED: dict[str, tuple[float, float] | None] = {
    "one digit": ((4 * 0.73 + 5 * 0.2 + 3 * 0.05) / 0.98, 0.02),
    "a leading space": ((4 * 0.7 + 3 * 0.2) / 0.9, 0.1),
    "leading space in the raw vocabulary": (4.6, 0.0),
    "a line before the score": (2.5, 0.0),
    "a sentence behind the score": ((1 * 0.5 + 2 * 0.3 + 5 * 0.1) / 0.9, 0.1),
    "a word behind the digit": None,
    "two digits": None,
    "two digits in one token": None,
    "an echoed step": None,
    "a sentence before the score": None,
    "cut off before the score": None,
    "most of it off the scale": ((3 * 0.2 + 4 * 0.1) / 0.3, 0.7),
    "a letter": (2.2, 0.0),
    "stars": (4.5, 0.0),
}


class _Tokens:
    """A vocabulary of the tokens that are asked about."""

    end = None

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, token: str) -> int:
        self.texts.append(token.replace("\u0120", " ").replace("\u010a", "\n"))
        return len(self.texts) - 1

    def token(self, number: int) -> str:
        return self.texts[number]

    def text(self, numbers: Iterable[int]) -> str:
        return "".join(map(self.token, numbers))


class _InProcess(HfModel):
    """A model in this process whose network computed the recorded tokens."""

    def __init__(self, choice: Mapping[str, Any]) -> None:
        self.model, self.endpoint = "hf/recorded", "here"
        self.__dict__["_vocabulary"] = tokens = _Tokens()
        places = choice["logprobs"]["content"]
        self._generated_once = Generated(
            [tokens.number(place["token"]) for place in places],
            choice["finish_reason"] == "stop",
            [[(tokens.number(t["token"]), t["logprob"]) for t in p["top_logprobs"]] for p in places],
        )

    def misfit(self, request: Request) -> None:
        return

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        for request in requests:
            yield request, self._replies(request, 9, dict.fromkeys(request.samples, self._generated_once))


def ratings(model: Any, answer: str) -> list[Rating]:
    chosen = protocol("g-eval-prob", answer=answer, steps="none")
    judge = LlmJudge(CachedModel(model, RequestContext()), request_builder(chosen))
    return sorted(judge.rate(TEXTS, TASK), key=lambda r: r.metric)


def test_every_recorded_case_is_worked() -> None:
    assert list(RECORDED) == list(WORKED)


@pytest.mark.slow
@pytest.mark.parametrize("case", WORKED)
def test_one_figure_from_a_recorded_server_and_in_process(case: str) -> None:
    body, answer = RECORDED[case]["body"], RECORDED[case]["answer"]
    here = ratings(_InProcess(body["choices"][0]), answer)
    with scripted_server(lambda call: (200, {}, body)) as server:
        there = ratings(
            ModelSettings(base_url=f"{server.url}/v1").open("openai/served", RequestContext()), answer
        )
    assert [r.status for r in here] == [r.status for r in there]
    expected = WORKED[case]
    for one, other in zip(here, there, strict=True):
        if expected is None:
            assert (one.status, one.score, other.score) == ("unparsed", None, None)
        else:
            assert (one.status, one.rule, other.rule) == ("scored", "prob", "prob")
            for rating in (one, other):
                assert (rating.score, rating.missing_mass) == pytest.approx(expected, abs=1e-3)
