"""The texts of the probes: the variants that each probe needs, as a suite of perturbers."""

from collections.abc import Sequence
from dataclasses import replace

from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, suggest
from dhp.core.records import parse_variant
from dhp.core.specs import PerturberUse, Suite
from dhp.perturb.builder import fully_dosed
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import builtin_perturbers
from dhp.plugins.probes.options import STABILITY_DOSE, Probe
from dhp.plugins.probes.perturbers import LAYOUTS

DOSES = (1, 2, 4, 8)
"""Padding sentences, and damages, in a text. Chosen: each is twice the one before."""
LABELS = {
    "layout.bullets": "as bullets",
    "layout.paragraphs": "other paragraphs",
    "layout.bold": "first sentence bold",
    "item_order": "order of equal items",
    "paraphrase": "other words",
}
"""Change -> what readers see."""


def probe_suite(probes: Sequence[Probe], damage: str) -> Suite:
    """The variants of these probes as a suite.

    Raises `InputError` for damage that is no built-in rule with a parameter `k`.
    """
    uses: dict[str, PerturberUse] = {}
    if "invariance" in probes:
        uses["layout"] = PerturberUse(level="control", method="rule", degrees=LAYOUTS)
        uses["item_order"] = PerturberUse(level="control", method="rule")
        uses["paraphrase"] = PerturberUse(level="control", method="llm", params={"count": "all"})
    if "verbosity" in probes:
        # The sentences are those of the attack of this name; only their number is set here.
        params = read_probes("attacks").perturbers["padding"].params or {}
        degrees = {f"k{k}": {"texts": params["texts"], "count": k} for k in DOSES}
        uses["padding"] = PerturberUse(level="attack", method="rule", degrees=degrees)
    if "calibration" in probes:
        uses[damage] = _damage_use(damage, DOSES)
    # Calibration has this dose among its own.
    elif "stability" in probes:
        uses[damage] = _damage_use(damage, [STABILITY_DOSE])
    source = "Rules and a prompt of this package; doubling doses"
    return Suite(suite="probes", source=source, perturbers=uses)


def _damage_use(damage: str, doses: Sequence[int]) -> PerturberUse:
    able = []  # perturbers that take a number of damages
    for name, known in builtin_perturbers().items():
        if known.function and "k" in known.parameters:
            able.append(name)
    if damage not in able:
        raise InputError(f"`damage` '{damage}': takes no number of damages; {suggest(damage, able)}")
    level = builtin_perturbers()[damage].level
    degrees = {f"k{k}": {"k": k} for k in doses}
    return PerturberUse.model_validate({"level": level, "method": "rule", "degrees": degrees})


def without_lower_doses(part: PerturbedDataset) -> PerturbedDataset:
    """The dataset without texts that got less than their dose: under its name they would bend the curve."""
    texts = []
    for text in part.texts:
        if parse_variant(text.variant).dose:
            texts.append(fully_dosed(text))
        else:
            texts.append(text)
    return replace(part, texts=tuple(texts))
