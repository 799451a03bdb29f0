"""Juries: the smallest set of judges that together notice every kind of damage."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "jury",
    "juries of judges",
    commands={
        "jury": (
            "dhp.plugins.jury.command:jury",
            "Find the smallest set of judges that notices every kind of damage.",
        )
    },
)
