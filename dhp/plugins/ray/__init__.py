"""Work on many machines by Ray (`--executor ray`)."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "ray",
    "work on many machines",
    executors={"ray": "dhp.plugins.ray.cluster:open_ray"},
    extra="ray",
)
