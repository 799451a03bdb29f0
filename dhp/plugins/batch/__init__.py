"""Batches: requests that are answered later, at a lower price, in files or by a provider."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "batch",
    "batches: requests answered later, at a lower price, in files or by a provider",
    commands={
        "batch": ("dhp.plugins.batch.command:batch", "List or cancel batches sent to a provider by --batch.")
    },
    fillers={"batch": "dhp.plugins.batch.settings:BatchSettings"},
    batch_providers={
        "openai": "dhp.plugins.batch.providers:OPENAI",
        "anthropic": "dhp.plugins.batch.providers:ANTHROPIC",
        "gemini": "dhp.plugins.batch.providers:GEMINI",
    },
)
