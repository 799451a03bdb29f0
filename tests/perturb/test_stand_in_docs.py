"""The pairs of texts that docs/stand-ins shows are what the code makes."""

import re
from pathlib import Path

import pytest

from dhp import perturb_datasets

DOCS = Path(__file__).parents[2] / "docs" / "stand-ins"
PAIR = re.compile(
    r"^`(mini/\w+)`, `([\w-]+)`\n\n> \*\*before\*\* (.+?)\n>\n> \*\*after\*\* (.+?)(?=\n\n|\n\Z)", re.M | re.S
)
PERTURBERS = {
    "entities": "fictional_named_entities_rule",
    "grammar": "grammatical_errors_rule",
    "rewriting": "rewriting_insertion_rule",
}


def pairs(doc: str, degree: str) -> list[tuple[str, str, str, str]]:
    """(dataset, example, before, after) of the section of a degree, each text on one line."""
    section = (DOCS / f"{doc}.md").read_text().split(f"\n## {degree.capitalize()}\n")[1].split("\n## ")[0]
    found = [m.groups() for m in PAIR.finditer(section)]
    return [(d, e, *(text.replace("\n> ", " ") for text in texts)) for d, e, *texts in found]


@pytest.mark.parametrize("degree", ["minor", "major"])
@pytest.mark.parametrize("doc", sorted(PERTURBERS))
def test_the_pairs_are_what_the_code_makes(doc: str, degree: str) -> None:
    shown = pairs(doc, degree)
    assert len(shown) == 5
    made = {d.dataset.name: d for d in perturb_datasets(sorted({dataset for dataset, *_ in shown}))}
    for dataset, example, before, after in shown:
        (original,) = (e.output for e in made[dataset].dataset.examples if e.id == example)
        variant = f"{PERTURBERS[doc]}.{degree}"
        (text,) = (t.text for t in made[dataset].texts if (t.variant, t.example) == (variant, example))
        assert text is not None
        assert (before, after) == (" ".join(original.split()), " ".join(text.split()))
