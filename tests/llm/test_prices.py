"""List prices: of litellm's table, or the bundled one."""

import csv
import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from dhp.llm import list_prices as prices
from dhp.llm.cached_model import latency
from dhp.llm.clients.connection import OPENAI_URL
from dhp.llm.limits import Prices

LISTED = {
    "gpt-4o-mini": {
        "input_cost_per_token": 1.5e-07,
        "output_cost_per_token": 6e-07,
        "input_cost_per_token_batches": 7.5e-08,
        "output_cost_per_token_batches": 3e-07,
    },
    "gemini/gemini-2.5-flash": {"input_cost_per_token": 3e-07, "output_cost_per_token": 2.5e-06},
    "claude-haiku-4-5": {"input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06},
    "typesafe/jev-latest": {"input_cost_per_token": 4.2e-08, "output_cost_per_token": 0.0},
    "fireworks_ai/accounts/fireworks/models/rune": {
        "input_cost_per_token": 4.2e-08,
        "output_cost_per_token": 0.0,
    },
    "gpt-6-luna": {
        "input_cost_per_token": 1e-07,
        "output_cost_per_token": 5e-07,
        "input_cost_per_token_decisions": 2e-07,
        "output_cost_per_token_decisions": 0.0,
    },
    "some-image-model": {"output_cost_per_image": 0.04},
}


@pytest.fixture(autouse=True)
def litellm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with these prices."""
    path = tmp_path / prices._TABLE
    path.parent.mkdir()
    path.write_text(json.dumps(LISTED))
    found = SimpleNamespace(version="1.2.3", locate_file=lambda name: tmp_path / name)
    monkeypatch.setattr(prices, "distribution", lambda name: found)
    prices._of_litellm.cache_clear()
    yield
    prices._of_litellm.cache_clear()


@pytest.mark.parametrize(
    ("model", "endpoint", "expected"),
    [
        ("openai/gpt-4o-mini", OPENAI_URL, Prices(0.15, 0.6)),
        (
            "openai/gemini-2.5-flash",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            Prices(0.3, 2.5),
        ),
        ("openai/claude-haiku-4-5", "https://api.anthropic.com/v1", Prices(1, 5)),
        ("litellm/anthropic/claude-haiku-4-5", "litellm", Prices(1, 5)),
        ("litellm/gemini/gemini-2.5-flash", "litellm", Prices(0.3, 2.5)),
        ("decisions/jev-latest", "https://api.typesafe.ai/v1", Prices(0.042, 0)),
        ("decisions/typesafe/jev-latest", "https://api.typesafe.ai/v1", Prices(0.042, 0)),
        (
            "decisions/fireworks/accounts/fireworks/models/rune",
            "https://api.fireworks.ai/inference/v1",
            Prices(0.042, 0),
        ),
        ("decisions/gpt-6-luna", OPENAI_URL, Prices(0.2, 0)),
        ("decisions/openai/gpt-6-luna", OPENAI_URL, Prices(0.2, 0)),
        ("openai/gpt-6-luna", OPENAI_URL, Prices(0.1, 0.5)),
        ("decisions/gpt-4.1-mini", OPENAI_URL, Prices()),
        ("decisions/jev-latest", "http://127.0.0.1:8000/v1", Prices()),
        ("openai/gpt-4o-mini", "http://127.0.0.1:8000/v1", Prices()),
        ("openai/some-image-model", OPENAI_URL, Prices()),
        ("openai/unknown", OPENAI_URL, Prices()),
        ("hf/gpt-4o-mini", "transformers", Prices()),
    ],
)
def test_a_model_has_the_prices_of_its_own_provider(model: str, endpoint: str, expected: Prices) -> None:
    found, said = prices.listed_prices(model, endpoint)
    assert found == expected
    assert bool(said) == (expected != Prices())


def test_a_batch_has_prices_of_its_own() -> None:
    found, said = prices.listed_prices("openai/gpt-4o-mini", OPENAI_URL, discounted=True)
    assert found == Prices(0.075, 0.3)
    assert (
        said
        == "litellm 1.2.3: 0.075 in and 0.3 out US dollars per million tokens, directly 0.15 in and 0.6 out"
    )
    found, said = prices.listed_prices("litellm/gemini/gemini-2.5-flash", "litellm", discounted=True)
    assert found == Prices(0.3, 2.5)
    assert said.endswith("by batch not listed")


def test_it_is_said_where_prices_come_from() -> None:
    _, said = prices.listed_prices("openai/gpt-4o-mini", OPENAI_URL)
    assert said == (
        "litellm 1.2.3: 0.15 in and 0.6 out US dollars per million tokens, by batch 0.075 in and 0.3 out"
    )


@pytest.mark.parametrize(
    ("model", "endpoint", "expected"),
    [
        ("openai/gpt-4.1-mini", OPENAI_URL, "openai/gpt-4.1-mini"),
        ("xai/grok-4.5", "https://api.x.ai/v1", "xai/grok-4.5"),
        ("openai/grok-4.5", "https://api.x.ai/v1", "xai/grok-4.5"),
        ("litellm/mistral/mistral-large-2512", "litellm", "mistral/mistral-large-2512"),
        ("openai/grok-4.5", OPENAI_URL, None),
        ("openai/gpt-4.1-mini", "http://127.0.0.1:8000/v1", None),
    ],
)
def test_what_litellm_does_not_list_is_looked_up_in_the_bundled_table(
    model: str, endpoint: str, expected: str | None
) -> None:
    """Against the rows of the file itself, read anew."""
    with (Path(prices.__file__).parent / "list_prices.csv").open(newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    found, said = prices.listed_prices(model, endpoint)
    if expected is None:
        assert (found, said) == (Prices(), "")
    else:
        row = rows[expected]
        assert found == Prices(float(row["prompt"]), float(row["completion"]))
        assert said.startswith(f"the list of {prices._DATE}: ")


def test_the_bundled_table_serves_without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(prices, "distribution", absent)
    prices._of_litellm.cache_clear()
    found, said = prices.listed_prices("openai/gpt-4o-mini", OPENAI_URL, discounted=True)
    assert (found, said[:4]) == (Prices(0.075, 0.3), "the ")


def test_every_row_of_the_bundled_table_is_sound() -> None:
    """Names are of providers that dhp knows; an answer's token costs no less, a batch no more."""
    for model, (direct, batch) in prices._bundled().items():
        assert model.partition("/")[0] in {name for name, _ in prices._PROVIDERS.values()}
        assert direct.prompt is not None
        assert direct.completion is not None
        assert 0 <= direct.prompt <= direct.completion, model
        if batch is not None:
            assert (batch.prompt or 0) <= direct.prompt, model


def test_latency_is_the_median_and_the_time_that_95_percent_keep() -> None:
    assert latency([]) is None
    assert latency([3.0]) == (3.0, 3.0)
    assert latency([float(k) for k in range(100, 0, -1)]) == (50.5, 95.0)
