"""Number of examples that a judge needs to notice damage."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "power",
    "number of examples that a judge needs to notice damage",
    commands={
        "power": (
            "dhp.plugins.power.command:power",
            "Compute how many examples a judge needs to notice damage.",
        )
    },
    functions={"power": "dhp.plugins.power.power:power"},
)
