"""Expert weights by survey: ask which metric each perturbation hurts most, count the votes.

As in the DHP paper (Wang et al. 2025): each expert names, for every quality issue, the metric that it should
hurt most; the shares of the votes are the weights.
"""

from dhp.survey.agreement import agreement, fleiss_kappa
from dhp.survey.answers import Answers, aggregate, read_answers, write_weights
from dhp.survey.chart import weights_page
from dhp.survey.issues import Issue, Survey, make_survey
from dhp.survey.page import survey_page

__all__ = [
    "Answers",
    "Issue",
    "Survey",
    "aggregate",
    "agreement",
    "fleiss_kappa",
    "make_survey",
    "read_answers",
    "survey_page",
    "weights_page",
    "write_weights",
]
