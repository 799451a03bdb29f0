"""Small sets to review."""

from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.perturb.sets import SetPart

TYPOS = Variant("typos", "typos", "character", "rule", None, {"k": 1})


def words(count: int) -> str:
    """A text of so many words."""
    return " ".join(f"word{number}" for number in range(count))


def set_of(
    n: int, text: str = "A good text about a bridge", variants: tuple[Variant, ...] = (TYPOS,)
) -> SetPart:
    """`n` examples, whose copies end in an x."""
    examples = tuple(Example(f"e{number}", "", f"{text} {number}.") for number in range(n))
    texts = tuple(
        PerturbedText(e.id, variant.name, f"{e.output}x", audit=Audit(1, 1, 1, 0.97))
        for variant in variants
        for e in examples
    )
    return SetPart("own", "summarization", "own", 0, examples, variants, (), texts, {})
