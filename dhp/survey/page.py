"""Pages for experts: the survey that asks them, and the weights that they gave as heat maps."""

from dhp.core.diff import diff
from dhp.core.specs import Weights
from dhp.report.web import page
from dhp.survey.answers import ROLE_LENGTH, SCHEMA
from dhp.survey.issues import Survey
from dhp.survey.weights_table import about


def survey_page(survey: Survey) -> str:
    """The page of a survey: instructions, definitions, examples, answers saved as a file.

    The same survey gives the same page. It asks nothing of any network and runs no script but its own
    (content security policy); every text in it is escaped.
    """
    return page(
        "survey.html",
        styles=("survey.css",),
        scripts=("survey.js",),
        survey=survey,
        diff=diff,
        schema=SCHEMA,
        role_length=ROLE_LENGTH,
    )


def weights_page(weights: Weights) -> str:
    """The weights of each task as a heat map, on one self-contained page without script."""
    return page("weights.html", styles=("maps.css",), weights=weights, about=about(weights))
