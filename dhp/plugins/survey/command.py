"""`dhp survey`: write the page of a survey, or read its answers."""

from pathlib import Path

import click

from dhp.cli.command import Command
from dhp.cli.options import setting
from dhp.cli.output import say
from dhp.cli.protocol_options import CHART
from dhp.core.diff import diff
from dhp.core.errors import InputError
from dhp.core.writing import check_output, write_lines
from dhp.perturb.settings import Choice
from dhp.plugins.survey.answers import ROLE_LENGTH, SCHEMA
from dhp.plugins.survey.survey import Survey
from dhp.report.web import page

_ASSETS = Path(__file__).parent / "assets"


@click.group()
def weights() -> None:
    """Expert weights: ask experts, count their votes."""


@weights.command(cls=Command)
@setting(Choice, "task")
@click.option("--dataset", metavar="FILE", help="Texts of the task; default: the bundled ones.")
@setting(Choice, "suite")
@click.option("--out", required=True, metavar="FILE.html", help="The page to write.")
def survey(task: str | None, dataset: str | None, suite: str | None, out: str) -> None:
    """A page that asks an expert which metric of a task each perturbation hurts most; send it to several.

    Example: dhp weights survey --task summarization --out survey.html
    """
    from dhp.plugins.survey.survey import make_survey

    if task is None:
        raise InputError("--task: is missing; name the task whose metrics are voted on")
    check_output(Path(out))
    made = make_survey(task, dataset, suite)
    write_lines(Path(out), [survey_page(made)])
    say(f"{out}: survey {made.hash}, {len(made.issues)} questions on {', '.join(made.task.metric_names)}")


@weights.command(cls=Command)
@click.argument("answers", nargs=-1, required=True, metavar="FILE.json...")
@click.option("--out", required=True, metavar="FILE.yaml", help="Weights file; named as the file.")
@CHART
def aggregate(answers: tuple[str, ...], out: str, chart: str | None) -> None:
    """Count the experts' votes, each in the FILE saved by one, into a weights file, with their agreement.

    Example: dhp weights aggregate answers/*.json --out weights.yaml
    """
    from dhp.cli.show import weights_shown
    from dhp.content.catalog import read_weights
    from dhp.plugins.survey.answers import aggregate as count
    from dhp.plugins.survey.answers import read_answers, write_weights

    path = Path(out)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"--out {out}: unknown kind of file '{path.suffix}'; allowed: .yaml")
    check_output(path)

    sheets = [read_answers(Path(name)) for name in answers]
    counted = count(sheets, path.stem)
    write_weights(counted, path)
    say(*weights_shown(read_weights(out), chart))

    unanswered = 0
    for sheet in sheets:
        unanswered += list(sheet.answers.values()).count(None)
    if unanswered:
        say(f"note: questions left open, which count for no metric: {unanswered}")


def survey_page(survey: Survey) -> str:
    """The page of a survey: instructions, definitions, examples, answers saved as a file.

    The same survey gives the same page. It asks nothing of any network and runs no script but its own
    (content security policy); every text in it is escaped.
    """
    return page(
        _ASSETS / "survey.html",
        styles=(_ASSETS / "survey.css",),
        scripts=(_ASSETS / "survey.js",),
        survey=survey,
        diff=diff,
        schema=SCHEMA,
        role_length=ROLE_LENGTH,
    )
