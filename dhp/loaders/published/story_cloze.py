"""Story Cloze Test: the owners' CSV file, one story a row."""

from collections.abc import Iterator
from pathlib import Path

from dhp.core.files import inner_file
from dhp.core.records import Example
from dhp.core.specs import Card
from dhp.core.tables import read_csv

_ID = "InputStoryid"
_SENTENCES = tuple(f"InputSentence{i}" for i in range(1, 5))
_ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
_ANSWER = "AnswerRightEnding"


def read_story_cloze(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each story: the right ending is the output, the other one `wrong_ending`."""
    table = read_csv(inner_file(path, (".csv",), "the Story Cloze Test as CSV"))
    table.need((*_SENTENCES, *_ENDINGS, _ANSWER))
    for number, row in enumerate(table.rows, 1):
        answer = row.text(_ANSWER).strip()
        if answer not in ("1", "2"):
            raise row.fault(f"column '{_ANSWER}' is '{answer}'; allowed: 1, 2")
        right, wrong = _ENDINGS if answer == "1" else reversed(_ENDINGS)
        yield (
            row.place,
            Example(
                id=row.text(_ID).strip() if _ID in table.columns else str(number),
                source=" ".join(row.text(column).strip() for column in _SENTENCES),
                output=row.text(right).strip(),
                fields={"wrong_ending": row.text(wrong).strip()},
            ),
        )
