"""Options on which texts a command is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.cli.option_groups import COUNT, SEED, SUITE, option, pair_map
from dhp.core.errors import InputError, suggest

if TYPE_CHECKING:
    from dhp.perturb.choice import Choice
    from dhp.perturb.dose_suites import Doses
    from dhp.perturb.model_config import PerturbModel

_OUR_FIELDS = (
    "id",
    "source",
    "output",
    "question",
    "wrong_ending",
    "perturbed",
    "kind",
    "degree",
    "level",
    "control",
    "reference",
    "language",
    "source_language",
)


@dataclass(frozen=True)
class TextOptions:
    """Which texts."""

    dataset: tuple[str, ...] = option(
        "--dataset",
        multiple=True,
        metavar="NAME|FILE",
        help="mini (default), mini/NAME, NAME, all, FILE.json|.jsonl|.csv|.tsv|.parquet|.zip, "
        "'DIR/*.parquet', s3://... or hf:ORG/NAME.",
    )
    data: str | None = option(
        "--data", metavar="PATH", help="Where the dataset NAME lies as its owners publish it."
    )
    task: str | None = option("--task", metavar="NAME|FILE.yaml", help="What the texts of your own file are.")
    field: tuple[str, ...] = option(
        "--field",
        multiple=True,
        metavar="OURS=THEIRS",
        help="Column of your own file, or path into a nested one, e.g. output=summary, output=a.b[0].",
    )
    where: tuple[str, ...] = option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Rows of your own file that count, e.g. split=test; repeatable.",
    )
    better: str | None = option(
        "--better",
        metavar="COLUMN",
        help="Column that says which of output and perturbed is the better text.",
    )
    suite: str | None = option("--suite", **SUITE)
    perturber: tuple[str, ...] = option(
        "--perturber",
        multiple=True,
        metavar="MODULE:FUNCTION",
        help="A perturber of your own; may be repeated.",
    )
    perturb_model: str | None = option(
        "--perturb-model", metavar="MODEL", help="Makes the perturbations by language model."
    )
    perturb_steps: str = option(
        "--perturb-steps", default="written", metavar="written|auto", help="Adjustment steps in its prompts."
    )
    perturb_prompts: str | None = option(
        "--perturb-prompts", metavar="DIR", help="Prompt files of your own for it."
    )
    perturb_tokens: int | None = option(
        "--perturb-tokens", type=int, metavar="K", help="Most tokens of one text; default: by its length."
    )
    perturbed: str | None = option(
        "--perturbed", metavar="DIR|hf:ORG/NAME", help="A perturbation set, of your own or released."
    )
    text_language: str | None = option(
        "--text-language",
        metavar="CODE",
        help="Language of the texts of your own file, e.g. de, where no column language says it.",
    )
    controls: bool | None = option(
        "--controls/--no-controls",
        help="Add changes that must not lower a score; default: where judges compute, and no call is made.",
    )
    attacks: bool = option("--attacks", default=False, help="Add changes that must not raise a score.")
    doses: tuple[str, ...] = option(
        "--doses",
        multiple=True,
        metavar="[PERTURBER=]K,K,...",
        help="Degrade in each of these doses, e.g. 1,2,5,10.",
    )
    n: int | None = option("--n", **COUNT)
    seed: int = option("--seed", **SEED)

    def choice(self) -> "Choice":
        """For `dhp.run` and `dhp.perturb_datasets`."""
        from dhp.perturb.registry import load_perturber

        return {
            "data": self.data,
            "task": self.task,
            "fields": field_map(self.field) | ({"better": self.better} if self.better else {}),
            "where": where_map(self.where),
            "n": self.n,
            "suite": self.suite,
            "perturbers": [load_perturber(reference) for reference in self.perturber],
            "perturb_model": self._perturb_model(),
            "perturbed": self.perturbed,
            "text_language": self.text_language,
            "controls": self.controls,
            "attacks": self.attacks,
            "doses": _doses(self.doses),
        }

    def _perturb_model(self) -> "PerturbModel | None":
        if self.perturb_model is None:
            given = {
                "--perturb-steps": self.perturb_steps != "written",
                "--perturb-prompts": self.perturb_prompts,
                "--perturb-tokens": self.perturb_tokens,
            }
            if without := [name for name, value in given.items() if value]:
                raise InputError(f"{without[0]}: is for a language model; give one by --perturb-model")
            return None
        from dhp.perturb.model_config import PerturbModel

        return PerturbModel(self.perturb_model, self.perturb_steps, self.perturb_prompts, self.perturb_tokens)


def _doses(given: Sequence[str]) -> "Doses | None":
    """`K,K,...` for all perturbers, or `PERTURBER=K,K,...` for those named."""
    named: dict[str, list[int]] = {}
    for entry in given:
        name, _, amounts = entry.rpartition("=")
        if name in named:
            raise InputError(f"--doses '{entry}': doses of '{name or 'all perturbers'}' are given twice")
        try:
            named[name] = [int(k) for k in amounts.split(",")]
        except ValueError:
            raise InputError(f"--doses '{entry}': must have the form K,K,... or PERTURBER=K,K,...") from None
    if "" in named and len(given) > 1:
        raise InputError("--doses: give doses for all perturbers once, or for each by PERTURBER=K,K,...")
    return named.get("", named) or None


def where_map(conditions: Sequence[str]) -> dict[str, list[str]]:
    """`COLUMN=VALUE` conditions as a mapping from column to values."""
    where: dict[str, list[str]] = {}
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not (column and equals):
            raise InputError(f"--where '{condition}': must have the form COLUMN=VALUE, e.g. split=test")
        where.setdefault(column, []).append(value)
    return where


def field_map(pairs: Sequence[str]) -> dict[str, str]:
    """`OURS=THEIRS` pairs as a mapping."""
    from difflib import get_close_matches

    fields = pair_map("--field", pairs, "OURS=THEIRS", "output=summary")
    for ours, theirs in fields.items():
        if ours not in _OUR_FIELDS and get_close_matches(ours, _OUR_FIELDS, n=1, cutoff=0.75):
            raise InputError(
                f"--field '{ours}={theirs}': unknown field '{ours}'; {suggest(ours, _OUR_FIELDS)}"
            )
    return fields
