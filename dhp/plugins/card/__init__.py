"""Cards of judges: what a judge notices and misses, on one page."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "card",
    "cards: what a judge notices and misses, on one page",
    pages={
        "card": (
            "dhp.plugins.card.card:pages",
            "One page on each judge instead: card.html, card.md, card.json.",
        )
    },
)
