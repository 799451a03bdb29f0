"""Battles of systems, evaluation by category, and recorded verdicts on pairs."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "arena",
    "battles of systems, evaluation by category, recorded verdicts and scores",
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
    readers={
        form: f"dhp.plugins.arena.recorded_scores:{form}"
        for form in ("bump", "judgebench", "llmbar", "rewardbench2", "trajectory")
    },
)
