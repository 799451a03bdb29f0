"""Building of degraded texts from names and options."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from dhp.core.keywords import check_whole, keywords_of
from dhp.core.progress import Progress
from dhp.core.records import Variant, parse_variant
from dhp.core.terminal_progress import progress_of
from dhp.llm.cached_model import RequestContext
from dhp.llm.settings import ModelSettings
from dhp.loaders.dataset import Dataset
from dhp.perturb.builder import Builder
from dhp.perturb.choice import Data, check_choice, found_datasets, part_of
from dhp.perturb.model_config import open_perturb_model
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.probes.choice import chosen_probes
from dhp.perturb.registry import find_perturbers
from dhp.perturb.settings import Choice


@dataclass(frozen=True)
class TextSpec(Choice):
    """What `perturb_datasets` is asked."""

    dataset: Data = None
    """`mini` (the six bundled sets), `mini/NAME`, a NAME of the benchmark, `all` (the six of the benchmark),
    a user's file (`.jsonl`, `.csv`, `.parquet`), `hf:ORG/NAME`, a DataFrame, a list of dictionaries, a
    `Dataset`, or several. Default: those of the perturbation set, else `mini`."""
    _: KW_ONLY
    seed: int = 0
    """Seed of every random choice."""
    settings: ModelSettings = ModelSettings()
    """Settings of the perturb model: address, rate limits, cost limits."""
    progress: Progress | bool | None = True
    """True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`."""

    def __post_init__(self) -> None:
        Choice.__post_init__(self)
        check_whole("seed", self.seed)


@keywords_of(TextSpec)
def perturb_datasets(spec: TextSpec) -> list[PerturbedDataset]:
    """Find datasets and degrade their texts; one `PerturbedDataset` each, in their order.

    Parameters
    ----------
    dataset, seed, settings, progress
        The texts, the seed of every random choice, how the perturb model is reached, and whether progress is
        shown: the fields of `dhp.perturb.build.TextSpec`.
    data, task, fields, where, n, min_characters, text_language
        Which of these texts: fields of `dhp.Choice`.
    suite, perturbers, perturb_model, perturbed, controls, attacks, doses
        How they are degraded: fields of `dhp.Choice`.

    Raises
    ------
    InputError
        For anything wrong with these, in one line; also where no answer of the perturb model passes its
        check.
    StoppedEarly
        At a limit of `settings`.
    """
    with progress_of(spec.progress) as show:
        return build_texts(
            spec.dataset, spec, spec.seed, spec.settings, spec.settings.context(), progress=show
        )


def build_texts(
    dataset: Data,
    choice: Choice,
    seed: int,
    settings: ModelSettings,
    context: RequestContext,
    *,
    progress: Progress | None = None,
    dry: bool = False,
    check: Callable[[Dataset, Sequence[Variant]], object] | None = None,
) -> list[PerturbedDataset]:
    """The texts of `perturb_datasets`, with a request context that judges share.

    Parameters
    ----------
    dataset, seed, settings, progress
        As in `perturb_datasets`.
    choice
        Which texts, and how they are degraded.
    context
        The store, the budget and the rate limits under which the perturb model is asked.
    dry
        Ask nothing: a text like the original stands for each one that is not stored.
    check
        Called with each dataset and its variants before any text is made, to refuse what cannot be.

    Returns
    -------
    list of PerturbedDataset
        In the order of the datasets.

    Raises
    ------
    InputError, StoppedEarly
        As in `perturb_datasets`.
    """
    own = (choice.perturbers,) if callable(choice.perturbers) else tuple(choice.perturbers)
    check_choice(choice, own)
    datasets, perturbation_set = found_datasets(dataset, choice, seed)
    model = None
    if given := choice.perturb_model:
        model = open_perturb_model(given, settings, context)
    probes = chosen_probes(choice.controls, choice.attacks)
    registry = find_perturbers(own, [d.suite for d in datasets if d.suite])
    build = Builder(own, registry, seed, model, probes, choice.doses, dry, progress, context.executor)
    if perturbation_set is None:
        build.check(datasets, check)
    for each in datasets:
        if check is not None and (kept := part_of(perturbation_set, each)):
            check(each, kept.variants)
    perturbed = list(build.all(datasets, perturbation_set))
    context.stop_if_waiting(whole=False)
    if perturbation_set is None:
        _note_left_out(perturbed)
    return perturbed


def _note_left_out(perturbed: Sequence[PerturbedDataset]) -> None:
    """Say once which perturbers are left out for want of a perturb model."""
    if names := sorted({parse_variant(name).perturber for part in perturbed for name in part.left_out}):
        logging.getLogger("dhp").warning(
            "left out, as a language model makes them: %s; give one by `perturb_model`", ", ".join(names)
        )
