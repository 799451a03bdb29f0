"""Schedules by which fewer texts are rated: early stopping and threshold search."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "adaptive",
    "early stopping, threshold search",
    schedules={
        "stop_when_resolved": (
            "dhp.plugins.adaptive.early_stopping:SCHEDULE",
            "Stop rating a kind of damage once its verdict is decided.",
        ),
        "find_threshold": (
            "dhp.plugins.adaptive.threshold_search:SCHEDULE",
            "Find the smallest dose that is noticed (T75) with few calls.",
        ),
    },
)
