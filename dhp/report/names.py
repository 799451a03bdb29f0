"""Names of judges for readers."""

from dhp.analysis.results import Result
from dhp.core.text import printable


def judge_name(result: Result) -> str:
    """Model, with the name of its prompt or protocol where it was asked by one, without the hash."""
    return printable(
        f"{result.model} ({result.protocol.partition('@')[0]})" if result.asked else result.model
    )
