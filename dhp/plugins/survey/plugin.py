"""What this plug-in adds."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "survey",
    "surveys of experts, whose votes are weights",
    commands={
        "weights": ("dhp.plugins.survey.command:weights", "Expert weights: ask experts, count their votes.")
    },
)
