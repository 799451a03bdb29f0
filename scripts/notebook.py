"""Execute the notebook of the examples and write its outputs into it; --check only compares them.

Run it from the checkout, with nbclient and ipykernel installed: python scripts/notebook.py [--check]
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "examples" / "notebook.ipynb"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|color:#\w+")
_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")


def executed() -> Any:
    """The notebook after a run of all its cells."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    notebook.metadata.get("language_info", {}).pop("version", None)  # of whichever Python ran it
    return notebook


def shown(notebook: Any) -> Iterator[tuple[int, str, list[str]]]:
    """Number of each output's cell, its kind, and the figures in it; of pictures only that there is one."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", ()):
            texts = output.get("data", {}) or {"text": output.get("text") or output.get("traceback")}
            for kind, text in sorted(texts.items()):
                words = "" if kind.startswith("image/") else _COLOUR.sub("", "".join(text))
                yield number, kind, _FIGURE.findall(words)


def main() -> None:
    """Write the notebook, or with --check exit with 1 where its outputs have other figures."""
    new = executed()
    if "--check" not in sys.argv[1:]:
        nbformat.write(new, NOTEBOOK)
        return
    there, here = list(shown(nbformat.read(NOTEBOOK, as_version=4))), list(shown(new))
    if there != here:
        first = next((one for one, other in zip(there, here, strict=False) if one != other), (len(there),))
        sys.exit(f"{NOTEBOOK}: cell {first[0]} shows other figures; run python scripts/notebook.py")


if __name__ == "__main__":
    main()
