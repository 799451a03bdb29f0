"""Conversations and transcripts of agents, degraded turn by turn."""

from pathlib import Path

from dhp.core.plugins import Plugin

_HERE = "dhp.plugins.conversations"
_PERTURBERS = {
    "turns": "turn_deletion turn_swap answer_repetition foreign_answer question_unanswered",
    "calls": "result_ignored call_argument call_claimed",
    "call_controls": "argument_spacing argument_order renamed_ids",
    "constraints": "constraint_broken",
}
"""Module -> its perturbers."""

PLUGIN = Plugin(
    "conversations",
    "conversations and transcripts of agents",
    datasets={"conversations": f"{_HERE}.dataset:conversations"},
    perturbers={
        name: f"{_HERE}.{module}:{name}" for module, names in _PERTURBERS.items() for name in names.split()
    },
    content=Path(__file__).with_name("content"),
    notes={"faults": f"{_HERE}.note:notes"},
)
