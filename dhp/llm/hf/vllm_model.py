"""A model in this process that is run by vLLM."""

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, StoppedEarly
from dhp.core.seeding import stream
from dhp.llm.hf.batching import windows
from dhp.llm.hf.model import HfModel, ranked, same_for_all
from dhp.llm.records import Params, Position, Reply, Request

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

_LOOK_AHEAD = 512
_MOST_LOGPROBS = 20


class VllmModel(HfModel):
    """A causal language model run by vLLM on the GPUs of this machine; loaded when first needed.

    Prompts become tokens as they do for `HfModel`. Each sample is a row of its own with a seed of its own: a
    reply depends on prompt, parameters and sample alone, up to rounding in the forward pass. The common
    beginning of prompts is computed once. Parameters and errors are those of `HfModel`; vLLM itself chooses
    how many sequences are computed at once, so there is no `batch_size`.
    """

    provider = "vllm"

    @functools.cached_property
    def _engine(self) -> "LLM":
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        import torch
        from vllm import LLM

        gpus = torch.cuda.device_count()
        length = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        # On a CPU vLLM cannot compute a part of a prompt whose answer is drawn with a seed.
        whole: dict[str, Any] = {"enable_chunked_prefill": False, "max_num_batched_tokens": length}
        try:
            return LLM(
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
            raise InputError(
                f"model '{self.model}': vLLM cannot load it: {' '.join(str(e).split())[:200]}"
            ) from None

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        """Answer requests, each as a whole; see `HfModel.answer`."""
        for window in windows(requests, _LOOK_AHEAD):
            asked = [request for family in window for request in family]
            params = self._params(asked[0].params)
            rows: list[tuple[int, int]] = []
            prompts, settings = [], []
            for place, request in enumerate(asked):
                tokens = self._vocabulary.encode(request.messages)
                for sample in request.samples if params.temperature else request.samples[:1]:
                    rows.append((place, sample))
                    prompts.append({"prompt_token_ids": tokens})
                    settings.append(_seeded(params, request, sample))
            yield from self._grouped(asked, rows, self._generated_by_engine(prompts, settings))

    def _generated_by_engine(
        self, prompts: Sequence[Any], settings: "Sequence[SamplingParams]"
    ) -> "list[RequestOutput]":
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            found: list[RequestOutput] = self._engine.generate(prompts, settings, use_tqdm=False)
        except EngineDeadError:
            raise StoppedEarly(
                f"model '{self.model}': the engine of vLLM has ended, for the reason that it wrote; the same "
                "command goes on from here"
            ) from None
        return found

    def _params(self, asked: Params) -> "SamplingParams":
        """What was asked for; what was not is as the model's generation configuration has it."""
        from vllm import SamplingParams

        own = self._engine.get_default_sampling_params()
        return SamplingParams(
            temperature=own.temperature if asked.temperature is None else asked.temperature,
            top_p=own.top_p if asked.top_p is None else asked.top_p,
            top_k=own.top_k,
            min_p=own.min_p,
            max_tokens=asked.max_tokens,
            logprobs=min(asked.top_logprobs, _MOST_LOGPROBS) or None,
        )

    def _grouped(
        self, asked: Sequence[Request], rows: Sequence[tuple[int, int]], found: "Sequence[RequestOutput]"
    ) -> Iterator[tuple[Request, dict[int, Reply]]]:
        replies: list[dict[int, Reply]] = [{} for _ in asked]
        for (place, sample), output in zip(rows, found, strict=True):
            replies[place][sample] = self._reply(output)
        for request, own in zip(asked, replies, strict=True):
            yield request, own if len(own) == len(request.samples) else same_for_all(request, *own.values())

    def _reply(self, output: "RequestOutput") -> Reply:
        (only,) = output.outputs
        positions = None
        if only.logprobs:
            positions = tuple(
                self._at(token, there) for token, there in zip(only.token_ids, only.logprobs, strict=True)
            )
        ended = "stop" if only.finish_reason == "stop" else "length"
        text = self._vocabulary.text(only.token_ids)
        return Reply(text, ended, len(output.prompt_token_ids or ()), len(only.token_ids), 1, positions)

    def _at(self, chosen: int, there: Any) -> Position:
        text = self._vocabulary.token
        return Position(text(chosen), ranked([text(t) for t in there], [p.logprob for p in there.values()]))


def _seeded(params: "SamplingParams", request: Request, sample: int) -> "SamplingParams":
    """The parameters of one sample; greedy decoding needs no seed."""
    own = params.clone()
    if own.temperature:
        own.seed = stream("vllm", request.text, request.params.seed, sample).getrandbits(31)
    return own
