"""What the languages of the texts cost a run."""

from collections import Counter
from collections.abc import Mapping, Sequence

from dhp.core.language import language_name
from dhp.core.records import Variant
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import Perturber


def language_note(
    dataset: Dataset, variants: Sequence[Variant], perturbers: Mapping[str, Perturber]
) -> str | None:
    """Which variants are lost to the languages of the texts and what is left; None if nothing is lost.

    Only variants by rule are for certain languages.
    """
    spoken = Counter(e.language for e in dataset.examples)
    total = spoken.total()
    lost: dict[str, int] = {}
    for variant in variants:
        if variant.method == "rule":
            able = perturbers[variant.made_by]
            faults = {c: able.language_fault(c, by_suite=not variant.stand_in) for c in spoken}
            lost[variant.name] = sum(n for code, n in spoken.items() if faults[code] is not None)
    if not any(lost.values()):
        return None
    named = [f"{language_name(code)} {n}" for code, n in spoken.most_common() if code is not None]
    if spoken[None]:
        named.append(f"not declared {spoken[None]}")

    # The degrees of a perturber are lost together: each is named once.
    gone = dict[str, None]()
    for variant in variants:
        n = lost.get(variant.name, 0)
        if n == total:
            gone[variant.perturber] = None
        elif n:
            gone[f"{variant.perturber} ({n} of {total} texts)"] = None
    left = sum(lost.get(v.name, 0) < total for v in variants)
    say = "; set `text_language`, a column `language`, or output_language in the task" if spoken[None] else ""
    return (
        f"{dataset.name}: language of the texts: {', '.join(named)}: not applicable: {', '.join(gone)}; "
        f"left: {left} of {len(variants)} variants{say}"
    )
