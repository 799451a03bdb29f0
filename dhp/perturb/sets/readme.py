"""The README of a perturbation set."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dhp.core.records import ORIGINAL
from dhp.perturb.sets.part import SOURCE_HASH


def readme(datasets: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "# Perturbation set\n",
        "Reference texts and copies of them made worse in known ways, to test whether a judge of texts",
        "notices. `card.json` says how each variant was made and holds the sha256 of every file.",
    ]
    for part in datasets:
        lines += [
            f"\n## {_cell(part['name'])}\n",
            f"Task {_cell(part['task'])}, suite {_cell(part['suite'])}, seed {part['seed']}, "
            f"{part['n']} examples; originals in `{part['original']['file']}`.\n",
            "| variant | level | method | made by | texts | not applicable | file |",
            "|---|---|---|---|---:|---:|---|",
        ]
        for v in part["variants"]:
            cells = [v["name"], v["level"], v["method"], v["origin"] or v["perturber"]]
            cells += [v["texts"], v["not_applicable"], f"`{v['file']}`"]
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        if part["left_out"]:
            lines.append(f"\nNot made: {', '.join(map(_cell, part['left_out']))}.")
    return "\n".join(lines) + _README_END


_README_END = f"""

## Use

`dhp benchmark --perturbed DIR` judges these very texts. In Python, all checked against the card:

```python
from pathlib import Path
from dhp.perturb.sets.read import read_set

parts = read_set(Path("."))  # dataset -> its originals, variants and degraded texts
```

Without dhp: each line of `{ORIGINAL}.jsonl` is an object of `example`, `text` and `{SOURCE_HASH}` (the
source itself is not part of the set), each line of a variant's file one of `example`, `status` (`ok`, or
`not_applicable` with a `reason`), `text`, `audit` and `rejected`.

## Licence and citation

The texts keep the licence of the data they were made of. The benchmark is that of Wang et al. (2025), DHP
Benchmark: Are LLMs Good NLG Evaluators?, Findings of NAACL 2025,
https://aclanthology.org/2025.findings-naacl.451
"""


def _cell(value: object) -> str:
    """Safe in a line or table of Markdown."""
    return escape(" ".join(str(value).split()), quote=False).replace("|", "\\|")
