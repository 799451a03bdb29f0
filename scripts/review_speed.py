"""Measure how long the page of a review of 2,000 texts takes to open in Chromium (bar: 2 s); median."""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.perturb.sets import write_set
from dhp.plugins.review.page import review_page
from dhp.plugins.review.reviews import read_reviewable
from tests.browser import Page, in_browser
from tests.plugins.review.sets import set_of, words


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="texts")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    seconds: list[float] = []

    async def opened_again(page: Page) -> None:
        for _ in range(options.repeats):
            await page.run("window.isOld = true")
            start = time.monotonic()
            await page.run("location.reload()")
            first = f"'Pair 1 of {options.n}'"
            await page.until(f"!window.isOld && document.querySelector('#stage h2')?.textContent === {first}")
            seconds.append(time.monotonic() - start)

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "page.html"
        write_set(Path(name) / "set", [set_of(options.n, words(120))])
        path.write_text(review_page(read_reviewable(Path(name) / "set")), encoding="utf-8")
        in_browser(path, Path(name) / "browser", opened_again)
        size = path.stat().st_size
    print(f"{options.n:,} texts, {size:,} bytes: {statistics.median(seconds):.2f} s (bar: 2 s for 2,000)")


if __name__ == "__main__":
    main()
