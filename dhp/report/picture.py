"""Figures of matplotlib that a notebook shows as they are."""

import io

from matplotlib.figure import Figure

_DOTS = 144
"""Dots per inch: sharp on dense screens."""


class Picture(Figure):
    """A figure without a window. A notebook shows it also if matplotlib was not set up for one."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, and the size at which it is shown."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DOTS)
        width, height = (round(inches * self.dpi) for inches in self.get_size_inches().tolist())
        return buffer.getvalue(), {"width": width, "height": height}
