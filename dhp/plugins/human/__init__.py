"""Agreement of judges with human ratings: correlation, comparison of judges, raters, corrected means."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "human",
    "agreement with human ratings, and means corrected by them",
    commands={
        "correlate": (
            "dhp.plugins.human.command:correlate",
            "Correlate judges' scores with human ones, or correct them.",
        )
    },
    functions={"correlate": "dhp.plugins.human.agreement:correlate"},
)
