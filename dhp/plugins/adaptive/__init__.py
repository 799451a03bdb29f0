"""Loops over plain runs by which fewer texts are rated: early stopping and threshold search."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "adaptive",
    "early stopping, threshold search",
    commands={
        "early-stopping": (
            "dhp.plugins.adaptive.commands:early_stopping",
            "Benchmark that stops rating a kind of damage once its verdict is decided.",
        ),
        "find-threshold": (
            "dhp.plugins.adaptive.commands:find_threshold",
            "Find the smallest dose that is noticed (T75) with few calls.",
        ),
    },
    functions={
        "early_stopping": "dhp.plugins.adaptive.early_stopping:early_stopping",
        "find_threshold": "dhp.plugins.adaptive.threshold_search:find_threshold",
    },
)
