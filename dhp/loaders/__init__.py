"""Published formats and the user's own files in, examples out."""

from dhp.loaders.choose import measure, select
from dhp.loaders.download import Progress
from dhp.loaders.fetch import fetch
from dhp.loaders.prepared import cache_folder, load_prepared, prepare
from dhp.loaders.published import read_published
from dhp.loaders.user import UserData, read_examples, read_hub

__all__ = [
    "Progress",
    "UserData",
    "cache_folder",
    "fetch",
    "load_prepared",
    "measure",
    "prepare",
    "read_examples",
    "read_hub",
    "read_published",
    "select",
]
