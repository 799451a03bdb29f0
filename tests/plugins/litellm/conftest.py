"""Nobody waits long."""

from tests.quick import short_waits

__all__ = ["short_waits"]
