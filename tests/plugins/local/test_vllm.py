"""Models run by vLLM: the same answers again, sample by sample, alone and by the workers of a cluster."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.cached_model import RequestContext
from dhp.llm.records import Params, Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.ray.settings import RaySettings

pytestmark = pytest.mark.slow
PROMPTS = [f"Rate the summary of the river and the market, number {i}. Score:" for i in range(3)]


def open_model(name: str, **settings: Any) -> Any:
    return ModelSettings(**settings).open(name, RequestContext())


@pytest.fixture(scope="module")
def vllm_model(tiny_model: Path) -> Any:
    """The tiny model in vLLM, in this process as three processes take three times as long to start."""
    pytest.importorskip("vllm", reason="vllm is not installed")
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    return open_model(f"vllm/{tiny_model}", dtype="float32")


def requests(number: int, text: str = "river", max_tokens: int = 8) -> list[Request]:
    params = Params(1.0, None, max_tokens, seed=1)
    return [Request(f"Rate the {text}, number {i}. Score:", params, (0, 1), "here") for i in range(number)]


def texts(answers: Any) -> dict[str, list[str]]:
    return {request.prompt: [found[i].text for i in sorted(found)] for request, found in answers}


def answered(
    model: Any, temperature: float, samples: tuple[int, ...] = (0, 1, 2), prompts: Any = PROMPTS
) -> Any:
    params = Params(temperature, None, 6, seed=1, top_logprobs=5)
    requests = [Request(p, params, samples, "here") for p in prompts]
    return {request.prompt: found for request, found in model.answer(requests)}


def test_each_sample_is_drawn_alone_and_again_the_same(vllm_model: Any) -> None:
    whole = answered(vllm_model, 1.0)
    assert {len(found) for found in whole.values()} == {3}
    assert len({reply.text for found in whole.values() for reply in found.values()}) > 1
    part = answered(vllm_model, 1.0, (2,), PROMPTS[1:2])
    assert part[PROMPTS[1]][2].text == whole[PROMPTS[1]][2].text


def test_greedy_answers_are_those_of_transformers(vllm_model: Any, tiny_model: Path) -> None:
    mine = answered(vllm_model, 0.0)
    other = answered(open_model(f"hf/{tiny_model}", dtype="float32"), 0.0)
    for prompt in PROMPTS:
        here, there = mine[prompt][0], other[prompt][0]
        assert (here.text, here.finish) == (there.text, there.finish)
        assert here.prompt_tokens == there.prompt_tokens
        for ours, theirs in zip(here.positions, there.positions, strict=True):
            assert ours.chosen == theirs.chosen
            assert dict(ours.alternatives[:3]) == pytest.approx(dict(theirs.alternatives[:3]), abs=1e-3)
        assert [reply.calls for reply in mine[prompt].values()] == [1, 0, 0], "asked once for all samples"


def test_requests_enter_as_others_leave(vllm_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dhp.plugins.local.vllm_model._IN_FLIGHT", 4)
    taken = []

    def feed() -> Iterator[Request]:
        for request in requests(12):
            taken.append(request)
            yield request

    answers = vllm_model.answer(feed())
    first = [next(answers)]
    assert len(taken) < 6
    found = texts([*first, *answers])
    assert found == texts(vllm_model.answer(reversed(requests(12)))), (
        "who is computed with whom changes nothing"
    )


def test_calls_in_progress_leave_one_another_alone(vllm_model: Any) -> None:
    alone = texts(vllm_model.answer(requests(6))) | texts(vllm_model.answer(requests(3, "market")))

    def feed() -> Iterator[Request]:
        yield from requests(3)
        inner.update(texts(vllm_model.answer(requests(3, "market"))))
        yield from requests(6)[3:]

    inner: dict[str, list[str]] = {}
    left = vllm_model.answer(requests(6, "window"))
    next(left)
    assert texts(vllm_model.answer(feed())) | inner == alone
    left.close()
    assert not vllm_model._engine.llm_engine.has_unfinished_requests(), "nobody waits for what is left"


def test_an_engine_that_fails_stops_the_run_for_now(vllm_model: Any) -> None:
    def fail() -> None:
        raise RuntimeError("out of\nmemory")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vllm_model._engine.llm_engine, "step", fail)
        with pytest.raises(
            StoppedEarly, match=r"the engine of vLLM has ended \(out of memory\); repeat the command"
        ):
            list(vllm_model.answer(requests(2)))
    assert len(texts(vllm_model.answer(requests(2)))) == 2


def test_an_idle_engine_makes_room_for_another_model(vllm_model: Any, tiny_model: Path) -> None:
    before = texts(vllm_model.answer(requests(2)))
    other = open_model(f"vllm/{tiny_model}", dtype="float32")
    assert texts(other.answer(requests(2))) == before
    assert "_engine" not in vars(vllm_model)
    assert texts(vllm_model.answer(requests(2))) == before, "loaded again"


def test_a_run_gives_the_same_by_workers(vllm_model: Any, tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    for name in ("local", "ray"):
        dhp.run(
            f"vllm/{tiny_model}",
            "mini/summeval",
            n=2,
            metrics=["fluency"],
            protocol=dhp.protocol("dhp", temperature=1.0, samples=2, max_tokens=8),
            settings=dhp.ModelSettings(
                cache=tmp_path / name,
                filler=RaySettings("auto") if name == "ray" else None,
                dtype="float32",
                keep_going=True,
            ),
            out=tmp_path / name,
            progress=None,
        )
    here, there = ((tmp_path / name / "ratings.parquet").read_bytes() for name in ("local", "ray"))
    assert here == there


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="vllm is not installed")
    with pytest.raises(InputError, match=r"model 'vllm/.*nowhere': no such folder"):
        open_model(f"vllm/{tmp_path}/nowhere")
    with pytest.raises(InputError, match="`batch_size` 4: is for hf/NAME"):
        open_model("vllm/x", batch_size=4)
    with pytest.raises(
        InputError, match=r"`device` cuda:1: is for hf/NAME; .* allowed: auto \(one of them\), all"
    ):
        open_model("vllm/x", device="cuda:1")
