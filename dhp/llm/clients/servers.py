"""Providers whose servers speak OpenAI's protocol, by the names that models have of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TransportName = Literal["fast", "sdk"]
"""HTTP clients by name: aiohttp, and the openai package."""


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of a provider beside the names of its models."""

    url: str
    """Address of its OpenAI-compatible server."""
    keys: tuple[str, ...] = ()
    """Variables of the environment, one of which holds the key; none for a server that takes any."""
    address_variable: str = ""
    """Variable of the environment that holds another address."""
    path: str = "/v1"
    """Behind an address without a path."""


SERVERS: Mapping[str, Server] = {
    "anthropic": Server("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
    "azure": Server(
        "", ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"), "AZURE_OPENAI_ENDPOINT", "/openai/v1"
    ),
    "deepseek": Server("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
    "gemini": Server(
        "https://generativelanguage.googleapis.com/v1beta/openai", ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
    "groq": Server("https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    "mistral": Server("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    "ollama": Server("http://localhost:11434/v1", (), "OLLAMA_HOST"),
    "openrouter": Server("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "together": Server("https://api.together.ai/v1", ("TOGETHER_API_KEY",)),
    "xai": Server("https://api.x.ai/v1", ("XAI_API_KEY",)),
}
"""Provider -> its server; `openai` itself is not among them, as any address may be given for it."""
DECISION_MODELS = "a decision model, which answers typed questions, is named decisions/NAME"
"""What helps if a server takes no prompts."""
OTHER_PROVIDERS = "for another provider take litellm/PROVIDER/NAME, or openai/NAME with its `base_url`"
"""What helps if a provider is not known."""
