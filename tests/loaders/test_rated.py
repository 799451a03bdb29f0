"""Published sets of rated texts are read as their owners give them; tables of one's own by their columns."""

import json
from pathlib import Path

import pytest

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.loaders.rated import FROM_REFERENCE, RATED_SETS, TASKS, human_scores, read_rated


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "file", "sources", "systems", "metrics"),
    [
        ("summeval", "summeval/summeval.jsonl", 100, 16, 4),
        ("newsroom", "newsroom/newsroom.jsonl", 60, 7, 4),
        ("realsumm", "realsumm/realsumm.jsonl", 100, 24, 1),
        ("topical_chat", "topical_chat/topical_chat.json", 60, 6, 6),
    ],
)
def test_published_sets(real: Path, name: str, file: str, sources: int, systems: int, metrics: int) -> None:
    texts = read_rated(name, real / file)
    assert len({text.example for text, _ in texts}) == sources
    assert len({text.variant for text, _ in texts}) == systems
    assert len(texts) == sources * systems
    assert len(human_scores(texts)) == sources * systems * metrics
    asked = set(read_task(TASKS[name]).metric_names)
    assert asked <= set(texts[0][1])
    assert len(asked) == metrics or name == "topical_chat"  # which has two more, of the response as a whole


def test_openmeva(tmp_path: Path) -> None:
    story = {"text": "It rained.", "score": {"human": [1, 2, 3]}}
    file = tmp_path / "roc.json"
    file.write_text(json.dumps([{"doc_id": 7, "prompt": "Ann", "reference": "R", "gen": {"gpt": story}}]))
    ((text, rated),) = read_rated("openmeva_roc", file)
    assert read_task(TASKS["openmeva_roc"]).metric_names == (*rated,)
    assert (text.example, text.variant, text.references, rated) == ("7", "gpt", ("R",), {"overall": 2})


def test_bagel(tmp_path: Path) -> None:
    file = tmp_path / "bagel.json"
    scores = {"informativeness": 5, "naturalness": 4.5, "quality": 4, "rouge1_p": 0.3}
    item = {
        "src": "inform(name=X)",
        "ref_summs": ["X.", "It is X."],
        "sys_summ": "X it is.",
        "scores": scores,
    }
    file.write_text(json.dumps({"0": item}))
    ((text, rated),) = read_rated("bagel", file)
    assert read_task(TASKS["bagel"]).metric_names == (*rated,)
    assert (text.source, text.text, text.references) == ("inform(name=X)", "X it is.", ("X.", "It is X."))
    assert rated == {"informativeness": 5.0, "naturalness": 4.5, "quality": 4.0}


def test_sets_name_tasks_that_exist() -> None:
    assert {read_task(name).task for name in TASKS.values()} == set(TASKS.values())
    assert {*TASKS, *FROM_REFERENCE} == set(RATED_SETS)


def test_own_tables(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("source,system,output,score:fluency,question\nS,a,O1,3,Why?\nS,b,O2,,Why?\n")
    (one, scores), (other, others) = read_rated("own", file)
    assert one.example == other.example
    assert (one.fields, scores, others) == ({"question": "Why?"}, {"fluency": 3.0}, {})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "own",
            "source,system,output\nS,a,O\nS,a,P\n",
            "duplicate text of source '8de0b3c47f11', system 'a'",
        ),
        ("own", "source,output,score:x\nS,O,good\n", "column 'score:x': 'good'; allowed: a number"),
        ("own", "source,text\nS,O\n", "column 'output' is missing"),
        ("topical_chat", '{"a": 1}', "not of the form of 'topical_chat'"),
        ("summeval", '{"id": 1}', "not of the form of 'summeval'"),
        ("sumeval", "", "unknown set of rated texts 'sumeval'.*'summeval'"),
    ],
)
def test_other_forms_are_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as failed:
        read_rated(name, file)
    assert "\n" not in str(failed.value)
