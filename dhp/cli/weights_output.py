"""Output of a file of weights."""

from pathlib import Path
from typing import TYPE_CHECKING

from dhp.cli.output import output_console

if TYPE_CHECKING:
    from dhp.core.weight_spec import Weights


def print_weights(read: "Weights", chart: str | None) -> None:
    """Print the matrix of each task, perturbers x metrics, and where it comes from; and draw it."""
    from dhp.core.files import write_lines
    from dhp.core.text import printable
    from dhp.report.weights import about, weights_page, weights_table

    if chart is not None:
        write_lines(Path(chart), [weights_page(read)])
    console = output_console()
    for task, rows in read.tasks.items():
        console.print(weights_table(task, rows))
        console.print()
    for line in about(read):
        print(printable(line))
