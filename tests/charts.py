"""Pages without their charts, for tests that look at something else: drawing is most of a small run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest


@contextmanager
def undrawn() -> Iterator[None]:
    """Charts are laid out by our own code, but matplotlib writes empty pictures."""
    from matplotlib.figure import Figure

    def save(_: Figure, buffer: TextIO, **__: object) -> None:
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save)
        yield


@pytest.fixture(scope="module", autouse=True)
def undrawn_charts() -> Iterator[None]:
    """Where a module or a conftest imports this, no test looks at a chart."""
    with undrawn():
        yield
