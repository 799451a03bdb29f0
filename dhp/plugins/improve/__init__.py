"""A better judge prompt, by trying one change at a time."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "improve",
    "a better judge prompt, by trying one change at a time",
    commands={
        "improve": (
            "dhp.plugins.improve.command:improve",
            "Try changes of a judge prompt, and confirm the best one on other texts.",
        )
    },
)
