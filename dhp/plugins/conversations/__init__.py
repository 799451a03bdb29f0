"""Conversations and transcripts of agents, degraded turn by turn."""

from dhp.core.plugins import Plugin

_FAULTS = "dhp.plugins.conversations.faults"
_PERTURBERS = (
    "turn_deletion turn_swap answer_repetition foreign_answer question_unanswered result_ignored "
    "call_argument call_claimed argument_spacing argument_order renamed_ids constraint_broken"
)

PLUGIN = Plugin(
    "conversations",
    "conversations and transcripts of agents",
    datasets={"conversations": "dhp.plugins.conversations.readers:conversations"},
    perturbers={name: f"{_FAULTS}:{name}" for name in _PERTURBERS.split()},
    notes={"faults": f"{_FAULTS}:notes"},
)
