"""A transformers model in this process."""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.core.files import read_text
from dhp.core.seeding import stream, text_hash
from dhp.llm.records import Position, Reply, Request
from dhp.plugins.local.batching import Row, Share, shares, windows
from dhp.plugins.local.compute import Generated, begin, generate, only_of_one_length
from dhp.plugins.local.decoding import Overflow, decide
from dhp.plugins.local.loading import load_config, load_network, load_tokenizer
from dhp.plugins.local.source import check_device, find
from dhp.plugins.local.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import Cache, PreTrainedConfig, PreTrainedModel

_LOOK_AHEAD = 64
_RUN_BY = {"hf": "transformers", "vllm": "vllm"}
_BATCH = {"cpu": 4, "cuda": 32}


class HfModel:
    """A causal language model run by transformers; loaded when first needed.

    Parameters
    ----------
    name
        A folder, or the name of a hub repository. Code in it is never run.
    device
        `auto` (a GPU where there is one), `cpu`, `cuda`, `cuda:N` or `all` (its layers spread over all GPUs
        by the package accelerate).
    dtype
        `auto` (as the checkpoint says), `float32`, `float16` or `bfloat16`.
    batch_size
        Most sequences computed at once; halved where memory runs out. None chooses by device.
    chat_template
        File with the Jinja template by which messages become a prompt; None is the model's own.

    Raises
    ------
    InputError
        If the model, the device or the dtype does not exist, or torch or transformers are not installed;
        later, if the model cannot be loaded.
    """

    provider = "hf"
    _sent = False
    """Whether it came from another process."""

    def __init__(
        self,
        name: str,
        *,
        device: str = "auto",
        dtype: str = "auto",
        batch_size: int | None = None,
        chat_template: str | Path | None = None,
    ) -> None:
        self._source = find(name, dtype, self.provider)
        self.model = self._source.model
        check_device(self.model, device)
        if batch_size is not None and batch_size < 1:
            raise InputError(f"model '{self.model}': batch size is {batch_size}; must be at least 1")
        self.endpoint = f"{_RUN_BY[self.provider]} dtype={self._source.dtype} {self._source.identity}"
        self._template = None if chat_template is None else read_text(Path(chat_template))
        if self._template is not None:
            self.endpoint += f" template={text_hash(self._template)}"
        self._device = device
        self._batch_size = batch_size

    def __reduce__(self) -> tuple[Any, ...]:
        """A process that it is sent to holds it once, however often it is sent, and loads it for itself."""
        given = (self.model, self.endpoint, self._source, self._template, self._device, self._batch_size)
        return _shared_model, (type(self), *given)

    @functools.cached_property
    def _config(self) -> "PreTrainedConfig":
        return load_config(self._source)

    @functools.cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.model, load_tokenizer(self._source), self._template)

    @functools.cached_property
    def _network(self) -> "PreTrainedModel":
        return load_network(self._source, self._device)

    def count_tokens(self, prompt: str) -> int:
        """Tokens of a prompt as it is sent, those of the chat template included."""
        return len(self._vocabulary.encode([{"role": "user", "content": prompt}]))

    def misfit(self, request: Request) -> str | None:
        """Why prompt and answer do not fit into the model's context; None where they do."""
        tokens = len(self._vocabulary.encode(request.messages))
        answer = request.params.max_tokens
        limit = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        if not tokens:
            return "the prompt has no tokens"
        if limit is not None and tokens + answer > limit:
            return (
                f"a prompt of {tokens} tokens and an answer of up to {answer} do not fit into {limit} tokens"
            )
        return None

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        """Answer requests, each as a whole; only some batches of them are read ahead.

        Consecutive requests of one group that begin with the same tokens have these computed once. A reply
        depends on prompt, parameters and sample alone, up to rounding in the forward pass.

        Yields
        ------
        (request, replies by sample)
            In no particular order.
        """
        for window in windows(requests, max(_LOOK_AHEAD, 2 * (self._batch_size or 0))):
            yield from self._generated(window)

    def _generated(self, window: list[list[Request]]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        """The answers to requests with the same `Params`, by group."""
        requests = [request for family in window for request in family]
        own = self._network.generation_config
        decoding = decide(requests[0].params, own)
        end = self._end()

        def compute(rows: Sequence[Row], cache: "Cache | None") -> list[Generated]:
            streams = [
                stream("hf", requests[row.index].text, requests[row.index].params.seed, row.sample)
                for row in rows
            ]
            return generate(self._network, [row.tokens for row in rows], decoding, streams, end, cache)

        done: dict[int, dict[int, Generated]] = defaultdict(dict)
        for share in shares(self._rows(window, one=not decoding.sampled)):
            for row, generated in self._computed(requests, share, compute):
                done[row.index][row.sample] = generated
                request = requests[row.index]
                if len(done[row.index]) == (len(request.samples) if decoding.sampled else 1):
                    yield request, self._replies(request, len(row.tokens), done.pop(row.index))

    def _rows(self, window: list[list[Request]], *, one: bool) -> Iterator[list[Row]]:
        """The rows of each family; one for each request, where all its samples are the same."""
        index = 0
        for family in window:
            rows = []
            for request in family:
                tokens = self._vocabulary.encode(request.messages)
                rows += [Row(index, s, tokens) for s in (request.samples[:1] if one else request.samples)]
                index += 1
            yield rows

    def _computed(
        self,
        requests: Sequence[Request],
        share: Share,
        compute: "Callable[[Sequence[Row], Cache | None], list[Generated]]",
    ) -> Iterator[tuple[Row, Generated]]:
        """Rows with their results, batch by batch; batches are halved where memory runs out."""
        import torch

        cache = None
        if share.shared:
            cache = begin(self._network, share.rows[0].tokens[: share.shared])
        rows = share.rows
        of_one_length = only_of_one_length(self._network, cache)
        while rows:
            batch = rows[: self._size]
            if of_one_length:
                batch = [row for row in batch if len(row.tokens) == len(rows[0].tokens)]
            try:
                results = compute(batch, cache)
            except Overflow as e:
                raise InputError(
                    f"{requests[batch[e.args[0]].index].place}: model '{self.model}' overflows in "
                    f"{self._source.dtype}; choose float32 or bfloat16"
                ) from None
            except torch.OutOfMemoryError:
                if len(batch) == 1:
                    raise InputError(
                        f"model '{self.model}': out of memory at a prompt of {len(rows[0].tokens)} tokens"
                    ) from None
                self._size = len(batch) // 2
                torch.cuda.empty_cache()
                continue
            yield from zip(batch, results, strict=True)
            rows = rows[len(batch) :]

    @functools.cached_property
    def _size(self) -> int:
        """Sequences computed at once, as far as memory has sufficed."""
        return self._batch_size or _BATCH[self._network.device.type]

    def _end(self) -> set[int]:
        """Tokens that end an answer: those of the generation configuration and the tokenizer's own."""
        own: Any = self._network.generation_config.eos_token_id
        found = {own} if isinstance(own, int) else set(own or ())
        return found if self._vocabulary.end is None else found | {self._vocabulary.end}

    def _replies(
        self, request: Request, prompt_tokens: int, generated: dict[int, Generated]
    ) -> dict[int, Reply]:
        replies: dict[int, Reply] = {}
        total = sum(len(g.tokens) for g in generated.values())
        for sample, g in generated.items():
            positions = None
            if request.params.top_logprobs:
                positions = tuple(self._position(*at) for at in zip(g.tokens, g.alternatives, strict=True))
            text, finish = self._vocabulary.text(g.tokens), "stop" if g.ended else "length"
            replies[sample] = Reply(text, finish, 0, 0, 0, positions)
        first = request.samples[0]
        replies[first] = replace(
            replies[first], prompt_tokens=prompt_tokens, completion_tokens=total, calls=1
        )
        return replies if len(replies) == len(request.samples) else same_for_all(request, replies[first])

    def _position(self, chosen: int, alternatives: list[tuple[int, float]]) -> Position:
        tokens, logprobs = zip(*alternatives, strict=True)
        text = self._vocabulary.token
        return Position(text(chosen), ranked([text(t) for t in tokens], logprobs))


def ranked(texts: Sequence[str], logprobs: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Tokens that are possible at all, the most probable first."""
    pairs = [(text, p) for text, p in zip(texts, logprobs, strict=True) if p > -math.inf]
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))


def same_for_all(request: Request, first: Reply) -> dict[int, Reply]:
    """One reply for all samples, counted once."""
    again = replace(first, prompt_tokens=0, completion_tokens=0, calls=0)
    return {s: first if i == 0 else again for i, s in enumerate(request.samples)}


@functools.cache
def _shared_model(kind: type[HfModel], *given: Any) -> HfModel:
    model = kind.__new__(kind)
    model.model, model.endpoint, model._source, model._template, model._device, model._batch_size = given
    model._sent = True
    return model
