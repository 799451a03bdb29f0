"""What the scripts define, without their being started."""

import runpy
from pathlib import Path
from types import SimpleNamespace

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def loaded(name: str) -> SimpleNamespace:
    """The functions and constants of a script."""
    return SimpleNamespace(**runpy.run_path(str(SCRIPTS / f"{name}.py")))
