"""Check of a suite against the languages of the texts."""

from collections import Counter
from collections.abc import Sequence

from dhp.core.language import language_name
from dhp.core.records import Variant
from dhp.core.registry import Registry
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import Perturber
from dhp.perturb.others import example_language


def language_note(
    dataset: Dataset, variants: Sequence[Variant], perturbers: Registry[Perturber]
) -> str | None:
    """Which variants are lost to the languages of the texts and what is left; None where nothing is lost.

    Parameters
    ----------
    dataset
        Its examples are in the languages that their fields, or the dataset, say.
    variants
        Those that are to be made; only those by rule are for certain languages.
    perturbers
        The perturbers by name.
    """
    spoken = Counter(example_language(e, dataset.language) for e in dataset.examples)
    total = spoken.total()
    lost: dict[str, int] = {}
    for variant in variants:
        if variant.method == "rule":
            able = perturbers[variant.perturber]
            lost[variant.name] = sum(n for code, n in spoken.items() if able.language_fault(code) is not None)
    if not any(lost.values()):
        return None
    named = [f"{language_name(code)} {n}" for code, n in spoken.most_common() if code is not None]
    if spoken[None]:
        named.append(f"not declared {spoken[None]}")
    faults = dict.fromkeys(
        v.perturber if lost[v.name] == total else f"{v.perturber} ({lost[v.name]} of {total} texts)"
        for v in variants
        if lost.get(v.name)
    )
    left = sum(lost.get(v.name, 0) < total for v in variants)
    say = "; set `text_language`, a column `language`, or output_language in the task" if spoken[None] else ""
    return (
        f"{dataset.name}: language of the texts: {', '.join(named)}: not applicable: {', '.join(faults)}; "
        f"left: {left} of {len(variants)} variants{say}"
    )
