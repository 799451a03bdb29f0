"""Small sets to review."""

from dhp.content.catalog import read_task
from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.loaders.dataset import Dataset
from dhp.perturb.perturbed_dataset import PerturbedDataset

TYPOS = Variant("typos", "typos", "character", "rule", None, {"k": 1})


def words(count: int) -> str:
    """A text of so many words."""
    return " ".join(f"word{number}" for number in range(count))


def set_of(
    n: int, text: str = "A good text about a bridge", variants: tuple[Variant, ...] = (TYPOS,)
) -> PerturbedDataset:
    """`n` examples, whose copies end in an x."""
    examples = tuple(Example(f"e{number}", "", f"{text} {number}.") for number in range(n))
    texts = tuple(
        PerturbedText(e.id, variant.name, f"{e.output}x", audit=Audit(1, 1, 1, 0.97))
        for variant in variants
        for e in examples
    )
    return _set(examples, variants, texts)


def one_text(example: Example, variant: Variant, text: PerturbedText) -> PerturbedDataset:
    """An example with its only copy."""
    return _set((example,), (variant,), (text,))


def _set(
    examples: tuple[Example, ...], variants: tuple[Variant, ...], texts: tuple[PerturbedText, ...]
) -> PerturbedDataset:
    dataset = Dataset("own", examples, read_task("summarization"), None, examples)
    return PerturbedDataset(dataset, variants, (), texts, "own", 0)
