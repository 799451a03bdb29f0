"""What is asked of a plug-in that reads data which are no table of texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dhp.core.specs import Suite, Task
from dhp.loaders.memory import Rows


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a plug-in that reads data which are no table of texts."""

    source: str | Rows
    """The file, or rows in memory."""
    name: str
    """Name of the dataset."""
    task: str | Task | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str | None = None
    """Code of the language of the outputs, where it is declared."""
    judge_part: str | None = None
    """Part of a conversation that is judged."""
    strict: bool = False
    """Whether any row that cannot be used is refused."""
    suite: Suite | None = None
    """How the texts are to be degraded, where it is said."""
