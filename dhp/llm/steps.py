"""Numbered steps for prompts, written once by a model."""

from collections.abc import Sequence

from dhp.core.errors import InputError
from dhp.core.text import numbered_steps
from dhp.llm.cached_model import CachedModel
from dhp.llm.records import FINISHES, Failure, Request


def asked_steps(model: CachedModel, requests: Sequence[Request], otherwise: str) -> dict[str, list[str]]:
    """Tag of each request -> the steps in the answer to it, in the order of the requests.

    Raises `InputError` where an answer holds no whole list of steps, with `otherwise` as what is allowed in
    its place; other errors as of `CachedModel.ask`.
    """
    found = {}
    for answer in model.ask(requests):
        outcome, steps = answer.outcomes[0], []
        if isinstance(outcome, Failure):
            why = outcome.reason
        elif outcome.finish in FINISHES:
            why = FINISHES[outcome.finish]
        else:
            why, steps = "the answer is not a list of steps", numbered_steps(outcome.text)
        if not steps:
            place = f"{model.model.model}: {answer.request.place}"
            raise InputError(f"{place}: {why}; allowed: {otherwise}, or `refresh` to ask again")
        found[str(answer.request.tag)] = steps
    return {str(request.tag): found[str(request.tag)] for request in requests}
