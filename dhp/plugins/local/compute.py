"""Forward passes that compute a common beginning once.

Rows that begin alike continue copies of one key-value cache. That gives the same numbers only where each
layer keeps the keys and values of all tokens or of a sliding window, and where positions are encoded in the
same way at any length; elsewhere rows are computed from their start.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from dhp.plugins.local.decoding import Decoding, Recorder, drawing
from dhp.plugins.local.quiet import quiet

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel


@dataclass(frozen=True, slots=True)
class Generated:
    """Tokens that continue a row."""

    tokens: list[int]
    """Generated tokens, with the one that ended the answer."""
    ended: bool
    """False if it was cut at the limit."""
    alternatives: list[list[tuple[int, float]]]
    """The most probable tokens at each place with their log-probabilities, where they were asked for."""


def only_of_one_length(model: "PreTrainedModel", cache: "Cache | None" = None) -> bool:
    """Whether rows of several lengths, computed together, would change one another's numbers.

    So it is where the longest row sets how positions are encoded, and where padding before a row goes into a
    recurrent state, which not every model prevents, or takes up places in the sliding window of a cache.
    """
    if cache is not None and any(layer.is_sliding for layer in cache.layers):
        return True
    parameters = getattr(model.config.get_text_config(), "rope_parameters", None)
    by_length = not {"dynamic", "longrope"}.isdisjoint(_rope_types(parameters))
    return by_length or bool(getattr(model, "_is_stateful", False))


def begin(model: "PreTrainedModel", tokens: Sequence[int]) -> "Cache | None":
    """The cache after a shared beginning; None where continuing it would give other numbers."""
    import torch
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if only_of_one_length(model):
        return None
    cache = DynamicCache(config=model.config)
    if not {type(layer) for layer in cache.layers} <= {DynamicLayer, DynamicSlidingWindowLayer}:
        return None
    with quiet(), torch.inference_mode():
        ids = torch.tensor([list(tokens)], device=model.device)
        model(input_ids=ids, past_key_values=cache, use_cache=True, **_only(model, [len(tokens) - 1]))
    return cache if cache.is_initialized and cache.get_seq_length() == len(tokens) else None


def generate(
    model: "PreTrainedModel",
    rows: Sequence[Sequence[int]],
    decoding: Decoding,
    streams: Sequence[Random],
    end: set[int],
    cache: "Cache | None" = None,
) -> list[Generated]:
    """Continue rows, given whole, even where `cache` holds their first tokens; each draws from its stream.

    They are padded before the tokens that are not in the cache.
    """
    import torch
    from transformers import GenerationConfig

    shared = 0 if cache is None else cache.get_seq_length()
    longest = max(len(row) for row in rows)
    pad = min(end, default=0)
    recorder = Recorder(decoding.top_logprobs)
    with quiet(), torch.inference_mode():
        ids = torch.full((len(rows), longest), pad, device=model.device)
        mask = torch.zeros_like(ids)
        for i, row in enumerate(rows):
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
        out: Any = model.generate(  # type: ignore[operator]
            input_ids=ids,
            attention_mask=mask,
            generation_config=config,
            logits_processor=[recorder, *drawing(decoding, streams)],
            **({} if cache is None else {"past_key_values": _copies(cache, len(rows))}),
        )
    return [_cut(tokens, end, recorder.of(i)) for i, tokens in enumerate(out[:, longest:].tolist())]


def _cut(tokens: list[int], end: set[int], alternatives: list[list[tuple[int, float]]]) -> Generated:
    ended = next((i for i, token in enumerate(tokens) if token in end), None)
    length = len(tokens) if ended is None else ended + 1
    return Generated(tokens[:length], ended is not None, alternatives[:length])


def _copies(cache: "Cache", rows: int) -> "Cache":
    """One copy for each row; the layers that `begin` lets through never write into the tensors they share."""
    copies = copy.copy(cache)
    copies.layers = [copy.copy(layer) for layer in cache.layers]
    layer: Any
    for layer in copies.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return copies


def _only(model: "PreTrainedModel", positions: Sequence[int]) -> dict[str, "Tensor"]:
    """The argument by which a model computes logits at some places only, where it has one."""
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
