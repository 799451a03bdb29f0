"""Language models of all providers that the package litellm knows."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "litellm",
    "models of further providers: litellm/PROVIDER/NAME",
    models={"litellm": "dhp.plugins.litellm.client:open_litellm"},
    forms={"litellm/PROVIDER/NAME": "a model of any provider that litellm knows"},
    extra="litellm",
)
