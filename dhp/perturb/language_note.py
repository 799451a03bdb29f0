"""What a run loses to the languages of its texts."""

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
    lost = dict[str, int]()  # variant -> texts in languages that it cannot do
    for variant in variants:
        lost[variant.name] = 0
        if variant.method == "rule":
            perturber = perturbers[variant.made_by]
            for code, count in spoken.items():
                if perturber.language_fault(code, by_suite=not variant.stand_in) is not None:
                    lost[variant.name] += count
    if not any(lost.values()):
        return None

    # The degrees of a perturber are lost together: each is named once.
    gone = dict[str, None]()
    left = 0
    for variant in variants:
        count = lost[variant.name]
        if count == total:
            gone[variant.perturber] = None
            continue
        left += 1
        if count:
            gone[f"{variant.perturber} ({count} of {total} texts)"] = None

    languages = []
    for code, count in spoken.most_common():
        if code is not None:
            languages.append(f"{language_name(code)} {count}")
    remedy = ""
    if spoken[None]:
        languages.append(f"not declared {spoken[None]}")
        remedy = "; set `text_language`, a column `language`, or output_language in the task"
    return (
        f"{dataset.name}: language of the texts: {', '.join(languages)}: not applicable: {', '.join(gone)}; "
        f"left: {left} of {len(variants)} variants{remedy}"
    )
