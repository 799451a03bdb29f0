"""What this plug-in adds."""

from dhp.core.plugins import Plugin

_HERE = "dhp.plugins.conversations"
_PERTURBERS = {
    "faults": "turn_deletion turn_swap answer_repetition foreign_answer question_unanswered result_ignored "
    "call_argument call_claimed argument_spacing argument_order renamed_ids",
    "constraints": "constraint_broken",
}

PLUGIN = Plugin(
    "conversations",
    "conversations and transcripts of agents",
    datasets={"conversations": f"{_HERE}.load:conversations"},
    perturbers={
        name: f"{_HERE}.{file}:{name}" for file, names in _PERTURBERS.items() for name in names.split()
    },
    notes={"faults": f"{_HERE}.outcome:notes"},
)
