"""What spares time in tests that look at something else: pages without charts, short waits between calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOBase
from typing import BinaryIO, TextIO

import pytest


@contextmanager
def undrawn() -> Iterator[None]:
    """The charts of a run are not drawn at all; of others matplotlib writes empty pictures."""
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from dhp.report.charts import Drawing

    def save(_: Figure, buffer: TextIO | BinaryIO, **__: object) -> None:
        empty = '<svg viewBox="0 0 1 1"></svg>'
        if isinstance(buffer, TextIOBase):
            buffer.write(empty)
        else:
            buffer.write(empty.encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Drawing, "on_page", lambda _: Markup('<svg viewBox="0 0 1 1"></svg>'))
        patch.setattr(Figure, "savefig", save)
        yield


@pytest.fixture(scope="module", autouse=True)
def undrawn_charts() -> Iterator[None]:
    """Where a module or a conftest imports this, no test looks at a chart."""
    with undrawn():
        yield


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that failed are made again almost at once."""
    monkeypatch.setattr("dhp.llm.concurrency._FIRST_WAIT", 0.02)
