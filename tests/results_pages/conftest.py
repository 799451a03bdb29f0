"""The modules of `scripts/` can be imported in these tests."""

import sys
from pathlib import Path

SCRIPTS = str(Path(__file__).resolve().parents[2] / "scripts")
if SCRIPTS not in sys.path:
    sys.path.append(SCRIPTS)
