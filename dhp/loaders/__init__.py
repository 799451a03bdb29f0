"""Published formats and the user's own files in, examples out."""

from dhp.loaders.choose import measure, select
from dhp.loaders.download import Progress
from dhp.loaders.fetch import fetch
from dhp.loaders.prepared import is_prepared, load_prepared, prepare
from dhp.loaders.published import read_published
from dhp.loaders.released import Released, is_released, read_released, released_datasets
from dhp.loaders.user import UserData, is_user_data, read_examples

__all__ = [
    "Progress",
    "Released",
    "UserData",
    "fetch",
    "is_prepared",
    "is_released",
    "is_user_data",
    "load_prepared",
    "measure",
    "prepare",
    "read_examples",
    "read_published",
    "read_released",
    "released_datasets",
    "select",
]
