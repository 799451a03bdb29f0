"""The page of a survey."""

from pathlib import Path

from dhp.core.diff import diff
from dhp.plugins.survey.answers import ROLE_LENGTH, SCHEMA
from dhp.plugins.survey.issues import Survey
from dhp.report.web import page

_ASSETS = Path(__file__).parent / "assets"


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
