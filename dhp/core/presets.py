"""The settings of publications, which one word asks for."""

from collections.abc import Mapping
from typing import Literal

PresetName = Literal["paper"]
"""Names of the presets."""
PAPER: Mapping[str, Mapping[str, object]] = {
    "changes": {
        "answer": "score-only",
        "steps": "auto",
        "samples": 5,
        "temperature": 0.0,
        "extraction": "parse",
        "ask_again": False,
        "reference": False,
        "persona": "none",
    },
    "analysis": {"statistics": "paper", "combination": "printed"},
    "choice": {"controls": False, "attacks": False, "doses": None},
    "choice.perturb_model": {"steps": "auto"},
}
"""Settings record -> its fields as Wang et al. (2025) have them, appendices D and E.

Prompts may be one's own, and steps may come from a file: the paper prints both.
"""


def paper_settings(of: str, record: object) -> dict[str, object]:
    """The paper's settings for a record, without the steps if a file or a prompt of one's own has them."""
    steps = getattr(record, "steps", None)
    own_steps = steps not in ("none", "written", "auto", None) or bool(getattr(record, "prompt", False))
    return {name: value for name, value in PAPER[of].items() if name != "steps" or not own_steps}
