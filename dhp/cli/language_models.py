"""Checks and estimates that commands with language models share."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from dhp.cli.options import stated
from dhp.cli.protocol_options import DEFAULT_PROTOCOL
from dhp.core.errors import Answered, InputError
from dhp.core.plugins import offered

if TYPE_CHECKING:
    from dhp.llm.settings import ModelSettings

T = TypeVar("T")
_ASK_NO_MODEL = ("mock", "baseline", "column")


def with_deferral(
    settings: "ModelSettings", models: Sequence[str | None], *, dry_run: bool = False
) -> "ModelSettings":
    """The settings, for a dry run if it is one.

    Raises `InputError` where requests are to be answered later and no language model is asked.
    """
    from dhp.llm.api import providers

    given, asked = stated("settings.deferral"), tuple(f"{provider}/" for provider in providers())
    if given and not any(model and model.startswith(asked) for model in models):
        said = next((f"{model} asks none" for model in models if model), "none is given")
        raise InputError(f"{given[0]}: is for language models, and {said}; leave it out")
    deferral = settings.deferral_settings() if dry_run else None
    return replace(settings, deferral=deferral.for_dry_run()) if deferral else settings


def refuse_unused(models: Sequence[str], protocols: Sequence[str], *, perturb_model: bool) -> None:
    """Raise `InputError` for options on language models where none is asked.

    With a perturb model those on how models are reached are of use.
    """
    ask_none = (*_ASK_NO_MODEL, *offered("judges"))
    if not models or not all(model.partition("/")[0] in ask_none for model in models):
        return
    from dhp.content.protocols import read_protocol

    usual = tuple(protocols) == (DEFAULT_PROTOCOL,) or any(read_protocol(p).pairwise for p in protocols)
    given = [] if usual else ["--protocol"]  # any judge can compare
    given += stated("changes")
    if not perturb_model:
        given += [option for option in stated("settings") if option != "--executor"]
    if given:
        raise InputError(f"{given[0]}: is for language models, and {models[0]} asks none; leave it out")


def until_answered(work: Callable[[], T]) -> T:
    """What `work` gives in the end: it starts again whenever the replies that it waited for have come."""
    while True:
        with suppress(Answered):
            return work()
