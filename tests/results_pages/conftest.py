"""The modules of `scripts/` can be imported in these tests."""

import tests.scripts  # noqa: F401
