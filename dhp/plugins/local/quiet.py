"""Silencing of libraries that print to the terminal."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No messages, warnings or progress bars of the hub or of transformers inside; as it was afterwards."""
    from huggingface_hub import utils

    hub: Any = utils
    bars = not hub.are_progress_bars_disabled()
    logs: list[Any] = [hub.logging]
    if "transformers" in sys.modules:
        from transformers.utils import logging

        logs.append(logging)
    levels = [log.get_verbosity() for log in logs]
    own_bars = [log for log in logs[1:] if log.is_progress_bar_enabled()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for log in own_bars:
            log.disable_progress_bar()
        for log in logs:
            log.set_verbosity_error()
        hub.disable_progress_bars()
        try:
            yield
        finally:
            for log, level in zip(logs, levels, strict=True):
                log.set_verbosity(level)
            for log in own_bars:
                log.enable_progress_bar()
            (hub.enable_progress_bars if bars else hub.disable_progress_bars)()
