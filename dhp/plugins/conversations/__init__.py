"""Conversations and transcripts of agents, degraded turn by turn."""

from pathlib import Path

from dhp.core.plugins import Plugin

_HERE = "dhp.plugins.conversations"
_PERTURBERS = {
    "turn_deletion": "turns",
    "turn_swap": "turns",
    "answer_repetition": "turns",
    "foreign_answer": "turns",
    "question_unanswered": "turns",
    "result_ignored": "calls",
    "call_argument": "calls",
    "call_claimed": "calls",
    "argument_spacing": "call_controls",
    "argument_order": "call_controls",
    "renamed_ids": "call_controls",
    "constraint_broken": "constraints",
}
"""Perturber -> its module."""

PLUGIN = Plugin(
    "conversations",
    "conversations and transcripts of agents",
    datasets={"conversations": f"{_HERE}.dataset:conversations"},
    perturbers={name: f"{_HERE}.{module}:{name}" for name, module in _PERTURBERS.items()},
    content=Path(__file__).with_name("content"),
    notes={"faults": f"{_HERE}.note:notes"},
)
