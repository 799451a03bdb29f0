"""Make the picture of the README, docs/matrix.png: what judges of 2026 notice, from docs/results/index.html.

Run it from the checkout: python scripts/readme_picture.py [FILE]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURE = DOCS / "matrix.png"
SETS = ("rewardbench2", "judgebench", "agents")
"""Of the overview, those that are shown."""
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=5000 "
    "--force-device-scale-factor=1.5 --window-size=1160,1160"
).split()
STYLE = (
    "main > :not(.key, .matrix) { display: none } main { padding-top: .6rem } h2 { margin: 1rem 0 .3rem }"
    "h2 a { color: inherit; text-decoration: none } .wide { background: none }"
)


def shown(page: str) -> str:
    """The page with the key and the grids of some sets alone."""
    last = page.index(f'<h2 id="{SETS[-1]}"')
    end = page.index("<h2", last + 1)
    assert [page.count(f'<h2 id="{name}"', 0, end) for name in SETS] == [1] * len(SETS)
    return page[:end].replace("</style>", f"{STYLE}</style>", 1)


def main() -> None:
    """Take the picture."""
    picture = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(shown((DOCS / "results" / "index.html").read_text("utf-8")), encoding="utf-8")
        profile = f"--user-data-dir={folder}/profile"
        command = ["chromium", *FLAGS, profile, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=sys.stderr, timeout=120)


if __name__ == "__main__":
    main()
