"""Opens the executor of this plug-in."""

from typing import TYPE_CHECKING

from dhp.core.errors import require

if TYPE_CHECKING:
    from dhp.plugins.ray.cluster import RayExecutor


def open_ray(address: str) -> "RayExecutor":
    """The executor of the cluster at HOST:PORT, or of one on this machine if the address is empty.

    Raises `InputError` where the package `ray` is not installed. A cluster is reached when first needed.
    """
    require("ray", purpose=f"`executor` {':'.join(filter(None, ('ray', address)))}")
    from dhp.plugins.ray.cluster import RayExecutor

    return RayExecutor(address or None)
