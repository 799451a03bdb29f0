"""Put the output of the first command into the README, between its markers; --check only compares.

Run it from the checkout: python scripts/readme_output.py [--check]
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
MARKED = re.compile(
    r"(<!-- example output: scripts/readme_output.py -->\n```\n).*?(```\n<!-- end of example output -->)",
    re.S,
)
COMMAND = [sys.executable, "-m", "dhp.benchmark", "--model", "baseline/surface", "--pass-mark", "4"]
COLUMNS = 120
_CONTROLS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def example_output() -> str:
    """What the first command prints on a terminal of 120 columns, without its progress."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            COMMAND,
            cwd=folder,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "xterm"},
        )
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        if process.wait():
            sys.exit(f"{' '.join(COMMAND)}: exit code {process.returncode}")
    text = _CONTROLS.sub(b"", shown).decode().replace("\r\n", "\n")
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def _read(terminal: int) -> bytes:
    """What comes next; nothing once the other end is closed."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


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
