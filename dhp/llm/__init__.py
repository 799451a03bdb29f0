"""Ask a language model many things, each paid for once."""

from dhp.llm.asker import Asker, LocalModel, Terms, estimated_tokens
from dhp.llm.engine import Client, Pace
from dhp.llm.estimate import Bill, Estimate, estimate_requests
from dhp.llm.records import Answer, Failure, Params, Position, Reply, Request
from dhp.llm.store import Store
from dhp.llm.usage import Budget, Limits, Prices, Usage

__all__ = [
    "Answer",
    "Asker",
    "Bill",
    "Budget",
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
