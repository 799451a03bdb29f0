"""List prices of models: those of the package litellm if it is installed, else the bundled table."""

import csv
import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dhp.llm.limits import PER, Prices

_DATE = "2026-11-20"
"""Day of the bundled table, `list_prices.csv`: US dollars per million tokens, as litellm 1.110.2 has them."""
_TABLE = "litellm/model_prices_and_context_window_backup.json"
_PROVIDERS = {
    "api.openai.com": ("openai", ""),
    "api.anthropic.com": ("anthropic", ""),
    "generativelanguage.googleapis.com": ("gemini", "gemini/"),
    "api.deepseek.com": ("deepseek", "deepseek/"),
    "api.x.ai": ("xai", "xai/"),
    "api.mistral.ai": ("mistral", "mistral/"),
    "api.groq.com": ("groq", "groq/"),
    "api.together.ai": ("together", "together_ai/"),
    "openrouter.ai": ("openrouter", "openrouter/"),
    "api.typesafe.ai": ("typesafe", "typesafe/"),
    "api.fireworks.ai": ("fireworks", "fireworks_ai/"),
}
"""Host of a provider -> its name, and what is before the names of its models in litellm's table."""


def listed_prices(model: str, endpoint: str, *, discounted: bool = False) -> tuple[Prices, str]:
    """The prices of a model per million tokens, in US dollars, and where they come from.

    There are none for a server of another owner, and for a model that neither table lists. Prices are
    `discounted` for requests that go by batch, if such prices are listed. Those of decision models are
    litellm's alone: the bundled table has the prices of writing.
    """
    provider, _, name = model.partition("/")
    host = urlsplit(endpoint).hostname or ""
    if provider == "litellm":
        # Their table has some models with the provider before the name, some without.
        ours, theirs = name, [name, name.partition("/")[2]]
    elif host in _PROVIDERS:
        owner, prefix = _PROVIDERS[host]
        if provider == "decisions":  # may name the host's owner once more
            name = name.removeprefix(f"{owner}/")
        ours, theirs = f"{owner}/{name}", [prefix + name]
    else:
        return Prices(), ""

    version, table = _of_litellm()
    source, unit = f"litellm {version}", "US dollars per million tokens"
    entry: dict[str, Any] = {}
    for key in theirs:
        if key in table:
            entry = table[key]
            break
    if provider == "decisions":
        asked = _per_million(entry, "_decisions") or _per_million(entry, "")
        if asked is None:
            return Prices(), ""
        return asked, f"{source}: {_words(asked)} {unit}"

    direct, batch = _per_million(entry, ""), _per_million(entry, "_batches")
    if direct is None:
        source = f"the list of {_DATE}"
        direct, batch = _bundled().get(ours, (None, None))
    if direct is None:
        return Prices(), ""
    if batch is None:
        note = ", by batch not listed" if discounted else ""
        return direct, f"{source}: {_words(direct)} {unit}{note}"
    if discounted:
        return batch, f"{source}: {_words(batch)} {unit}, directly {_words(direct)}"
    return direct, f"{source}: {_words(direct)} {unit}, by batch {_words(batch)}"


def _per_million(entry: dict[str, Any], suffix: str) -> Prices | None:
    """The prices of an entry of litellm's table under names with this ending; None if it lacks one."""
    prices = []
    for side in ("input", "output"):
        cost = entry.get(f"{side}_cost_per_token{suffix}")
        if not isinstance(cost, int | float):
            return None
        prices.append(round(cost * PER, 6))  # 0.00000015 times a million is not exact
    return Prices(*prices)


def _words(prices: Prices) -> str:
    return f"{prices.prompt:g} in and {prices.completion:g} out"


@cache
def _of_litellm() -> tuple[str, dict[str, Any]]:
    """The version of the package and its table, read without importing it, which takes seconds."""
    try:
        package = distribution("litellm")
        return package.version, json.loads(Path(str(package.locate_file(_TABLE))).read_text("utf-8"))
    except (PackageNotFoundError, OSError, ValueError):
        return "", {}


@cache
def _bundled() -> dict[str, tuple[Prices, Prices | None]]:
    """Model -> its prices, and those by batch, if they are listed."""
    listed = {}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            batch = None
            if row["batch_prompt"] and row["batch_completion"]:
                batch = Prices(float(row["batch_prompt"]), float(row["batch_completion"]))
            listed[row["model"]] = Prices(float(row["prompt"]), float(row["completion"])), batch
    return listed
