"""Published prompt files work as they are."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.judge.prompt_files import FilePrompts, pieces_of, prompts_by_metric, read_files

METRICS = ["accuracy", "answer_quality", "coherence", "consistency", "fluency", "relevance"]
CANDIDATE = Candidate("e1", "original", "OUT", "SRC", {"question": "WHY"}, references=("REF",))


def write(folder: Path, name: str, text: str = "Rate {{Summary}}:") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def filled(text: str, task: str = "question_answering", candidate: Candidate = CANDIDATE) -> str:
    spec = read_task(task)
    metric = spec.metric_names[0]
    return FilePrompts({metric: text}, spec).prompt(candidate, metric, "score-only")


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("coh_detailed.txt", "coherence"),
        ("con_detailed.txt", "consistency"),
        ("flu.txt", "fluency"),
        ("Rel-v2.prompt", "relevance"),
        ("coherence.txt", "coherence"),
        ("coherence.v1.txt", "coherence"),
        ("answer_quality.txt", "answer_quality"),
        ("answer quality", "answer_quality"),
        ("ans.md", "answer_quality"),
    ],
)
def test_the_metric_is_told_by_the_name(tmp_path: Path, name: str, metric: str) -> None:
    assert prompts_by_metric(read_files([write(tmp_path, name)]), METRICS) == {metric: "Rate {{Summary}}:"}


def test_line_ends_are_those_that_the_authors_code_reads(tmp_path: Path) -> None:
    (tmp_path / "coh.txt").write_bytes(b"\xef\xbb\xbfRate\r\n\r\n{{Summary}}\n")
    assert prompts_by_metric(read_files([str(tmp_path)]), METRICS) == {"coherence": "Rate\n\n{{Summary}}\n"}


def test_the_longer_of_two_names_is_meant(tmp_path: Path) -> None:
    file = write(tmp_path, "answer_quality.txt")
    assert list(prompts_by_metric(read_files([file]), ["answer", "answer_quality"])) == ["answer_quality"]
    assert list(prompts_by_metric(read_files([write(tmp_path, "answer_v2.txt")]), ["answer", "answers"])) == [
        "answer"
    ]
    assert list(prompts_by_metric(read_files([write(tmp_path, "coh.txt")]), ["co", "coherence"])) == [
        "coherence"
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("co_detailed.txt", "could be for coherence or consistency; write METRIC="),
        ("a.txt", "could be for accuracy or answer_quality"),
        ("coherance.txt", "its name begins with no metric; write METRIC=.*'coherence'"),
        ("_coh.txt", "its name begins with no metric"),
    ],
)
def test_a_name_that_tells_no_one_metric_is_an_error(tmp_path: Path, name: str, message: str) -> None:
    file = write(tmp_path, name)
    with pytest.raises(InputError, match=message) as caught:
        prompts_by_metric(read_files([file]), METRICS)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)
    assert prompts_by_metric(read_files([f"fluency={file}"]), METRICS) == {"fluency": "Rate {{Summary}}:"}


def test_folders_and_files_can_be_mixed_but_not_one_metric_given_twice(tmp_path: Path) -> None:
    for name in ("coh_detailed.txt", "con_detailed.txt"):
        write(tmp_path, name)
    write(tmp_path, "README.md", "about")
    other = tmp_path / "other"
    other.mkdir()
    fluency = write(other, "flu.txt", "F {{Output}}")
    assert list(prompts_by_metric(read_files([str(tmp_path)]), METRICS)) == [
        "coherence",
        "consistency",
        "fluency",
    ]
    again = ["coherence=" + write(other, "x.md"), str(tmp_path)]
    with pytest.raises(InputError, match=r"a second prompt file for 'coherence' beside .*x\.md"):
        prompts_by_metric(read_files(again), METRICS)
    assert prompts_by_metric(read_files([fluency, f"coherence={fluency}"]), METRICS) == dict.fromkeys(
        ["fluency", "coherence"], "F {{Output}}"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("fluensy={file}", "unknown metric 'fluensy'.*'fluency'"),
        ("fluency={folder}/none.txt", "none.txt: does not exist"),
        ("{folder}/flu_none.txt", "flu_none.txt: does not exist"),
        ("{folder}/empty", "no such file in this folder; expected: prompt files"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, given: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        prompts_by_metric(read_files([given.format(file=write(tmp_path, "f.txt"), folder=tmp_path)]), METRICS)


@pytest.mark.parametrize("text", ["Rate this article: {{Document}}", "Rate it.", '{"Summary"}', "{{Sumary}}"])
def test_a_file_must_show_the_text_under_judgement(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, "coh.txt", text)
    with pytest.raises(InputError, match="has no slot for the text under judgement") as caught:
        prompts_by_metric(read_files([file]), METRICS)
    assert str(caught.value).startswith(f"{file}: ")
    assert ("did you mean 'summary'" in str(caught.value)) == (text == "{{Sumary}}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Read {{it}}. {Summary}",
            "{Summary} is plain text there, as the file has slots such as {{it}}; write it as {{Summary}}",
        ),
        ("Read ARTICLE_HERE and {summary}.", "slots such as ARTICLE_HERE; write it as SUMMARY_HERE"),
    ],
)
def test_a_file_of_two_kinds_of_slots_is_told_which_count(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        prompts_by_metric(read_files([write(tmp_path, "coh.txt", text)]), METRICS)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        *((slot, "SRC") for slot in "Document Source Article Fact Context Passage Paragraph Story".split()),
        *((slot, "OUT") for slot in "Summary Output Response Answer Translation Hypothesis Ending".split()),
        *((slot, "OUT") for slot in ("System_Output", "system output", "SYSTEM-OUTPUT", " summary ")),
        ("Question", "WHY"),
        ("Reference", "REF"),
        ("ref", "REF"),
    ],
)
def test_slots_go_by_their_usual_names(slot: str, text: str) -> None:
    assert filled(f"a {{{{{slot}}}}} b") == f"a {text} b"


def test_an_unknown_slot_is_named_with_its_file() -> None:
    message = r"prompt file for 'answer_quality': unknown slot '\{\{Documnt\}\}'.*'document'"
    with pytest.raises(InputError, match=message):
        filled("{{Documnt}} {{Answer}}")
    with pytest.raises(InputError, match=r"unknown slot '\{\{Question\}\}'"):
        filled("{{Question}} {{Summary}}", "summarization")


def test_files_for_metrics_of_other_tasks_do_no_harm() -> None:
    task = read_task("translation")
    files = {"accuracy": "{{Output}}", "answer_quality": "{{Question}} {{Answer}}"}
    assert FilePrompts(files, task).prompt(CANDIDATE, "accuracy", "mix") == "OUT"


@pytest.mark.parametrize(
    ("lacking", "slot"),
    [(replace(CANDIDATE, references=()), "reference"), (replace(CANDIDATE, fields={}), "question")],
)
def test_a_text_that_an_example_lacks_is_named(lacking: Candidate, slot: str) -> None:
    with pytest.raises(InputError, match=f"example 'e1': has no '{slot}'"):
        filled(f"{{{{{slot}}}}} {{{{output}}}}", candidate=lacking)


@given(st.text(), st.text(), st.sampled_from(["{{Document}}", "{{Summary}}", "\\1", "{0}", "{{x}}"]))
def test_texts_go_in_raw_and_are_not_filled_again(source: str, output: str, more: str) -> None:
    candidate = replace(CANDIDATE, source=source + more, text=more + output)
    assert (
        filled("<{{Document}}|{{Summary}}>{x}", candidate=candidate)
        == f"<{source}{more}|{more}{output}>{{x}}"
    )


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("{Document} {summary}", "SRC OUT"),
        ("{ Summary }", "OUT"),
        ('{summary} {"score": 3} {0}', 'OUT {"score": 3} {0}'),
        ('{summary} {{"score": 3}}', 'OUT {"score": 3}'),
        ("{{Summary}} {Document}", "OUT {Document}"),
    ],
)
def test_one_brace_is_enough_where_there_are_no_two(text: str, prompt: str) -> None:
    assert filled(text) == prompt


def test_columns_of_the_data_are_slots_and_come_first() -> None:
    columns = {"ticket": "source", "Short Text": "output", "question": "question", "answer": "question"}
    task = read_task("summarization").with_columns(columns)
    metric = task.metric_names[0]
    writer = FilePrompts({metric: "{ticket} {{answer}} {{short text}} {{Document}}"}, task)
    assert writer.prompt(CANDIDATE, metric, "score-only") == "{ticket} WHY OUT SRC"
    with pytest.raises(InputError, match=r"unknown slot '\{\{tickt\}\}'.*'ticket'"):
        FilePrompts({metric: "{tickt} {short text}"}, task)


@pytest.mark.parametrize(
    "stated",
    [
        "Fluency (1-3): the quality of the summary.",
        "Rate it on a scale of 1 to 3.",
        "Give a score from 1 to 3.",
        "Your rating is a number between 1 and 3, no more.",
    ],
)
def test_a_file_that_states_another_scale_is_refused(stated: str) -> None:
    with pytest.raises(InputError, match="states the scale 1 to 3, and the metric's is 1 to 5") as failed:
        filled(f"{stated} {{{{Answer}}}}")
    assert "\n" not in str(failed.value)
    assert filled(stated.replace("3", "5") + " {{Answer}}").endswith(" OUT")


@pytest.mark.parametrize("text", ["Summaries (2015-2020)", "2 to 4 sentences", "pages 1-3", "Score it:"])
def test_other_numbers_state_no_scale(text: str) -> None:
    assert filled(f"{text} {{{{Answer}}}}") == f"{text} OUT"


def test_slots_in_capitals_with_here() -> None:
    text = 'Article: ARTICLE_HERE\nAnswer: ANSWER_HERE\nAs {"score": 1}'
    assert filled(text) == 'Article: SRC\nAnswer: OUT\nAs {"score": 1}'
    with pytest.raises(InputError, match=r"unknown slot '\{\{SUMMRY\}\}'.*'summary'"):
        filled("SUMMRY_HERE SUMMARY_HERE")


def test_an_only_file_is_for_an_only_metric(tmp_path: Path) -> None:
    file = write(tmp_path, "anything at all.md", "{Output}")
    assert prompts_by_metric(read_files([file]), ["usefulness"]) == {"usefulness": "{Output}"}


@pytest.mark.realdata
def test_the_published_files_work_as_they_are(real: Path) -> None:
    folder = real / "prompt_files" / "geval_summeval"
    files = prompts_by_metric(read_files([str(folder)]), METRICS)
    assert list(files) == ["coherence", "consistency"]
    task = read_task("summarization")
    for metric, name in (("coherence", "coh"), ("consistency", "con")):
        published = (folder / f"{name}_detailed.txt").read_text(encoding="utf-8")
        prompt = FilePrompts(files, task).prompt(CANDIDATE, metric, "score-only")
        assert prompt == published.replace("{{Document}}", "SRC").replace("{{Summary}}", "OUT")
        assert "SRC" in prompt
        assert "OUT" in prompt


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A: {Summary (EN)}!", ("A: ", "Summary (EN)", "!")),
        ("A: {{Summary (EN)}}!", ("A: ", "Summary (EN)", "!")),
        ("T: ${Messages}, {x}", ("T: ", "Messages", ", ", "x", "")),
        ("T: ${{ Messages }}", ("T: ", "Messages", "")),
        ('{"score": 1} {a: b} $5 {x}', ('{"score": 1} {a: b} $5 ', "x", "")),
    ],
)
def test_slots_are_columns_as_they_are_named(text: str, pieces: tuple[str, ...]) -> None:
    assert pieces_of(text) == pieces
