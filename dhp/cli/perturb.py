"""`dhp perturb`: make the degraded texts, to look at or to keep."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dhp.cli.grouped import grouped
from dhp.cli.options import TextOptions
from dhp.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from dhp.perturbed import PerturbedDataset


@grouped(texts=TextOptions)
def perturb(
    texts: TextOptions,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.jsonl", help="Write the degraded texts here.")
    ] = None,
    show: Annotated[
        int, typer.Option("--show", metavar="K", min=0, help="Print before and after of K examples.")
    ] = 0,
) -> None:
    """Write or show degraded texts.

    Example: dhp perturb --dataset mini/summeval --show 2
    """
    choice = texts.choice()
    given = (*texts.dataset, texts.data, texts.suite)
    inputs = [Path(each).resolve() for each in given if each]
    if out is not None and Path(out).resolve() in inputs:
        raise InputError(f"--out {out}: is the input; choose another file")
    if out is None and not show:
        raise InputError("say where the texts go: --out FILE.jsonl, or --show K")
    from rich.console import Console

    from dhp.files import write_whole
    from dhp.perturbed import perturb_datasets
    from dhp.runfolder import perturbed_lines

    made = perturb_datasets(texts.dataset, seed=texts.seed, **choice)
    if out is not None:
        lines = perturbed_lines([(p.dataset.name, p.variants, p.texts) for p in made])
        write_whole(Path(out), lambda path: path.write_text(lines, encoding="utf-8"))
        print(f"{sum(len(p.texts) for p in made)} texts written to {out}")
    console = Console()
    for part in made:
        _show(part, show, console)
        if part.left_out:
            names = ", ".join(v.name for v in part.left_out)
            print(f"{part.dataset.name}: left out, they need a language model: {names}")


def _show(part: "PerturbedDataset", count: int, console: "Console") -> None:
    from dhp.report import before_after
    from dhp.text import printable

    texts: dict[str, list[tuple[str, str, str]]] = {}
    for t in part.texts:
        edits = f"{t.audit.made} edits" if t.audit and t.audit.made is not None else ""
        texts.setdefault(t.example, []).append((t.variant, t.text or f"({t.reason})", edits))
    for example in part.dataset.examples[:count]:
        console.print(f"\n{printable(f'{part.dataset.name} {example.id}')}", style="bold", markup=False)
        console.print(f"original: {printable(example.output)}", markup=False, highlight=False)
        for variant, text, edits in texts.get(example.id, []):
            console.print(before_after(variant, example.output, text, edits))
