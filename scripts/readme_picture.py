"""Take the README's picture of a report, docs/report.png: the first screen of a run on one bundled set.

Run it from the checkout: python scripts/readme_picture.py [FILE]
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
    "--force-device-scale-factor=1.4 --window-size=1140,680"
).split()


def main() -> None:
    """Run the judge, take the picture."""
    picture = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        dhp.run("baseline/surface", "mini/summeval", pass_mark=4, out=run, progress=None)
        profile = f"--user-data-dir={folder}/profile"
        page = (run / "report.html").as_uri()
        command = ["chromium", *FLAGS, profile, f"--screenshot={picture}", page]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=sys.stderr, timeout=120)


if __name__ == "__main__":
    main()
