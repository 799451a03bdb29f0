"""Settings of the Ray plug-in: the cluster whose workers answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.checks import Checked
from dhp.core.errors import require
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.llm.cached_model import RequestContext
    from dhp.llm.fillers import Filler

AUTO = "auto"
"""The cluster of `RAY_ADDRESS`, else one on this machine."""


def _named(settings: "RaySettings") -> str | None:
    return "`ray`: is empty; must be auto or HOST:PORT" if settings.ray == "" else None


@dataclass(frozen=True, slots=True)
class RaySettings(Checked):
    """Ray: many machines answer requests and call functions."""

    rules = (_named,)

    ray: str | None = option(
        "Have requests answered by the workers of this Ray cluster; auto: the one of RAY_ADDRESS, else "
        "one on this machine.",
        default=None,
        metavar="auto|HOST:PORT",
    )

    @property
    def is_used(self) -> bool:
        """Whether a cluster is named."""
        return self.ray is not None

    @property
    def multi_sample(self) -> bool:
        """True: a request may ask for several samples."""
        return True

    @property
    def discounted(self) -> bool:
        """False: calls cost what they cost."""
        return False

    @property
    def calls_functions(self) -> bool:
        """True: workers call functions that judge, too."""
        return True

    def check_dry_run(self) -> None:
        """A dry run counts in this process."""

    def open(self, context: "RequestContext") -> "Filler":
        """The workers of the cluster, which is reached when it is first needed.

        Raises `InputError` if the package `ray` is not installed.
        """
        assert self.ray is not None
        require("ray", purpose=f"`ray` {self.ray}", extra="ray")
        from dhp.plugins.ray.cluster import open_cluster
        from dhp.plugins.ray.filler import RayFiller

        return RayFiller(open_cluster(None if self.ray == AUTO else self.ray), context)
