"""Protocols, wording, personas, steps: read strictly; what contradicts itself is refused in one line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dhp.content.catalog import (
    names_of,
    override,
    read_persona,
    read_protocol,
    read_steps,
    read_task,
    read_wording,
)
from dhp.content.check import check
from dhp.content.yaml_files import content_folder, load_spec
from dhp.core.answer_forms import POINTWISE_FORMS
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol, Wording
from dhp.core.specs import LANGUAGES, Task

PRESETS = (
    "analyze-rate analyze-rate-steps da dhp free-text g-eval-prob g-eval-sample letters mix rate-explain "
    "rate-explain-steps stars"
).split()
PROTOCOL = "protocol: p\ndescription: d\n"
STEPS = "accuracy: [Read it., Judge it.]\nfluency: [Listen.]\n"


def failing(read: Callable[[Path], object], file: Path, text: str) -> str:
    """The one line that says what is wrong with the text in this file."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


# Presets ----------------------------------------------------------------------------------------------


def test_the_presets() -> None:
    assert set(PRESETS) <= set(names_of("protocol"))
    assert {read_protocol(name).answer for name in names_of("protocol")} == set(POINTWISE_FORMS) - {"json"}, (
        "for prompt files only"
    )
    assert {f"protocol {name}" for name in PRESETS} <= {line.partition(":")[0] for line in check()}


def test_presets_of_the_papers() -> None:
    def settings(name: str) -> tuple[object, ...]:
        p = read_protocol(name)
        return p.answer, p.steps, p.samples, p.temperature, p.top_p, p.extraction

    assert settings("dhp") == ("score-only", "written", 5, 0.0, None, "parse")
    assert settings("g-eval-sample") == ("score-only", "written", 20, 1.0, 1.0, "parse")
    assert settings("g-eval-prob")[-1] == "prob"
    for name in ("rate-explain", "analyze-rate"):
        assert settings(name) == (name, "none", 20, 1.0, None, "parse")
        assert settings(f"{name}-steps") == (name, "written", 5, 1.0, None, "parse")
    for name in ("da", "stars"):
        assert settings(name) == (name, "none", 1, None, None, "parse")
        assert "alone" not in read_wording("en").answers[read_protocol(name).answer], "an open answer"


def test_every_preset_says_what_is_a_papers_and_what_is_ours() -> None:
    for name in PRESETS:
        read = read_protocol(name)
        assert read.ours
        assert re.search(r"\b20(?:23|25)\b", read.published or ""), "names its source"


def test_a_protocol_is_read_from_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL + "parts: {answer: 'Rate {{ metric }}:'}\n")
    assert read_protocol(str(file)).parts == {"answer": "Rate {{ metric }}:"}
    with pytest.raises(
        InputError, match=r"unknown protocol 'dph'; did you mean 'dhp'\? allowed: analyze-rate"
    ):
        read_protocol("dph")
    with pytest.raises(InputError, match=r"protocol file .*no\.yaml: does not exist"):
        read_protocol("no.yaml")


@pytest.mark.parametrize(
    ("file", "wrong"), [("dhp.yaml", "protocol: dpp"), ("wording/zh.yaml", "language: en")]
)
def test_a_shipped_file_must_be_called_as_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, wrong: str
) -> None:
    from dhp.content import catalog

    key = wrong.partition(":")[0]
    (tmp_path / "wording").mkdir()
    for name in ("dhp.yaml", "wording/en.yaml", "wording/zh.yaml"):
        text = (content_folder("protocols") / name).read_text(encoding="utf-8")
        changed = re.sub(rf"(?m)^{key}: .*$", wrong, text) if name == file else text
        (tmp_path / name).write_text(changed, encoding="utf-8")
    monkeypatch.setattr(
        catalog, "content_folder", lambda name: tmp_path if name == "protocols" else content_folder(name)
    )
    with pytest.raises(InputError, match=f"{file}: {key}: must be"):
        list(check())


# Settings that fit together -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("answer: da", "answer 'da' has a scale of its own"),
        ("answer: letters\nsteps: written", "allowed: steps none, auto or a .yaml file"),
        ("answer: mix\nsamples: 1", "answer 'mix' takes turns; allowed: samples 2 or more"),
        ("answer: da\nsteps: none\nextraction: prob\nsamples: 1", "needs an answer that is one token"),
        ("answer: rate-explain\nextraction: prob-or-parse", "allowed: answer score-only, stars, letters"),
        ("extraction: prob", "allowed: samples 1, not 5"),
        ("steps: writen", "steps 'writen': unknown; allowed: none, written, auto or a .yaml file"),
        ("temperature: -1", "temperature -1"),
        ("answer: letter", "answer 'letter': unknown; did you mean 'letters'?"),
        ("parts: {answr: x}", "parts.answr"),
        ("parts: {answer: '{{metrc}}'}", r"parts.answer: unknown slot '{{metrc}}'; did you mean 'metric'"),
        ("parts: {task: '{{output}}'}", "parts.task: unknown slot '{{output}}'"),
        ("parts: {answer: '{{}}'}", "parts.answer: unknown slot '{{}}'"),
        ("parts: {sample: '{{source}}'}", "parts.sample: lacks the slot '{{output}}'"),
        ("parts: {steps: Look.}", "parts.steps: lacks the slot '{{steps}}'"),
        ("reference: true\nparts: {sample: '{{output}}'}", "parts.sample: lacks the slot '{{reference}}'"),
    ],
)
def test_a_faulty_protocol_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in failing(lambda f: read_protocol(str(f)), tmp_path / "p.yaml", f"{PROTOCOL}{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "answer: da\nsteps: none",
        "answer: letters\nsteps: auto",
        "answer: da\nsteps: own.yaml",
        "answer: letters\nsteps: none\nextraction: prob\nsamples: 1",
        "answer: stars\nextraction: prob-or-parse",
        "temperature: null\ntop_p: null",
        "parts: {sample: '{{output}}', task: ''}",
    ],
)
def test_what_fits_is_taken(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"{PROTOCOL}{text}\n")
    assert read_protocol(str(file)).protocol == "p"


def test_override_changes_what_is_given() -> None:
    dhp = read_protocol("dhp")
    changed = override(dhp, samples=1, extraction="prob", temperature=None)
    assert (changed.samples, changed.extraction, changed.temperature) == (1, "prob", None)
    assert changed.origin == dhp.origin != ""
    assert override(dhp, samples=None, answer=None, reference=None) == dhp
    assert dhp.samples == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 0}, "samples 0"),
        ({"sampels": 2}, "sampels: unknown key; did you mean 'samples'"),
        ({"language": "de"}, "language 'de': unknown"),
    ],
)
def test_override_checks_the_whole(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        override(read_protocol("dhp"), **changes)
    assert str(caught.value).startswith("protocol 'dhp': ")
    assert "\n" not in str(caught.value)


# Wording, personas, steps -------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_personas(language: str, tmp_path: Path) -> None:
    wording = load_spec(content_folder("protocols") / "wording" / f"{language}.yaml", Wording)
    assert read_persona("none", wording) == ""
    assert set(wording.personas) == {"hhh", "annotator"}
    assert read_persona("hhh", wording) == wording.personas["hhh"]
    (tmp_path / "mine.txt").write_text("\nYou judge {{metric}}.\n")
    assert read_persona(str(tmp_path / "mine.txt"), wording) == "You judge {{metric}}."


@pytest.mark.parametrize("given", ["hhhh", "You are kind.\n" * 500, "no\0thing", "."])
def test_an_unknown_persona_says_what_there_is(given: str) -> None:
    with pytest.raises(InputError, match="allowed: annotator, hhh, none, or a text file") as caught:
        read_persona(given, read_wording("en"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_faulty_persona_file_is_named(tmp_path: Path) -> None:
    def read(file: Path) -> str:
        return read_persona(str(file), read_wording("en"))

    assert "unknown slot '{{source}}'" in failing(read, tmp_path / "a.txt", "You have read {{source}}.")
    assert "is empty" in failing(read, tmp_path / "b.txt", " \n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{{instruction}}", "{{instructions}}", "task: unknown slot '{{instructions}}'; did you mean"),
        ("  stars: |-\n    Give", "  star: |-\n    Give", "answers.star"),
        ("  da: |-\n    Criterion", "  mix: |-\n    Criterion", "criterion.da: unknown or missing"),
        ("for {{metric}}:\n  letters", "for {{output}}:\n  letters", "answers.stars: unknown slot"),
        ("  {{steps}}", "  {{step}}", "steps: unknown slot '{{step}}'; did you mean 'steps'"),
        ("{{output}}", "", "sample: lacks the slot '{{output}}'"),
        ("You were hired", "{{you}} were hired", "personas.annotator: unknown slot '{{you}}'"),
        ("language: en", "language: de", "language 'de': unknown; allowed: en, zh"),
    ],
)
def test_faulty_wording_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (content_folder("protocols") / "wording" / "en.yaml").read_text()
    assert old in text
    assert message in failing(lambda f: load_spec(f, Wording), tmp_path / "w.yaml", text.replace(old, new))


def test_steps_from_a_file_are_for_every_task_that_has_the_metric(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(STEPS)
    steps = read_steps(tmp_path / "s.yaml")
    assert steps["translation"] == {"accuracy": ["Read it.", "Judge it."], "fluency": ["Listen."]}
    assert steps["summarization"] == {"fluency": ["Listen."]}
    assert "question_answering" not in steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STEPS.replace("fluency", "fluensy"), "unknown metric 'fluensy'; did you mean 'fluency'"),
        (STEPS + "1: [x]\n", "unknown metric '1'"),
        (STEPS.replace("[Listen.]", "Listen."), "fluency: must be a list of steps"),
        (STEPS.replace("[Listen.]", "[3]"), "fluency: "),
        ("[a, b]\n", "must be a mapping of metric"),
        ("", "is empty"),
        (STEPS + "fluency: [x]\n", "duplicate key 'fluency'"),
    ],
)
def test_a_faulty_steps_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in failing(read_steps, tmp_path / "s.yaml", text)


# Translations of tasks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("      fluency:\n", "      fluent:\n", "translations.zh.metrics.fluency: unknown or missing"),
        ("        antonym: 不准确\n", "", "translations.zh.metrics.accuracy.antonym: missing"),
        ("    source_label: 原文\n", "", "translations.zh.source_label: must be given exactly"),
        (
            "    output_label: 译文\n",
            "    output_label: x\n    shown_fields: {a: b}\n",
            "zh.shown_fields.a: ",
        ),
        ("  zh:\n", "  en:\n", "translations.en: is the language of the task itself"),
        ("  zh:\n", "  fr:\n", "translations.fr"),
        ("    antonym: inaccuracy\n", "", "metrics.0.antonym: missing"),
    ],
)
def test_a_faulty_translation_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (content_folder("datasets") / "tasks" / "translation.yaml").read_text(encoding="utf-8")
    assert old in text
    assert message in failing(lambda f: load_spec(f, Task), tmp_path / "t.yaml", text.replace(old, new))


def test_a_metric_is_called_by_its_name_unless_it_has_a_label() -> None:
    assert read_task("question_answering").metrics[0].label == "answer quality"
    assert read_task("question_answering").in_language("zh").metrics[0].label == "回答质量"


def test_a_protocol_is_frozen_and_checked_when_made_by_hand() -> None:
    with pytest.raises(ValueError, match="scale of its own"):
        Protocol(protocol="p", description="d", answer="da")
