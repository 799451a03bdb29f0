"""Expert weights by survey.

As in the DHP paper (Wang et al. 2025): each expert names, for every quality issue, the metric that it should
hurt most; the shares of the votes are the weights.
"""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "survey",
    "surveys of experts, whose votes are weights",
    commands={
        "weights": ("dhp.plugins.survey.command:weights", "Expert weights: ask experts, count their votes.")
    },
)
