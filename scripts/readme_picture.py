"""Make the picture of a report that the README shows, docs/report.png, in headless Chromium.

Run it from the checkout: python scripts/readme_picture.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import dhp

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "report.png"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=5000 "
    "--window-size=1120,955"
).split()


def main() -> None:
    """Run, report, take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        dhp.run("baseline/surface", "mini/summeval", out=run)
        profile = f"--user-data-dir={folder}/profile"
        command = ["chromium", *FLAGS, profile, f"--screenshot={PICTURE}", (run / "report.html").as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=sys.stderr, timeout=120)


if __name__ == "__main__":
    main()
