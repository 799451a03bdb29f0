"""Models by `transformers` in this process.

A common beginning is computed once: rows that begin alike continue copies of one key-value cache. That
gives the same numbers only if each layer keeps the keys and values of all tokens or of a sliding window,
and if positions are encoded in the same way at any length; for other models rows are computed from their
start.

Tokens are drawn by inverting the distribution function at a number from the row's own stream, so that what
a row draws does not depend on the rows beside it, and no global generator is touched.

The way of a request: `windows` reads some ahead, the vocabulary makes rows of tokens of them, `shares` puts
rows together that begin alike, `generate` continues them batch by batch, and tokens become replies.
"""

import copy
import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from dhp.core.checks import check_number
from dhp.core.errors import InputError
from dhp.core.files import read_text
from dhp.core.seeding import stream, text_hash
from dhp.llm.records import Params, Position, Reply, Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.local.loading import check_device, find, load_config, load_network, load_tokenizer, quiet
from dhp.plugins.local.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, GenerationConfig, PreTrainedConfig, PreTrainedModel

    Step = Callable[..., Tensor]
    "Turns tokens so far (rows, length) and scores (rows, vocabulary) into scores."

_DEFAULTS = ModelSettings()
SHORTEST_SHARED = 16
"""A shorter common beginning, in tokens, is not worth a forward pass of its own. Chosen."""


@dataclass(frozen=True, slots=True)
class Row:
    """One sequence to be continued."""

    index: int
    """Number of its request."""
    sample: int
    tokens: list[int]


@dataclass(frozen=True, slots=True)
class Share:
    """Rows whose first `shared` tokens are the same; the shortest has at least one token more."""

    rows: Sequence[Row]
    shared: int


def families(requests: Iterable[Request], most: int) -> Iterator[list[Request]]:
    """Runs of consecutive requests of one group and one `Params`, cut at `most`; lazy."""
    for (group, _), run in groupby(requests, lambda r: (r.group, r.params)):
        family: list[Request] = []
        for request in run:
            family.append(request)
            if not group or len(family) == most:
                yield family
                family = []
        if family:
            yield family


def windows(requests: Iterable[Request], most: int) -> Iterator[list[list[Request]]]:
    """Consecutive families of one `Params` with at least `most` samples in all, except before a change."""
    for _, run in groupby(families(requests, most), lambda f: f[0].params):
        window: list[list[Request]] = []
        samples = 0
        for family in run:
            window.append(family)
            for request in family:
                samples += len(request.samples)
            if samples >= most:
                yield window
                window, samples = [], 0
        if window:
            yield window


def shares(families: Iterable[Sequence[Row]]) -> Iterator[Share]:
    """Families with a long common beginning, each on its own; then all other rows together.

    Rows come in order of length, so that neighbours need little padding.
    """
    alone: list[Row] = []
    for rows in families:
        shared = _common([row.tokens for row in rows])
        if len(rows) > 1 and shared >= SHORTEST_SHARED:
            yield Share(_by_length(rows), shared)
        else:
            alone += rows
    if alone:
        yield Share(_by_length(alone), 0)


def _by_length(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: len(row.tokens))


def _common(sequences: Sequence[list[int]]) -> int:
    """Length of the longest common beginning that leaves each sequence a token of its own."""
    # In alphabetical order, so to speak, all others lie between these two, and begin as both of them do.
    first, last = min(sequences), max(sequences)
    shortest = min(len(sequence) for sequence in sequences)
    most = shortest - 1
    for place in range(most):
        if first[place] != last[place]:
            return place
    return most


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen."""

    most: int
    """Maximum number of tokens of the answer."""
    sampled: bool
    """Drawn, instead of the most probable."""
    temperature: float
    top_p: float
    top_k: int
    """Number of most probable tokens to sample from; 0 for no limit."""
    min_p: float
    top_logprobs: int


def decide(params: Params, defaults: "GenerationConfig") -> Decoding:
    """How to decode: as asked, and for the rest as the model's generation configuration says."""
    if params.temperature is None:
        sampled, temperature = bool(defaults.do_sample), defaults.temperature or 1.0
    else:
        sampled, temperature = params.temperature > 0, params.temperature
    top_p = params.top_p
    if top_p is None:
        top_p = defaults.top_p
    return Decoding(
        most=params.max_tokens,
        sampled=sampled,
        temperature=temperature,
        top_p=1.0 if top_p is None else top_p,
        top_k=defaults.top_k or 0,
        min_p=defaults.min_p or 0.0,
        top_logprobs=params.top_logprobs,
    )


def drawing(decoding: Decoding, streams: Sequence[Random]) -> "list[Step]":
    """The steps that leave each row the one token it draws; none if the most probable is taken."""
    from transformers.generation import logits_process as steps

    if not decoding.sampled:
        return []
    drawn: list[Step] = [steps.TemperatureLogitsWarper(float(decoding.temperature))]
    if decoding.top_k:
        drawn.append(steps.TopKLogitsWarper(decoding.top_k))
    if decoding.top_p < 1:
        drawn.append(steps.TopPLogitsWarper(decoding.top_p))
    if decoding.min_p:
        drawn.append(steps.MinPLogitsWarper(decoding.min_p))
    return [*drawn, _Draw(streams)]


class _Draw:
    """A step that leaves each row one token, drawn from the distribution of its scores."""

    def __init__(self, streams: Sequence[Random]) -> None:
        self._streams = streams

    def __call__(self, ids: "Tensor", scores: "Tensor") -> "Tensor":
        import torch

        # In doubles: over a large vocabulary single precision rounds too much.
        upto = scores.double().softmax(-1).cumsum(-1)
        numbers = [[stream.random()] for stream in self._streams]  # a column, one for each row
        drawn = torch.tensor(numbers, dtype=upto.dtype, device=upto.device)
        # The last sum is 1 but for rounding; a number above all sums would be no token, hence the clamp.
        tokens = torch.searchsorted(upto, drawn * upto[:, -1:], right=True).clamp(max=scores.shape[1] - 1)
        # The only token that is left is the most probable, which `generate` takes.
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens, 0.0)


class Overflow(Exception):
    """Scores of a row are not numbers; its argument is the number of the row."""


class Recorder:
    """A step that changes nothing and keeps the most probable tokens.

    Raises `Overflow` if scores are not numbers.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[list[list[int]], list[list[float]]]] = []

    def __call__(self, ids: "Tensor", scores: "Tensor") -> "Tensor":
        broken = scores.isnan().any(-1)
        if broken.any():
            raise Overflow(int(broken.nonzero()[0]))
        if self._most:
            logprobs, tokens = scores.float().log_softmax(-1).topk(self._most)
            self._kept.append((tokens.tolist(), logprobs.tolist()))
        return scores

    def of(self, row: int) -> list[list[tuple[int, float]]]:
        """Tokens with log-probabilities, most probable first, at each place of a row."""
        places = []
        for tokens, logprobs in self._kept:
            places.append(list(zip(tokens[row], logprobs[row], strict=True)))
        return places


@dataclass(frozen=True, slots=True)
class Generated:
    """Tokens that continue a row."""

    tokens: list[int]
    """Generated tokens, with the one that ended the answer."""
    ended: bool
    """False if it was cut at the limit."""
    alternatives: list[list[tuple[int, float]]]
    """The most probable tokens at each place with their log-probabilities, if they were asked for."""


def only_of_one_length(model: "PreTrainedModel", cache: "Cache | None" = None) -> bool:
    """Whether rows of several lengths, computed together, would change one another's numbers.

    They would if the longest row sets how positions are encoded, or if padding before a row goes into a
    recurrent state, which not every model prevents, or takes up places in the sliding window of a cache.
    """
    if cache is not None:
        for layer in cache.layers:
            if getattr(layer, "is_sliding", False):
                return True
    parameters = getattr(model.config.get_text_config(), "rope_parameters", None)
    for rope_type in _rope_types(parameters):
        if rope_type in ("dynamic", "longrope"):  # rotations that are stretched by the longest row
            return True
    return bool(getattr(model, "_is_stateful", False))  # recurrent layers, such as Mamba's


def begin(model: "PreTrainedModel", tokens: Sequence[int]) -> "Cache | None":
    """The cache after a shared beginning; None if continuing it would give other numbers."""
    import torch
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if only_of_one_length(model):
        return None
    cache = DynamicCache(config=model.config)
    for layer in cache.layers:
        # Not a subclass of these, either: `_copies` relies on how exactly these two write.
        if type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer):
            return None
    with quiet(), torch.inference_mode():
        ids = torch.tensor([list(tokens)], device=model.device)
        model(input_ids=ids, past_key_values=cache, use_cache=True, **_only(model, [len(tokens) - 1]))
    # Some models keep no cache, or one of their own, whatever they are given.
    is_filled = cache.is_initialized and cache.get_seq_length() == len(tokens)
    return cache if is_filled else None


def generate(
    model: "PreTrainedModel",
    rows: Sequence[Sequence[int]],
    decoding: Decoding,
    streams: Sequence[Random],
    end: set[int],
    cache: "Cache | None" = None,
) -> list[Generated]:
    """Continue rows, given whole, even if `cache` holds their first tokens; each draws from its stream.

    They are padded before the tokens that are not in the cache.
    """
    import torch
    from transformers import GenerationConfig

    shared = 0 if cache is None else cache.get_seq_length()
    longest = max(len(row) for row in rows)
    pad = min(end, default=0)  # any token serves, as the mask hides it
    recorder = Recorder(decoding.top_logprobs)
    with quiet(), torch.inference_mode():
        ids = torch.full((len(rows), longest), pad, device=model.device)
        mask = torch.zeros_like(ids)
        for i, row in enumerate(rows):
            # Shared tokens, then padding, then the row's own tokens, which all end in the same column.
            positions = [*range(shared), *range(longest - len(row) + shared, longest)]
            ids[i, positions] = torch.tensor(list(row), device=model.device)
            mask[i, positions] = 1
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,  # drawing is a step of our own
            num_beams=1,
            num_return_sequences=1,
            use_cache=True,
            max_new_tokens=decoding.most,
            eos_token_id=sorted(end) or None,
            pad_token_id=pad,
            return_dict_in_generate=False,
        )
        more = {} if cache is None else {"past_key_values": _copies(cache, len(rows))}
        out: Any = model.generate(  # type: ignore[operator]
            input_ids=ids,
            attention_mask=mask,
            generation_config=config,
            logits_processor=[recorder, *drawing(decoding, streams)],
            **more,
        )
    generated = []
    for i, tokens in enumerate(out[:, longest:].tolist()):
        generated.append(_cut(tokens, end, recorder.of(i)))
    return generated


def _cut(tokens: list[int], end: set[int], alternatives: list[list[tuple[int, float]]]) -> Generated:
    """The tokens of the answer, up to the first that ends it; the others are padding."""
    for i, token in enumerate(tokens):
        if token in end:
            return Generated(tokens[: i + 1], True, alternatives[: i + 1])
    return Generated(tokens, False, alternatives)


def _copies(cache: "Cache", rows: int) -> "Cache":
    """One copy for each row; the layers that `begin` lets through never write into the tensors they share."""
    copies = copy.copy(cache)
    copies.layers = [copy.copy(layer) for layer in cache.layers]
    layer: Any
    for layer in copies.layers:
        # A view of the same numbers for each row, without a copy in memory.
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return copies


def _only(model: "PreTrainedModel", positions: Sequence[int]) -> dict[str, "Tensor"]:
    """The argument by which a model computes logits at some places only, if it has one."""
    import inspect

    import torch

    if "logits_to_keep" not in inspect.signature(model.forward).parameters:
        return {}
    return {"logits_to_keep": torch.tensor(positions, device=model.device)}


def _rope_types(parameters: object) -> Iterator[str]:
    """How positions are rotated; some models have one set of parameters for each kind of layer."""
    if isinstance(parameters, dict):
        for name, value in parameters.items():
            if name == "rope_type":
                yield str(value)
            yield from _rope_types(value)


_LOOK_AHEAD = 64
"""Samples that are read ahead at least, so that rows of like length can be computed together. Chosen."""
_RUN_BY = {"hf": "transformers", "vllm": "vllm"}
"""Provider -> the package that computes; it is part of what tells stored replies apart."""
_BATCH = {"cpu": 4, "cuda": 32}
"""Sequences computed at once if nothing is said, by device; a CPU gains nothing by more."""


class HfModel:
    """A causal language model run by transformers; loaded when first needed.

    `name` is a folder or a hub repository; code in it is never run. With the device `all` its layers are
    spread over all GPUs by the package accelerate; the dtype `auto` is the checkpoint's. `batch_size`, the
    most sequences computed at once, is halved if memory runs out. Raises `InputError` if the model, the
    device or the dtype does not exist, or torch or transformers are not installed; later, if the model cannot
    be loaded.
    """

    provider = "hf"
    _sent = False
    """Whether it came from another process."""

    def __init__(
        self,
        name: str,
        *,
        device: str = _DEFAULTS.device,
        dtype: str = _DEFAULTS.dtype,
        batch_size: int | None = None,
        chat_template: str | Path | None = None,
    ) -> None:
        self._source = find(name, dtype, self.provider)
        self.model = self._source.model
        check_device(self.model, device)
        if batch_size is not None:
            check_number("batch_size", batch_size, int, ge=1)
        self.endpoint = f"{_RUN_BY[self.provider]} dtype={self._source.dtype} {self._source.identity}"
        self._template = None if chat_template is None else read_text(Path(chat_template))
        if self._template is not None:
            self.endpoint += f" template={text_hash(self._template)}"
        self._device = device
        self._batch_size = batch_size

    def __reduce__(self) -> tuple[Any, ...]:
        """A process that it is sent to holds it once, however often it is sent, and loads it for itself."""
        arguments = (self.model, self.endpoint, self._source, self._template, self._device, self._batch_size)
        return _shared_model, (type(self), *arguments)

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
        """Why prompt and answer do not fit into the model's context; None if they do."""
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
        depends on prompt, parameters and sample alone, up to rounding in the forward pass. Replies are by
        sample; requests come in no particular order.
        """
        for window in windows(requests, max(_LOOK_AHEAD, 2 * (self._batch_size or 0))):
            yield from self._generated(window)

    def _generated(self, window: list[list[Request]]) -> Iterator[tuple[Request, dict[int, Reply]]]:
        """The answers to requests with the same `Params`, by group."""
        requests: list[Request] = []
        for family in window:
            requests += family
        defaults = self._network.generation_config
        decoding = decide(requests[0].params, defaults)
        end = self._end()

        def compute(rows: Sequence[Row], cache: "Cache | None") -> list[Generated]:
            streams = []
            for row in rows:
                request = requests[row.index]
                streams.append(stream("hf", request.text, request.params.seed, row.sample))
            tokens = [row.tokens for row in rows]
            return generate(self._network, tokens, decoding, streams, end, cache)

        # A request is answered as soon as its last row is done, wherever that is computed.
        done: dict[int, dict[int, Generated]] = defaultdict(dict)
        for share in shares(self._rows(window, one=not decoding.sampled)):
            for row, generated in self._computed(requests, share, compute):
                done[row.index][row.sample] = generated
                request = requests[row.index]
                rows = len(request.samples) if decoding.sampled else 1  # without drawing all are the same
                if len(done[row.index]) == rows:
                    yield request, self._replies(request, len(row.tokens), done.pop(row.index))

    def _rows(self, window: list[list[Request]], *, one: bool) -> Iterator[list[Row]]:
        """The rows of each family; one for each request, if all its samples are the same."""
        index = 0
        for family in window:
            rows = []
            for request in family:
                tokens = self._vocabulary.encode(request.messages)
                samples = request.samples[:1] if one else request.samples
                rows += [Row(index, sample, tokens) for sample in samples]
                index += 1
            yield rows

    def _computed(
        self,
        requests: Sequence[Request],
        share: Share,
        compute: "Callable[[Sequence[Row], Cache | None], list[Generated]]",
    ) -> Iterator[tuple[Row, Generated]]:
        """Rows with their results, batch by batch; batches are halved if memory runs out."""
        import torch

        cache = None
        if share.shared:
            cache = begin(self._network, share.rows[0].tokens[: share.shared])
        rows = share.rows
        of_one_length = only_of_one_length(self._network, cache)
        while rows:
            batch = rows[: self._size]
            # Rows come in order of length, so those of the first one's length stand at the front.
            if of_one_length:
                batch = [row for row in batch if len(row.tokens) == len(rows[0].tokens)]
            try:
                results = compute(batch, cache)
            except Overflow as e:
                (number,) = e.args
                request = requests[batch[number].index]
                raise InputError(
                    f"{request.place}: model '{self.model}' overflows in "
                    f"{self._source.dtype}; choose float32 or bfloat16"
                ) from None
            except torch.OutOfMemoryError:
                # Half as many are tried again, and no later batch is larger.
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
        from_model: Any = self._network.generation_config.eos_token_id
        # One token, a list of them, or nothing.
        ends = {from_model} if isinstance(from_model, int) else set(from_model or ())
        if self._vocabulary.end is not None:
            ends.add(self._vocabulary.end)
        return ends

    def _replies(
        self, request: Request, prompt_tokens: int, generated: dict[int, Generated]
    ) -> dict[int, Reply]:
        """The replies of a request by sample; tokens and the call are counted on the first one."""
        replies: dict[int, Reply] = {}
        total = 0
        for sample, row in generated.items():
            total += len(row.tokens)
            positions = None
            if request.params.top_logprobs:
                places = zip(row.tokens, row.alternatives, strict=True)
                positions = tuple([self._position(token, others) for token, others in places])
            text = self._vocabulary.text(row.tokens)
            finish = "stop" if row.ended else "length"
            replies[sample] = Reply(text, finish, 0, 0, 0, positions)

        first = request.samples[0]
        replies[first] = replace(
            replies[first], prompt_tokens=prompt_tokens, completion_tokens=total, calls=1
        )
        if len(replies) < len(request.samples):  # one row for all samples, as nothing is drawn
            return same_for_all(request, replies[first])
        return replies

    def _position(self, chosen: int, alternatives: list[tuple[int, float]]) -> Position:
        text = self._vocabulary.token
        known = [(text(token), logprob) for token, logprob in alternatives]
        return Position(text(chosen), ranked(known))


def ranked(tokens: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Tokens with log-probabilities, the most probable first; impossible ones are left out."""
    possible = []
    for text, logprob in tokens:
        if logprob > -math.inf:
            possible.append((text, logprob))
    return tuple(sorted(possible, key=lambda each: -each[1]))


def same_for_all(request: Request, first: Reply) -> dict[int, Reply]:
    """One reply for all samples, counted once."""
    again = replace(first, prompt_tokens=0, completion_tokens=0, calls=0)
    replies = dict.fromkeys(request.samples, again)
    replies[request.samples[0]] = first
    return replies


@functools.cache
def _shared_model(kind: type[HfModel], *arguments: Any) -> HfModel:
    # Without `__init__`, which would look the model up and read its files anew.
    model = kind.__new__(kind)
    model.model, model.endpoint, model._source, model._template, model._device, model._batch_size = arguments
    model._sent = True
    return model


def open_hf(name: str, settings: ModelSettings) -> HfModel:
    """The model `hf/NAME_OR_PATH`; raises `InputError` for settings of a server."""
    refuse_address(f"hf/{name}", settings)
    return HfModel(
        name,
        device=settings.device,
        dtype=settings.dtype,
        batch_size=settings.batch_size,
        chat_template=settings.chat_template,
    )


def refuse_address(model: str, settings: ModelSettings) -> None:
    """Raise `InputError` if the address of a server is given for a model in this process."""
    if settings.base_url is not None:
        raise InputError(
            f"`base_url` {settings.base_url}: is for openai/NAME; {model} runs in this process; "
            "OPENAI_BASE_URL is the address for another model of the run"
        )
