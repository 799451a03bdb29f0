"""Decoding: the choice of the tokens of an answer.

Tokens are drawn by inverting the distribution function at a number from the row's own stream, so that what
a row draws does not depend on the rows beside it, and no global generator is touched.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from dhp.llm.records import Params

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import GenerationConfig

    Step = Callable[..., Tensor]
    """Turns tokens so far (rows, length) and scores (rows, vocabulary) into scores."""


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
    """What was asked for; what was not is as the model's generation configuration has it."""
    temperature = defaults.temperature or 1.0 if params.temperature is None else params.temperature
    top_p = defaults.top_p if params.top_p is None else params.top_p
    return Decoding(
        most=params.max_tokens,
        sampled=bool(defaults.do_sample) if params.temperature is None else temperature > 0,
        temperature=temperature,
        top_p=1.0 if top_p is None else top_p,
        top_k=defaults.top_k or 0,
        min_p=defaults.min_p or 0.0,
        top_logprobs=params.top_logprobs,
    )


def drawing(decoding: Decoding, streams: Sequence[Random]) -> "list[Step]":
    """The steps that leave each row the one token it draws; none where the most probable is taken."""
    from transformers.generation import logits_process as steps

    if not decoding.sampled:
        return []
    found: list[Step] = [steps.TemperatureLogitsWarper(float(decoding.temperature))]
    if decoding.top_k:
        found.append(steps.TopKLogitsWarper(decoding.top_k))
    if decoding.top_p < 1:
        found.append(steps.TopPLogitsWarper(decoding.top_p))
    if decoding.min_p:
        found.append(steps.MinPLogitsWarper(decoding.min_p))
    return [*found, _Draw(streams)]


class _Draw:
    def __init__(self, streams: Sequence[Random]) -> None:
        self._streams = streams

    def __call__(self, ids: "Tensor", scores: "Tensor") -> "Tensor":
        import torch

        upto = scores.double().softmax(-1).cumsum(-1)
        drawn = torch.tensor([[s.random()] for s in self._streams], dtype=upto.dtype, device=upto.device)
        tokens = torch.searchsorted(upto, drawn * upto[:, -1:], right=True).clamp(max=scores.shape[1] - 1)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens, 0.0)


class Overflow(Exception):
    """Scores of a row are not numbers; its argument is the number of the row."""


class Recorder:
    """A step that changes nothing and keeps the most probable tokens.

    Raises `Overflow` where scores are not numbers.
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
        return [list(zip(tokens[row], logprobs[row], strict=True)) for tokens, logprobs in self._kept]
