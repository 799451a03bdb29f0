"""What the scripts define, without their being started; their modules can be imported where this one is."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
if str(SCRIPTS) not in sys.path:
    sys.path.append(str(SCRIPTS))  # last, as `coverage` is a package, too


def loaded(name: str) -> SimpleNamespace:
    """The functions and constants of a script."""
    return SimpleNamespace(**runpy.run_path(str(SCRIPTS / f"{name}.py")))
