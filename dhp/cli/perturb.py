"""`dhp perturb`: write, freeze, show or audit degraded texts.

The texts are made as for a run, by `build_texts`, and then written, frozen as a set, or shown. With --audit
no text is made: `audit_shown` has a table of an existing set, and a line on all that is wrong in it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.language_models import check_filler, estimates_shown
from dhp.cli.options import settings, stated
from dhp.cli.output import say
from dhp.cli.protocol_options import DATASET, DRY_RUN, SEED
from dhp.core.checks import Checked
from dhp.core.errors import InputError
from dhp.core.options import option
from dhp.core.progress import progress_shown
from dhp.core.writing import check_output, write_lines
from dhp.llm.settings import ModelSettings
from dhp.perturb.set_audit import Spread, VariantAudit, audited, is_content
from dhp.perturb.settings import Choice, PerturbModel
from dhp.perturb.shortcut import SHOWS
from dhp.report.document import Column, Edited, FirstThatFits, Part, Strong, Table

if TYPE_CHECKING:
    from dhp.core.records import PerturbedText
    from dhp.perturb.perturbed_dataset import PerturbedDataset


@dataclass(frozen=True)
class PerturbOutput(Checked):
    """What becomes of the texts."""

    parameter = "output"

    out: str | None = option(
        "Write originals and degraded texts to this table, for a judge that another program runs.",
        default=None,
        metavar="FILE.csv|.jsonl",
    )
    freeze: str | None = option(
        "Write a set of degraded texts to this folder, for --perturbed.", default=None, metavar="DIR"
    )
    show: int = option("Print the texts of K examples before and after.", default=0, metavar="K", ge=0)
    audit: str | None = option(
        "Audit a set of degraded texts: statistics and outliers.", default=None, metavar="DIR"
    )

    def check(self, dataset: "Sequence[str]", choice: Choice, *, dry_run: bool) -> None:
        """Raise `InputError` if the texts could not be written, before they are made."""
        from dhp.loaders.released import is_released
        from dhp.perturb.sets import check_free
        from dhp.perturb.texts_table import check_suffix

        inputs = []
        for each in (*dataset, choice.data, choice.suite, choice.perturbed):
            if isinstance(each, str | Path):
                inputs.append(Path(each).resolve())
        # Writing over what is read would destroy it.
        for name, path in (("--out", self.out), ("--freeze", self.freeze)):
            if path is not None and Path(path).resolve() in inputs:
                raise InputError(f"{name} {path}: is the input; choose another one")
        if not (self.out or self.freeze or self.show or dry_run):
            raise InputError("say where the texts go: --out FILE.csv, --freeze DIR, or --show K")
        if self.out is not None:
            check_suffix(self.out)
            check_output(Path(self.out))
        if self.freeze is not None:
            check_free(Path(self.freeze))
            if choice.perturbed is not None and is_released(str(choice.perturbed)):
                raise InputError("--freeze: not needed for a released set, which --perturbed takes as it is")


@click.command(
    cls=Command,
    common="--dataset --field --task --suite --perturber --perturb-model --n --seed --show --out --freeze "
    "--audit --dry-run",
)
@DATASET
@SEED
@DRY_RUN
@settings("output", PerturbOutput)
@settings("choice", Choice)
@settings("settings", ModelSettings)
def perturb(
    dataset: tuple[str, ...],
    seed: int,
    dry_run: bool,
    output: PerturbOutput,
    choice: Choice,
    settings: ModelSettings,
) -> None:
    """Write, freeze, show or audit degraded texts.

    Example: dhp perturb --dataset mini/summeval --show 2
    """
    if output.audit is not None:
        _audit(output.audit)
        return
    output.check(dataset, choice, dry_run=dry_run)
    from dhp.content.own_task import function_task
    from dhp.perturb.builder import build_texts, with_own_task
    from dhp.perturb.content_note import content_notes
    from dhp.perturb.llm.model import perturbing_estimates

    if choice.perturbed is None:
        choice = with_own_task(dataset, choice, (), function_task())  # texts are degraded without one, too

    model = choice.perturb_model.model if isinstance(choice.perturb_model, PerturbModel) else None
    check_filler(settings, (model,), dry_run=dry_run)
    if dry_run:
        context = settings.context()
        # Nothing is asked: texts like the originals stand for those that a model would make.
        parts = build_texts(dataset or None, choice, seed, settings, context, dry=True)
        say(*estimates_shown(perturbing_estimates(parts, choice, settings, context)))
        return
    with progress_shown("texts") as show:
        made = settings.filled(
            lambda context: build_texts(dataset or None, choice, seed, settings, context, progress=show),
        )
    _write(made, output)
    if any(part.usage for part in made):
        say(f"by {model}: {_used(made, settings)}")
    for part in made:
        say(*content_notes(part), *_before_and_after(part, output.show))
        if part.left_out:
            say(f"{part.dataset.name}: not in the set: {', '.join(part.left_out)}")
        for line in _stand_ins(part):
            say(f"{part.dataset.name}: {line}")


def _used(made: "Sequence[PerturbedDataset]", settings: ModelSettings) -> str:
    """The calls and tokens that the perturb model took, and what they cost."""
    used = Counter[str]()
    for part in made:
        used.update(part.usage)
    asked, answered = used["prompt_tokens"], used["completion_tokens"]
    cost = settings.prices.cost(asked, answered)
    shown = "" if cost is None else f", cost {cost:,.4g}"
    return f"{used['calls']:,} calls, {asked + answered:,} tokens{shown}"


def _audit(folder: str) -> None:
    """Print figures and outliers of a set, which nothing else may be asked with."""
    others = [name for name in stated() if name != "--audit"]
    if others:
        raise InputError(f"{others[0]}: cannot be used with --audit, which only looks at a perturbation set")
    from dhp.perturb.sets import read_set

    say(*audit_shown(list(read_set(Path(folder)).values())))


def _write(made: "Sequence[PerturbedDataset]", output: PerturbOutput) -> None:
    from dhp.perturb.sets import write_set
    from dhp.perturb.texts_table import table_lines

    originals = count = without = 0
    for part in made:
        originals += len(part.dataset.examples)
        for text in part.texts:
            if text.text is None:
                without += 1
            else:
                count += 1
    also = f", {without} not applicable" if without else ""
    if output.out is not None:
        write_lines(Path(output.out), table_lines(made, output.out))
        say(f"{originals} originals and {count} degraded texts written to {output.out}{also}")
        say("next: have the column output rated, beside example, variant and level; then dhp analyze LOG")
    if output.freeze is not None:
        write_set(Path(output.freeze), made)
        say(f"{count} texts frozen in {output.freeze}{also}")


def _before_and_after(part: "PerturbedDataset", count: int) -> Iterator[Part]:
    """The first examples, each with its degraded texts."""
    from dhp.report.terminal import before_after

    levels = {variant.name: variant.level for variant in part.variants}
    copies: dict[str, list[PerturbedText]] = {}
    for copy in part.texts:
        copies.setdefault(copy.example, []).append(copy)
    for example in part.dataset.examples[:count]:
        yield from ("", Strong(f"{part.dataset.name} {example.id}"))
        yield Edited("original", [("=", example.output)])
        for copy in copies.get(example.id, []):
            text = copy.text or f"({copy.reason})"
            edits = f"{copy.audit.made} edits" if copy.audit and copy.audit.made is not None else ""
            # The level says how two texts are compared: by letters, by words or by sentences.
            yield before_after(copy.variant, example.output, text, levels[copy.variant], edits)


def _edits(audit: VariantAudit) -> str:
    return "–" if audit.asked is None else f"{audit.made}/{audit.asked}"


def _median(spread: Spread | None) -> float | None:
    return None if spread is None else spread.median


def _range(spread: Spread | None, form: str) -> str:
    return "–" if spread is None else f"{spread.min:{form}} to {spread.max:{form}}"


def _form(form: str) -> Callable[[float | None], str]:
    return lambda value: "–" if value is None else f"{value:{form}}"


def _auc(audit: VariantAudit) -> str:
    """How well copies are told from originals without reading, if the kind changes what a text says.

    Damage to the form of a text always shows.
    """
    if not is_content(audit.variant):
        return "form"
    return "–" if audit.shortcut is None else f"{audit.shortcut.auc:.2f}"


_COLUMNS: tuple[Column[VariantAudit], ...] = (
    Column("variant", lambda a: a.variant.name, names=True, right=False),
    Column("texts", lambda a: a.applicable, words=lambda a: f"{a.applicable}/{a.n}"),
    Column(
        "reached %",
        lambda a: 100 * a.applicable / a.n if a.n else None,
        words=lambda a: f"{100 * a.applicable / a.n:.0f}" if a.n else "–",
    ),
    Column("AUC", lambda a: a.shortcut.auc if a.shortcut else None, words=_auc),
    Column("edits", lambda a: a.made, words=_edits),
    Column("similar", lambda a: _median(a.similarity), _form(".2f")),
    Column(
        "from – to", lambda a: a.similarity and a.similarity.min, words=lambda a: _range(a.similarity, ".2f")
    ),
    Column("length %", lambda a: _median(a.length_change), _form("+.0f")),
    Column(
        "from – to %",
        lambda a: a.length_change and a.length_change.min,
        words=lambda a: _range(a.length_change, "+.0f"),
    ),
    Column("same", lambda a: a.duplicates),
    Column("unchanged", lambda a: a.unchanged),
)
_DROPPED_FIRST = ("reached %", "from – to %", "unchanged", "same", "from – to", "edits")
"""Columns that a narrow terminal goes without, in this order; what is wrong in them is also said below."""


def audit_shown(parts: "Sequence[PerturbedDataset]") -> list[Part]:
    """A table for each dataset, and below it what to look at."""
    shown: list[Part] = []
    for part in parts:
        audits = audited(part)
        forms: list[list[Part]] = []  # from all columns to the fewest
        # The first form drops no column, the last one all of `_DROPPED_FIRST`.
        for count in range(len(_DROPPED_FIRST) + 1):
            forms.append([_table(part, audits, _DROPPED_FIRST[:count])])
        shown += ["", FirstThatFits(forms)]
        for audit in audits:
            shown += [f"  {line}" for line in _remarks(audit)]
        if not all(is_content(audit.variant) for audit in audits):
            shown.append("  AUC form: that kind shows by its nature, and is exempt")
        if part.left_out:
            shown.append(f"  not in the set: {', '.join(part.left_out)}")
        shown += [f"  {line}" for line in _stand_ins(part)]
    return shown


def _stand_ins(part: "PerturbedDataset") -> list[str]:
    from dhp.report.columns import stand_ins

    return stand_ins((v.name, v.stand_in) for v in part.variants)


def _table(
    part: "PerturbedDataset", audits: Sequence[VariantAudit], dropped: Collection[str]
) -> Table[VariantAudit]:
    name, n = part.dataset.name, len(part.dataset.examples)
    title = f"{name}  ·  suite {part.suite}  ·  seed {part.seed}  ·  n = {n}"
    columns = [column for column in _COLUMNS if column.heading not in dropped]
    return Table(title, columns, audits)


def _remarks(audit: VariantAudit) -> list[str]:
    """What the figures of a variant leave unsaid, or say too softly, one line each."""
    name, lines = audit.variant.name, []
    if audit.unchanged:
        rule = "as a control may be" if audit.variant.level == "control" else "must be 0"
        lines.append(f"{name}: {audit.unchanged} texts equal their original ({rule})")
    if audit.made is not None and audit.asked is not None and audit.made < audit.asked:
        lines.append(f"{name}: {audit.made} of {audit.asked} edits made")
    if audit.shortcut is not None and audit.shortcut.auc > SHOWS:
        lines.append(
            f"{name}: told from originals without reading, by letters alone (AUC {audit.shortcut.auc:.2f}, "
            f"above {SHOWS}): read some of its texts"
        )
    if audit.duplicates:
        lines.append(f"{name}: {audit.duplicates} texts equal the text of another example")
    for what, reasons in (("not applicable", audit.not_applicable), ("answers rejected", audit.rejected)):
        if reasons:
            lines.append(f"{name}: {what}: {_counted(reasons)}")
    lines += [f"{name}, example '{example}': {why}" for example, why in audit.outliers.items()]
    return lines


def _counted(reasons: Mapping[str, int]) -> str:
    """Reasons with how often each was given, without what follows after a semicolon: the remedy."""
    counted = []
    for reason, count in reasons.items():
        what, _, _ = reason.partition(";")
        counted.append(f"{count} × {what}")
    return "; ".join(counted)
