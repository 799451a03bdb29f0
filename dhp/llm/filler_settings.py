"""The settings of a filler."""

from typing import Protocol

from dhp.llm.cached_model import RequestContext
from dhp.llm.fillers import Filler


class FillerSettings(Protocol):
    """The settings record of a `Filler`: its fields are options of the command line."""

    @property
    def is_used(self) -> bool:
        """Whether it is to be used."""
        ...

    @property
    def multi_sample(self) -> bool:
        """Whether one of its requests may ask for several samples."""
        ...

    @property
    def discounted(self) -> bool:
        """Whether its requests cost less than those of the engine."""
        ...

    @property
    def calls_functions(self) -> bool:
        """Whether it calls functions that judge, too, not only language models."""
        ...

    def check_dry_run(self) -> None:
        """Raise `InputError` if its requests cannot be counted without asking."""

    def open(self, context: RequestContext) -> Filler:
        """The filler of a command, for its store and its limits."""
        ...
