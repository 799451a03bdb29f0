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
    settings = dict(PAPER[of])
    steps = getattr(record, "steps", None)
    from_file = steps not in ("none", "written", "auto", None)
    has_prompt = bool(getattr(record, "prompt", False))
    if from_file or has_prompt:
        settings.pop("steps", None)
    return settings
