"""A vLLM model in this process.

Each sample of a request enters the engine as a sequence of its own, as long as there is room. Each step of
the engine ends some of them; a request is answered once all its samples are. The engine is shared by all
calls of `answer` in progress, so a step may complete requests of another call, which finds them when it
goes on.
"""

import functools
import itertools
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, StoppedEarly
from dhp.core.seeding import stream
from dhp.llm.records import Params, Position, Reply, Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.local.hf import HfModel, ranked, refuse_address, same_for_all

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

_IN_FLIGHT = 1024
"""Samples that the engine has at most: as many as it computes at once on a large GPU."""
_MOST_LOGPROBS = 20
"""Tokens of which the engine gives log-probabilities at one place; as OpenAI's servers have it."""
_ids = itertools.count()
"""Numbers of samples, from which their names in the engine are made."""
_loaded: "list[VllmModel]" = []
"""Models with an engine; at most one is idle, as an engine takes most of the memory of a GPU."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of `answer` in progress."""

    open: set[str] = field(default_factory=set)
    """Its samples in the engine, by the engine's name of each."""
    done: deque[tuple[Request, dict[int, Reply]]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class _RunningRequest:
    """A request in the engine."""

    request: Request
    rows: int
    """Samples that are computed; one, if all are the same."""
    call: _Call
    replies: dict[int, Reply] = field(default_factory=dict)


class VllmModel(HfModel):
    """A causal language model run by vLLM on the GPUs of this machine; loaded when first needed.

    Prompts become tokens as they do for `HfModel`. Each sample is a row of its own with a seed of its own: a
    reply depends on prompt, parameters and sample alone, up to rounding in the forward pass. The common
    beginning of prompts is computed once. Parameters and errors are those of `HfModel`; vLLM itself chooses
    how many sequences are computed at once, so there is no `batch_size`.
    """

    provider = "vllm"

    @functools.cached_property
    def _open(self) -> dict[str, tuple[_RunningRequest, int]]:
        """Name in the engine -> the request, and the number of the sample."""
        return {}

    @functools.cached_property
    def _engine(self) -> "LLM":
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        if self._sent:  # processes of its own would outlive a worker that is killed, and keep its GPU
            os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        import torch
        from vllm import LLM

        for model in [*_loaded]:  # a copy, as unloading takes models out
            if not model._open:
                model._unload()
        gpus = torch.cuda.device_count()
        length = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        # On a CPU vLLM cannot compute a part of a prompt whose answer is drawn with a seed.
        whole: dict[str, Any] = {"enable_chunked_prefill": False, "max_num_batched_tokens": length}
        try:
            engine = LLM(
                self._source.path,
                revision=self._source.revision,
                dtype=self._source.dtype,
                tensor_parallel_size=max(1, gpus) if self._device == "all" else 1,
                enable_prefix_caching=True,
                enforce_eager=not gpus,
                max_logprobs=_MOST_LOGPROBS,
                **({} if gpus else whole),
            )
        except (OSError, RuntimeError, ValueError) as e:
            reason = " ".join(str(e).split())[:200]
            raise InputError(f"model '{self.model}': vLLM cannot load it: {reason}") from None
        _loaded.append(self)
        return engine

    def _unload(self) -> None:
        """End the engine; it is loaded again when next needed."""
        _loaded.remove(self)
        self.__dict__.pop("_engine").llm_engine.engine_core.shutdown()

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        """Answer requests, each as a whole; new ones enter the engine as others leave it.

        See `HfModel.answer`. Several calls may be in progress.
        """
        waiting, call = iter(requests), _Call()
        try:
            while True:
                while len(call.open) < _IN_FLIGHT:
                    request = next(waiting, None)
                    if request is None:
                        break
                    self._enter(request, call)
                if not (call.open or call.done):
                    return
                if not call.done:
                    self._step()
                while call.done:
                    yield call.done.popleft()
        finally:
            if call.open:
                self._engine.llm_engine.abort_request(list(call.open))
            for name in call.open:
                del self._open[name]

    def _enter(self, request: Request, call: _Call) -> None:
        params = self._params(request.params)
        prompt: Any = {"type": "token", "prompt_token_ids": self._vocabulary.encode(request.messages)}
        samples = request.samples if params.temperature else request.samples[:1]
        asked = _RunningRequest(request, len(samples), call)
        for sample in samples:
            name = f"dhp-{next(_ids)}"
            self._engine.llm_engine.add_request(name, prompt, _seeded(params, request, sample))
            self._open[name] = asked, sample
            call.open.add(name)

    def _step(self) -> None:
        """Let the engine go on until something is done, for whichever call."""
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            outputs: list[Any] = self._engine.llm_engine.step()
        except (EngineDeadError, RuntimeError) as e:
            reason = " ".join(str(e).split())[:200]
            raise StoppedEarly(
                f"model '{self.model}': the engine of vLLM has ended ({reason}); repeat the command to resume"
            ) from None
        for output in outputs:
            if output.request_id in self._open:  # not aborted meanwhile
                asked, sample = self._open.pop(output.request_id)
                asked.call.open.remove(output.request_id)
                asked.replies[sample] = self._reply(output)
                if len(asked.replies) == asked.rows:
                    asked.call.done.append((asked.request, _of_all(asked)))

    def _params(self, asked: Params) -> "SamplingParams":
        """How to decode: as asked, and for the rest as the model's generation configuration says."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        defaults = self._engine.get_default_sampling_params()
        return SamplingParams(
            temperature=defaults.temperature if asked.temperature is None else asked.temperature,
            top_p=defaults.top_p if asked.top_p is None else asked.top_p,
            top_k=defaults.top_k,
            min_p=defaults.min_p,
            max_tokens=asked.max_tokens,
            logprobs=min(asked.top_logprobs, _MOST_LOGPROBS) or None,
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _reply(self, output: "RequestOutput") -> Reply:
        (only,) = output.outputs
        positions = None
        if only.logprobs:
            places = zip(only.token_ids, only.logprobs, strict=True)
            positions = tuple([self._at(token, logprobs) for token, logprobs in places])
        ended = "stop" if only.finish_reason == "stop" else "length"
        text = self._vocabulary.text(only.token_ids)
        return Reply(text, ended, len(output.prompt_token_ids or ()), len(only.token_ids), 1, positions)

    def _at(self, chosen: int, logprobs: Any) -> Position:
        text = self._vocabulary.token
        known = [(text(token), each.logprob) for token, each in logprobs.items()]
        return Position(text(chosen), ranked(known))


def _seeded(params: "SamplingParams", request: Request, sample: int) -> "SamplingParams":
    """The parameters of one sample; greedy decoding needs no seed."""
    seeded = params.clone()
    if seeded.temperature:
        seeded.seed = stream("vllm", request.text, request.params.seed, sample).getrandbits(31)
    return seeded


def _of_all(asked: _RunningRequest) -> dict[int, Reply]:
    if asked.rows == len(asked.request.samples):
        return asked.replies
    return same_for_all(asked.request, *asked.replies.values())


def open_vllm(name: str, settings: ModelSettings) -> VllmModel:
    """The model `vllm/NAME_OR_PATH`; raises `InputError` for settings that vLLM chooses by itself."""
    refuse_address(f"vllm/{name}", settings)
    if settings.batch_size is not None:
        raise InputError(f"`batch_size` {settings.batch_size}: is for hf/NAME; vLLM chooses it by itself")
    if settings.device not in ("auto", "all"):
        raise InputError(
            f"`device` {settings.device}: is for hf/NAME; vLLM takes the GPUs of CUDA_VISIBLE_DEVICES; "
            "allowed: auto (one of them), all"
        )
    return VllmModel(name, device=settings.device, dtype=settings.dtype, chat_template=settings.chat_template)
