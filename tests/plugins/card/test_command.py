"""`dhp report --card` on a finished run, and on what is none."""

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_a_card_in_three_forms(dhp: Run) -> None:
    judge = ("--model", "mock/ideal", "--dataset", "mini/story_cloze", "--n", 12, "--controls")
    assert dhp("benchmark", *judge, "--out", "one").code == 0
    done = dhp("report", "one", "--card")
    assert done.code == 0, done.err
    assert "mock/ideal: notices missing letters" in done.out
    assert json.loads(Path("one/card.json").read_text("utf-8"))[0]["judge"] == "mock/ideal"
    assert dhp("report", "one", "--card", "--out", "apart").code == 0
    for name in ("card.html", "card.md", "card.json"):
        assert Path("apart", name).read_bytes() == Path("one", name).read_bytes()
    for arguments, message in (
        (("report", "nowhere", "--card"), "nowhere: holds no run"),
        (("report", "one", "--card", "--out", "one/card.md"), "--out one/card.md: is a file; allowed with"),
    ):
        refused = dhp(*arguments)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert message in refused.err
