"""Expert weights by survey: questions, answers, votes, agreement."""

import datetime as dt
import json
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
import yaml

from dhp.content.catalog import read_suite, read_task, read_weights
from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.plugins.survey.agreement import agreement, fleiss_kappa
from dhp.plugins.survey.answers import aggregate, read_answers, write_weights
from dhp.plugins.survey.command import survey_page
from dhp.plugins.survey.survey import Issue, Survey, make_survey
from dhp.report.weights import weights_page
from tests.parsed import Parsed

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists, 5 diagnoses.
FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
METRICS = ["coherence", "consistency", "fluency", "relevance"]
ISSUES = list(read_suite("summeval").perturbers)


def sheet(number: int, **changes: object) -> dict[str, object]:
    """What the page saves; by default every issue hurts fluency most."""
    saved: dict[str, object] = {
        "schema": "dhp.votes/1",
        "id": f"{number:016x}",
        "survey": "28672bb4793a",
        "task": "summarization",
        "metrics": METRICS,
        "date": f"2026-05-{number:02}",
        "expert": "",
        "answers": dict.fromkeys(ISSUES, "fluency"),
    }
    return saved | changes


def answers(folder: Path, *sheets: dict[str, object]) -> list[Path]:
    """The files of these answers."""
    paths = []
    for i, content in enumerate(sheets):
        paths.append(folder / f"{i}.json")
        paths[-1].write_text(json.dumps(content))
    return paths


def test_kappa_of_fleiss_1971() -> None:
    table = [[int(votes) for votes in row] for row in FLEISS_1971.split()]
    kappa = fleiss_kappa(table)
    assert round(kappa, 3) == 0.430


def test_kappa_by_hand() -> None:
    # P = (1 + 1/3) / 2 = 2/3, shares 4/6 and 2/6, so P_e = 5/9 and kappa = (1/9) / (4/9).
    assert fleiss_kappa([[3, 0], [1, 2]]) == pytest.approx(1 / 4)
    assert fleiss_kappa([[2, 0], [0, 2]]) == pytest.approx(1)
    assert fleiss_kappa([[1, 1], [1, 1]]) == pytest.approx(-1)
    # Another number of raters: P = (1 + 1/3) / 2, shares 3/5 and 2/5, P_e = 13/25; one rater says nothing.
    assert fleiss_kappa([[2, 0], [1, 2]]) == pytest.approx((2 / 3 - 13 / 25) / (12 / 25))
    assert fleiss_kappa([[2, 0], [1, 2], [0, 1]]) == fleiss_kappa([[2, 0], [1, 2]])


@pytest.mark.parametrize("votes", [[], [[1, 0]], [[0, 0]], [[3, 0], [4, 0]]])
def test_kappa_is_undefined_rather_than_a_number(votes: list[list[int]]) -> None:
    assert fleiss_kappa(votes) is None


def test_the_interval_of_kappa_by_hand() -> None:
    choices = [("a", "a"), ("a", "b"), ("a", "b"), ("b", "b")]
    experts = [{"x": x, "y": y} for x, y in choices]
    found = agreement(experts, ["x", "y"], ["a", "b"])
    # Votes x: 3 a, 1 b; y: 1 a, 3 b. P = 1/2, P_e = 1/2, kappa 0. Without expert 1 or 4 one issue is
    # unanimous: (2/3 - 5/9) / (4/9) = 1/4. Without 2 or 3: P = 1/3, P_e = 1/2, kappa -1/3.
    # Mean -1/24, deviations 7/24: s^2 = 3/4 * 4 * (7/24)^2; t(3) = 3.18245.
    assert found.kappa == pytest.approx(0)
    assert found.low == -1
    assert found.high == 1, "the limits of kappa bound its interval: 3.18245 * 0.50518 = 1.608"
    twelve = agreement(experts * 3, ["x", "y"], ["a", "b"])
    votes = {True: [[8, 3], [3, 8]], False: [[9, 2], [3, 8]]}
    rest = [k for a in votes for _ in range(6) if (k := fleiss_kappa(votes[a])) is not None]
    mean = sum(rest) / 12
    error = (11 / 12 * sum((k - mean) ** 2 for k in rest)) ** 0.5
    assert twelve.high - twelve.kappa == pytest.approx(2.200985 * error, rel=1e-5)
    assert twelve.kappa - twelve.low == pytest.approx(2.200985 * error, rel=1e-5)


def test_no_interval_where_none_can_be_estimated() -> None:
    alike = agreement([{"x": "a", "y": "b"}] * 5, ["x", "y"], ["a", "b"])
    assert (alike.kappa, alike.low) == (1, None)
    two = agreement([{"x": "a", "y": "b"}, {"x": "b", "y": "b"}], ["x", "y"], ["a", "b"])
    assert two.low is None
    assert agreement([{"x": "a"}], ["x"], ["a", "b"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("task", ["summarization", "story_completion", "translation"])
def test_a_survey_asks_about_every_perturber_of_the_task(task: str) -> None:
    survey = make_survey(task)
    suite = read_suite(read_task(task).default_suite)
    assert [issue.perturber for issue in survey.issues] == list(suite.perturbers)
    for issue in survey.issues:
        degrees = [v.degree or "" for v in suite.variants if v.perturber == issue.perturber]
        assert list(issue.degraded) == degrees
        assert issue.example.output not in issue.degraded.values()
    assert make_survey(task) == survey
    page = survey_page(survey)
    assert page == survey_page(survey)
    assert page.count('type="radio"') == len(suite.perturbers) * len(survey.task.metrics)
    assert " checked" not in page
    for metric in survey.task.metrics:
        assert metric.definition in unescape(page)


def test_the_hash_tells_surveys_apart() -> None:
    task = read_task("translation")
    issue = Issue("random_typos", "<s>Typos.", "character", Example("1", "Quelle", "Out"), {"": "Otu"})
    first = Survey(task, (issue,))
    others = [
        Survey(read_task("summarization"), (issue,)),
        Survey(task, (issue, replace(issue, perturber="word_deletions"))),
        Survey(task, (replace(issue, degraded={"": "Uot"}),)),
        Survey(task, (replace(issue, example=Example("1", "Quelle", "out")),)),
    ]
    assert len({s.hash for s in (first, *others)}) == 5
    known = replace(issue, example=replace(issue.example, language="en"))
    assert Survey(task, (known,)).hash == first.hash, "no question depends on it"


def test_markup_in_an_example_stays_text() -> None:
    evil = '</p></script><script>alert(1)</script><img src=x onerror="alert(2)">&amp;'
    example = Example("1", evil, f"Good. {evil}", {"question": evil})
    harmless = Example("1", "a", "b", {"question": "c"})
    for task in ("question_answering", "translation"):
        pages = [
            survey_page(Survey(read_task(task), (Issue("random_typos", "<s>Typos.", level, e, {"": text}),)))
            for level in ("character", "word", "sentence")
            for e, text in ((example, f"{evil} Good."), (harmless, "d"))
        ]
        counts = [Counter(Parsed(page).elements) for page in pages]
        for found in counts:
            assert {k: v for k, v in found.items() if k not in ("del", "ins")} == {
                k: v for k, v in counts[1].items() if k not in ("del", "ins")
            }
        assert "&amp;amp;" in pages[0]


@pytest.mark.slow
def test_votes_become_weights(tmp_path: Path) -> None:
    one = sheet(
        1, answers=dict.fromkeys(ISSUES, "fluency") | {"reordering": "coherence"}, expert=" linguist "
    )
    two = sheet(2, answers=dict.fromkeys(ISSUES, "fluency") | {"reordering": "coherence"})
    three = sheet(
        3, answers=dict.fromkeys(ISSUES, "fluency") | {"reordering": None, "random_typos": "relevance"}
    )
    sheets = [read_answers(path) for path in answers(tmp_path, one, two, three)]
    counted = aggregate(sheets, "own")
    assert (counted.experts, counted.roles, counted.date) == (3, ["linguist"], dt.date(2026, 5, 3))
    assert counted.votes["summarization"]["reordering"] == {**dict.fromkeys(METRICS, 0), "coherence": 2}
    file = tmp_path / "own.yaml"
    write_weights(counted, file)
    read = read_weights(str(file))
    assert read.row("summarization", "reordering") == {**dict.fromkeys(METRICS, 0.0), "coherence": 1}
    typos = read.row("summarization", "random_typos")
    assert typos == pytest.approx({**dict.fromkeys(METRICS, 0), "fluency": 2 / 3, "relevance": 1 / 3})
    # Reordering: 2 of 2 agree; typos 1/3; four times all: P = (1 + 1/3 + 4) / 6, shares 2, 14, 1 of 17.
    by_chance = (2**2 + 14**2 + 1) / 17**2
    kappa = (16 / 18 - by_chance) / (1 - by_chance)
    assert read.agreement["summarization"].kappa == pytest.approx(kappa, abs=1e-4)
    assert aggregate(sheets[::-1], "own").votes == counted.votes
    assert "linguist" in weights_page(read)
    assert "0.67" in weights_page(read)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "dhp.votes/2"}, "schema 'dhp.votes/2': unknown.*'dhp.votes/1'"),
        ({"task": "sumarization"}, "unknown task 'sumarization'"),
        ({"task": "question_answering"}, "has a single metric"),
        ({"metrics": METRICS[:3]}, "metrics: must be those of task 'summarization': coherence, consist"),
        ({"answers": {}}, "answers {}: must not be empty"),
        ({"answers": {"random_typo": "fluency"}}, "perturber 'random_typo'.*'random_typos'"),
        ({"answers": {"random_typos": "fluancy"}}, "random_typos: unknown metric 'fluancy'"),
        ({"vote": 1}, "vote: unknown key"),
    ],
)
def test_faulty_answers_are_one_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    (path,) = answers(tmp_path, sheet(1, **change))
    with pytest.raises(InputError, match=message) as raised:
        read_answers(path)
    assert "\n" not in str(raised.value)
    assert "0.json" in str(raised.value)


@pytest.mark.parametrize("content", ["", "[]", '{"id": "\\ud800"}', "[" * 100_000, "\xff"])
def test_no_answers_at_all_are_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"a\.json: ") as raised:
        read_answers(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (sheet(2, survey="0" * 12), r"1\.json: survey: '0+' is not that of .*0\.json, '28672bb4793a'"),
        (sheet(1, date="2026-06-01"), r"1\.json: the same answers as .*0\.json; must have each expert once"),
        (
            sheet(2, answers={"random_typos": "fluency"}),
            "'fictional_named_entities' is answered in only one of",
        ),
    ],
)
def test_answers_that_do_not_go_together(tmp_path: Path, other: dict[str, object], message: str) -> None:
    sheets = [read_answers(path) for path in answers(tmp_path, sheet(1), other)]
    with pytest.raises(InputError, match=message):
        aggregate(sheets, "own")


def test_an_issue_without_votes_is_refused(tmp_path: Path) -> None:
    silent = dict.fromkeys(ISSUES, "fluency") | {"reordering": None}
    sheets = [read_answers(path) for path in answers(tmp_path, sheet(1, answers=silent))]
    with pytest.raises(InputError, match="nobody voted on 'reordering'"):
        aggregate(sheets, "own")


VOTES = """weights: own
version: 2
provenance: Ten linguists.
date: 2026-05-31
experts: 10
votes: {summarization: {random_typos: {coherence: 4, consistency: 1, fluency: 5}}}
agreement: {summarization: {kappa: 0.4, low: 0.1, high: 0.7}}
"""


def test_votes_in_a_weights_file_are_their_shares(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(VOTES)
    read = read_weights(str(file))
    shares = {"coherence": 0.4, "consistency": 0.1, "fluency": 0.5, "relevance": 0}
    assert read.row("summarization", "random_typos") == pytest.approx(shares)
    assert read.row("summarization", "reordering") is None
    row = "{coherence: 1, consistency: 0, fluency: 0, relevance: 0}"
    file.write_text(f"{VOTES}tasks: {{summarization: {{reordering: {row}}}}}\n")
    assert set(read_weights(str(file)).tasks["summarization"]) == {"random_typos", "reordering"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("coherence: 4", "coherence: -4", "votes.summarization.random_typos.coherence -4"),
        ("coherence: 4, consistency: 1, fluency: 5", "fluency: 0", "random_typos: has no votes"),
        ("coherence: 4", "coherense: 4", "votes.summarization.random_typos: unknown metric 'coherense'"),
        ("votes: {summarization", "votes: {sumarization", "votes: unknown task|agreement.summarization"),
        ("fluency: 5", "fluency: 6", "random_typos: 11 votes of 10 experts"),
        ("kappa: 0.4", "kappa: 0.8", "agreement.summarization: kappa 0.8 must lie between 0.1 and 0.7"),
        ("low: 0.1, ", "", "agreement.summarization: high: requires low"),
        ("agreement: {summarization", "agreement: {translation", "agreement.translation: has no votes"),
        (
            "agreement:",
            "tasks: {summarization: {random_typos: {fluency: 1}}}\nagreement:",
            "random_typos: is also in tasks; give weights or votes",
        ),
    ],
)
def test_faulty_votes_are_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in VOTES
    file = tmp_path / "w.yaml"
    file.write_text(VOTES.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as raised:
        read_weights(str(file))
    assert "\n" not in str(raised.value)


def test_a_written_weights_file_holds_votes_and_no_weights(tmp_path: Path) -> None:
    (path,) = answers(tmp_path, sheet(1, expert="jurist: 'née' #1"))
    file = tmp_path / "own.yaml"
    write_weights(aggregate([read_answers(path)], "own"), file)
    data = yaml.safe_load(file.read_text("utf-8"))
    assert set(data) == {"weights", "version", "provenance", "date", "experts", "roles", "votes"}
    assert data["roles"] == ["jurist: 'née' #1"]
