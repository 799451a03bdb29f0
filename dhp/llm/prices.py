"""Prices of models from the package litellm, for estimates."""

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dhp.llm.limits import Prices

_TABLE = "litellm/model_prices_and_context_window_backup.json"
_PER = 1_000_000
_PREFIXES = {"api.openai.com": "", "api.anthropic.com": "", "generativelanguage.googleapis.com": "gemini/"}
"""Host of a provider -> what is before the names of its models in the table."""


def listed_prices(model: str, endpoint: str, *, discounted: bool = False) -> tuple[Prices, str]:
    """The prices of a model per million tokens, in US dollars, and where they come from.

    Parameters
    ----------
    model
        `openai/NAME` or `litellm/NAME`.
    endpoint
        Its address: a server of another owner has prices of its own, which nobody lists.
    discounted
        Whether the requests go by batch; where no price is listed for that, the direct one is given.

    Returns
    -------
    (Prices, str)
        Without prices, and the empty text, where litellm is not installed or does not list the model.
    """
    provider, _, name = model.partition("/")
    keys = [name, name.partition("/")[2]] if provider == "litellm" else []
    if provider == "openai" and (prefix := _PREFIXES.get(urlsplit(endpoint).hostname or "")) is not None:
        keys = [prefix + name]
    version, table = _table() if keys else ("", {})
    entry: dict[str, Any] = next((table[key] for key in keys if key in table), {})
    direct, batch = (_of(entry, suffix) for suffix in ("", "_batches"))
    if direct is None:
        return Prices(), ""
    chosen, other, way = (batch, direct, "directly") if discounted and batch else (direct, batch, "by batch")
    said = f"litellm {version}: {_words(chosen)} US dollars per million tokens"
    return chosen, said + (
        f", {way} {_words(other)}" if other else ", by batch not listed" if discounted else ""
    )


def _of(entry: dict[str, Any], suffix: str) -> Prices | None:
    costs = (entry.get(f"{side}_cost_per_token{suffix}") for side in ("input", "output"))
    found = [round(cost * _PER, 6) for cost in costs if isinstance(cost, int | float)]
    return Prices(*found) if len(found) == 2 else None


def _words(prices: Prices) -> str:
    return f"{prices.prompt:g} in and {prices.completion:g} out"


@cache
def _table() -> tuple[str, dict[str, Any]]:
    """The version of the package and its table, read without importing it, which takes seconds."""
    try:
        package = distribution("litellm")
        return package.version, json.loads(Path(str(package.locate_file(_TABLE))).read_text("utf-8"))
    except (PackageNotFoundError, OSError, ValueError):
        return "", {}
