"""Work on many machines by Ray (`--ray`)."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "ray",
    "requests answered by many machines",
    fillers={"ray": "dhp.plugins.ray.settings:RaySettings"},
    extra="ray",
)
