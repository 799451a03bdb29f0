"""People review the texts of a perturbation set."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "review",
    "people review degraded texts: was the damage damage?",
    commands={
        "review": (
            "dhp.plugins.review.command:review",
            "Let people review degraded texts: was the damage damage?",
        )
    },
)
