"""Battles of systems, evaluation by category, and recorded comparisons."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "arena",
    "battles of systems, evaluation by category, recorded comparisons",
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
