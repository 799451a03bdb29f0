"""Pass marks as users give them."""

import pytest

from dhp.analysis.config import read_marks
from dhp.analysis.marks import resolved_marks
from dhp.content.own_task import own_metric
from dhp.core.errors import InputError
from dhp.stats.pass_mark import passes

USEFUL = own_metric("usefulness", "1..10")
RISK = own_metric("risk", "10..1")
CHECK = own_metric("check", labels=["fail", "pass"])
GRADE = own_metric("grade", labels=["wrong", "partly right", "right"])


def test_a_mark_is_read_for_all_metrics_or_for_each() -> None:
    assert read_marks(["7"]) == {"": "7"}
    assert read_marks(["a=7", "b=pass"]) == {"a": "7", "b": "pass"}
    for typed in (["a="], ["=7"], ["7", "8"], ["7", "a=3"], ["a=1", "a=2"], ["a=1", "7"]):
        with pytest.raises(ValueError, match="allowed: one mark for all metrics"):
            read_marks(typed)


def test_marks_are_on_the_scale_of_stored_scores() -> None:
    known = [USEFUL, RISK]
    assert resolved_marks(7, ["usefulness", "risk"], known) == {"usefulness": 7, "risk": 4}
    assert resolved_marks({"usefulness": "7.5"}, ["usefulness", "risk"], known) == {"usefulness": 7.5}
    assert resolved_marks("0.5", ["score"], []) == {"score": 0.5}
    assert resolved_marks(None, ["usefulness"], known) == {}


def test_two_labels_bring_their_mark_and_more_than_half_of_the_samples_decide() -> None:
    mark = resolved_marks(None, ["check"], [CHECK])
    assert mark == resolved_marks("Pass", ["check"], [CHECK])
    means = [[sum(samples) / len(samples)] for samples in ([2, 2, 1], [2, 1], [1, 1, 2], [2])]
    assert passes(means, [mark["check"]]).tolist() == [1, 0, 0, 1]
    assert resolved_marks(None, ["grade"], [GRADE]) == {}, "which of three pass is the user's to say"
    grade = resolved_marks("partly right", ["grade"], [GRADE])["grade"]
    assert passes([[1], [2], [3]], [grade]).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("given", "metric", "message"),
    [
        (11, USEFUL, "`pass_mark` 11: is not on the scale of 'usefulness'; allowed: a number from 1 to 10"),
        (
            "pass",
            USEFUL,
            "`pass_mark` pass: is not on the scale of 'usefulness'; allowed: a number from 1 to 10",
        ),
        ("nan", USEFUL, "`pass_mark` nan: is not on the scale"),
        ("rihgt", GRADE, "`pass_mark` rihgt: no label of 'grade'.*'right'"),
        (2, CHECK, "`pass_mark` 2: no label of 'check'; allowed: fail, pass"),
        ({"usefullness": 7}, USEFUL, "unknown metric 'usefullness'"),
    ],
)
def test_a_mark_that_cannot_be_is_refused(given: object, metric: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolved_marks(given, [metric.name], [metric])  # type: ignore[arg-type,attr-defined]
