"""A judge's reasons against its verdicts: what names a change, and the table that follows."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.analysis.named_change import change_of, names_change
from dhp.analysis.reasons import Named, together
from dhp.core.errors import InputError
from dhp.report.findings import reasons_sentence
from dhp.report.reasons_table import reasons_table

BEFORE = "Mary Smith was born in Paris in 1950. She moved to Rome with her brother and opened a shop there."
NUMBER = BEFORE.replace("1950", "1930")
TYPOS = BEFORE.replace("brother", "brothr")
LESS = "Mary Smith was born in Paris in 1950."
CHINESE = ("他于一九五〇年在巴黎出生。", "他于一九三〇年在巴黎出生。")
GERMAN = ("Sie zog mit ihrem Bruder nach Rom.", "Sie zog mit ihrem Onkel nach Rom.")

KIND = "wrong_numbers.minor"
NAMING = [
    ("The year 1930 is wrong: the source has another.", NUMBER, KIND),
    (
        "That she was born in Paris in 1930 is not supported by the source.",
        NUMBER,
        "wrong_numbers.minor",
    ),
    ("It contains a factual error about her birth.", NUMBER, KIND),
    ("There is a misspelled word ('brothr').", TYPOS, "random_typos.minor"),
    ("Good overall, but it has several typos.", TYPOS, "random_typos.minor"),
    ("The text is incomplete: it omits what she did later.", LESS, "sentence_deletion.minor"),
]
NOT_NAMING = [
    (
        "She was born in Paris in 1930 and moved to Rome, as the text tells well.",
        NUMBER,
        "wrong_numbers.minor",
    ),
    ("There are no factual errors in this text.", NUMBER, KIND),
    ("It does not contain any spelling mistakes.", TYPOS, "random_typos.minor"),
    ("The text lacks a title.", NUMBER, KIND),
    ("The shop is described in an awkward way.", NUMBER, KIND),
    ("<think>1930 is wrong.</think>A clear text.", NUMBER, KIND),
    ("", NUMBER, KIND),
]


@pytest.mark.parametrize(("reason", "after", "variant"), NAMING)
def test_a_fault_that_quotes_the_change_or_its_kind_names_it(reason: str, after: str, variant: str) -> None:
    assert names_change(reason, variant, change_of(BEFORE, after))


@pytest.mark.parametrize(("reason", "after", "variant"), NOT_NAMING)
def test_a_text_told_again_or_praised_names_nothing(reason: str, after: str, variant: str) -> None:
    assert not names_change(reason, variant, change_of(BEFORE, after))


def test_other_languages_and_kinds_of_ones_own() -> None:
    assert names_change("“一九三〇年”与原文不符。", "year", change_of(*CHINESE))
    assert not names_change("他于一九三〇年在巴黎出生，叙述清楚。", "year", change_of(*CHINESE))
    assert names_change("Der Onkel ist falsch, es war der Bruder.", "relative", change_of(*GERMAN))
    assert not names_change("Sie zog mit ihrem Onkel nach Rom.", "relative", change_of(*GERMAN))
    assert names_change("An unsupported claim is made in the last step.", "unsupported_claim", None)
    assert not names_change("Every claim is wrong.", "unsupported_claim", None)


def recorded(rows: list[tuple[str, str, float, str]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["example", "variant", "score", "reason"])
    texts = {"original": BEFORE, KIND: NUMBER}
    return table.assign(metric="quality", text=table["variant"].map(texts))


def test_reasons_and_texts_of_a_table_give_the_table_of_verdict_and_reason() -> None:
    """Four pairs by hand: one in each cell, and one original whose reason names the year by chance."""
    named, other = "The year 1930 is wrong.", "The style is odd."
    scores = {"a": (5, 2, named), "b": (5, 2, other), "c": (4, 4, named), "d": (4, 4, other)}
    rows = []
    for example, (good, bad, reason) in scores.items():
        praise = "A factual error may be in it." if example == "d" else "A fine text."
        rows += [(example, "original", good, praise), (example, KIND, bad, reason)]
    (result,) = dhp.analyze(recorded(rows))
    assert result.reasons == {KIND: Named(1, 1, 1, 1, 0.25)}
    again = dhp.Results.from_json(json.loads(dhp.Results([result]).to_json()), "again")[0]
    assert again.reasons == result.reasons
    sentence = reasons_sentence(result.reasons[KIND])
    assert (
        sentence == "sees 50% of damaged texts; its reason names the change in 50% of these (by chance 25%)"
    )


def test_what_was_left_unread_is_neither_seen_nor_named() -> None:
    rows = []
    for example in "abc":
        rows += [(example, "original", 5, "Fine."), (example, KIND, 2, "The year 1930 is wrong.")]
    table = recorded(rows).assign(status="scored")
    table.loc[1, ["score", "status", "reason"]] = [None, "refused", None]
    (result,) = dhp.analyze(table)
    cells = result.reasons[KIND]
    assert (cells.seen_named, cells.neither, cells.texts) == (2, 1, 3)


def test_of_several_samples_most_decide() -> None:
    rows = []
    for sample, reason in enumerate(["The year 1930 is wrong.", "The year 1930 is wrong.", "A fine text."]):
        rows += [("a", "original", 5, "Fine.", sample), ("a", "x", 2, reason, sample)]
    table = pd.DataFrame(rows, columns=["example", "variant", "score", "reason", "sample"])
    table = table.assign(metric="quality", text=table["variant"].map({"original": BEFORE, "x": NUMBER}))
    (result,) = dhp.analyze(table)
    assert result.reasons["x"].seen_named == 1


def test_answers_that_differ_by_their_numbers_are_no_reasons() -> None:
    """Words that are the same of every text name nothing, though they speak of faults."""
    rows: list[tuple[str, str, float, str]] = []
    for number in range(20):
        report = f'1. "No year is wrong." -> unclear (P(yes)=0.{number:02})'
        rows += [(str(number), "original", 5, report), (str(number), KIND, 2, report.replace("=0", "=1"))]
    (result,) = dhp.analyze(recorded(rows))
    assert result.reasons == {}
    told = [
        (*row[:3], f"{row[0]} things are fine." if row[1] == "original" else "1930 is wrong.") for row in rows
    ]
    (result,) = dhp.analyze(recorded(told))
    assert result.reasons[KIND].seen_named == 20


def test_kinds_add_up() -> None:
    assert together([Named(1, 2, 3, 4, 0.5), Named(1, 0, 0, 9, None), Named(0, 0, 0, 10, 0.0)]) == Named(
        2, 2, 3, 23, 0.25
    )


def test_a_column_named_with_other_words_is_refused() -> None:
    table = recorded([("a", "original", 5, ""), ("a", "x", 2, "")]).assign(named=[None, "perhaps"])
    with pytest.raises(InputError, match="row 2: named is 'perhaps'; allowed: true, false"):
        dhp.analyze(table)


def test_a_run_says_what_the_reasons_of_a_judge_name(tmp_path: Path) -> None:
    """A judge that sees one planted word of three and says so; the other words it lets pass."""

    def judge(output: str) -> dict[str, object]:
        if "brothr" in output:
            return {"score": 2, "reason": "There is a misspelled word, brothr."}
        return {"score": 5, "reason": "The text reads well and tells her story."}

    pairs = [
        {"id": str(i), "source": BEFORE, "output": BEFORE, "perturbed": TYPOS if i < 3 else NUMBER}
        for i in range(9)
    ]
    texts = tmp_path / "pairs.jsonl"
    texts.write_text("\n".join(map(json.dumps, pairs)))
    results = dhp.run(judge, dataset=str(texts), scale=(1, 5), out=tmp_path / "run", progress=False)
    (named,) = results[0].reasons.values()
    assert (named.seen_named, named.seen_only, named.named_only, named.neither) == (3, 0, 0, 6)
    assert named.by_chance == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Reason against verdict" in page


@pytest.mark.slow
@pytest.mark.realdata
def test_uijudge_gives_the_counts_of_its_columns(real: Path) -> None:
    """Verdict and open answer, counted from the file without dhp: 34, 10, 16, 50."""
    file = real / "uijudge" / "verdicts.csv"
    with file.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["variant"] != "original"]
    counted = {
        (seen, named): sum(
            (row["verdict"] == "false", row["named"] == "true") == (seen, named) for row in rows
        )
        for seen in (True, False)
        for named in (True, False)
    }
    assert [*counted.values()] == [34, 10, 16, 50]
    (result,) = dhp.analyze(file)
    total = together([*result.reasons.values()])
    assert (total.seen_named, total.seen_only, total.named_only, total.neither) == (34, 10, 16, 50)
    assert reasons_table(result.reasons).rows[0] == ("all damage", total)
