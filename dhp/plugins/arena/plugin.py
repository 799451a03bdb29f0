"""What this plug-in adds."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "arena",
    "battles of systems, evaluation by category, recorded verdicts",
    commands={
        "battle": (
            "dhp.plugins.arena.battle_command:battle",
            "Let a judge compare the answers of two systems or more.",
        ),
        "evaluate": (
            "dhp.plugins.arena.evaluate_command:evaluate",
            "Let a judge score answers by category and metric.",
        ),
    },
)
