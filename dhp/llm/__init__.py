"""Ask a language model many things, each paid for once."""

from dhp.llm.asker import Asker, LocalModel, Terms, estimated_tokens
from dhp.llm.estimate import Bill, Estimate, estimate_requests
from dhp.llm.records import Answer, Failure, Params, Position, Reply, Request
from dhp.llm.store import Store
from dhp.llm.usage import Limits, Prices, Usage
from dhp.llm.workers import Client, Pace

__all__ = [
    "Answer",
    "Asker",
    "Bill",
    "Client",
    "Estimate",
    "Failure",
    "Limits",
    "LocalModel",
    "Pace",
    "Params",
    "Position",
    "Prices",
    "Reply",
    "Request",
    "Store",
    "Terms",
    "Usage",
    "estimate_requests",
    "estimated_tokens",
]
