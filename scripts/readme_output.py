"""Put the output of the first command into the README, between its markers; --check only compares.

Run it from the checkout: python scripts/readme_output.py [--check]
"""

import io
import re
import sys
from pathlib import Path

from rich.console import Console

import dhp
from dhp.report.overview import print_overview

README = Path(__file__).resolve().parent.parent / "README.md"
MARKED = re.compile(
    r"(<!-- example output: scripts/readme_output.py -->\n```\n).*?(```\n<!-- end of example output -->)",
    re.S,
)


def example_output() -> str:
    """The last thing that the first command says, as a terminal of 124 columns shows it."""
    console = Console(file=io.StringIO(), width=124)
    print_overview(dhp.run("baseline/surface", "mini"), console)
    stream = console.file
    assert isinstance(stream, io.StringIO)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip().splitlines()) + "\n"


def main() -> None:
    """Write, or compare and exit with 1 if the README is out of date."""
    text = README.read_text(encoding="utf-8")
    new, found = MARKED.subn(lambda m: m[1] + example_output() + m[2], text)
    if found != 1:
        sys.exit("README.md: the markers of the example output are missing")
    if "--check" in sys.argv[1:]:
        sys.exit(
            0 if new == text else "README.md: example output is out of date; run scripts/readme_output.py"
        )
    README.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
