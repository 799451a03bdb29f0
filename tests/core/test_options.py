"""What callers give: unknown keywords are refused with the near name."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dhp
from dhp.core.options import keywords_of, near_keywords, pairs_like
from dhp.leaderboard.site import write_leaderboard
from dhp.report.page import write_report
from dhp.run import RunSpec, judge_texts

PACKAGES = {"judge": judge_texts, "leaderboard": write_leaderboard, "report": write_report}
"""Names that are packages and can be called."""
RECORDS = "Candidate Dataset Edited Example Perturber Rating Result Variant"
"""What flows through a run, made a million times: Python's own message has to do."""
OTHERS = "DhpError InputError NotApplicable StoppedEarly Judge LlmJudge Protocol Results own_task protocol"


def called() -> Iterator[tuple[str, Callable[..., object]]]:
    """What a user calls with keywords."""
    for name in dhp.__all__:
        if not name.startswith("_") and name not in [*RECORDS.split(), *OTHERS.split()]:
            yield name, PACKAGES.get(name, getattr(dhp, name))


def misspelt() -> list[tuple[str, str, str]]:
    """Each keyword of each function with a letter too many, and with one too few."""
    return [
        (name, wrong, keyword)
        for name, call in [*called(), ("Dataset.of", dhp.Dataset.of)]
        for keyword, parameter in inspect.signature(call).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and len(keyword) > 3
        for wrong in (keyword[:2] + keyword[1:], keyword[:2] + keyword[3:])
    ]


def test_every_misspelt_keyword_is_refused_with_the_near_name() -> None:
    known = {**dict(called()), "Dataset.of": dhp.Dataset.of}
    tried = misspelt()
    assert {"run", "estimate", "gate", "Choice", "JudgeSettings", "ModelSettings"} <= {n for n, _, _ in tried}
    for name, wrong, keyword in tried:
        with pytest.raises(TypeError) as caught:
            known[name](**{wrong: 1})
        message = str(caught.value)
        assert f"() has no keyword '{wrong}'; did you mean '" in message
        assert f"'{keyword}'" in message or len(keyword) < 6, f"{name}: {message}"
        assert "\n" not in message


@pytest.mark.parametrize(
    "given",
    [{"controlls": True}, {"sed": 3}, {"N": 10}, {"perturbrs": []}, {"banana": 1}, {"schedule": "all"}],
)
def test_nothing_is_rated_for_an_unknown_keyword(given: dict[str, Any]) -> None:
    calls: list[str] = []

    def judge(outputs: str) -> float:
        calls.append(outputs)
        return 0.5

    for function in (dhp.run, dhp.estimate, dhp.perturb_datasets):
        with pytest.raises(
            TypeError, match=f"{function.__name__}\\(\\) has no keyword '{next(iter(given))}'"
        ):
            function(judge, "mini/story_cloze", **given)
    assert calls == []


def test_each_keyword_shows_in_the_signature_and_is_documented() -> None:
    for function in (dhp.run, dhp.estimate, dhp.perturb_datasets, dhp.analyze, dhp.compare, dhp.gate):
        parameters = inspect.signature(function).parameters
        assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
        if function is dhp.estimate:
            continue  # "parameters as there"
        documented = re.findall(r"^    ((?:\*?\w+, )*\*?\w+)$", function.__doc__ or "", re.MULTILINE)
        named = {name.lstrip("*") for line in documented for name in line.split(", ")}
        assert set(parameters) <= named, function
    fields = {each.name for each in dataclasses.fields(dhp.Choice)}
    assert {"model", "dataset", "seed", "out", "progress", *fields} <= set(
        inspect.signature(dhp.run).parameters
    )
    assert str(inspect.signature(dhp.run)).endswith(" -> dhp.analysis.results.Results")
    assert list(inspect.signature(dhp.run).parameters)[:2] == ["model", "dataset"]
    assert set(inspect.signature(dhp.run).parameters) == {each.name for each in dataclasses.fields(RunSpec)}


def test_what_python_refuses_is_refused_as_before() -> None:
    @near_keywords
    def plain(first: int, *, second: int = 0) -> int:
        return first + second

    @dataclasses.dataclass
    class Record:
        first: int
        second: int = 0

    @keywords_of(Record)
    def of_record(record: Record) -> int:
        return record.first + record.second

    for function in (plain, of_record):
        assert function(1) == function(first=1) == 1
        assert function(1, second=2) == 3
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
            function(second=2)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="multiple values"):
            function(1, first=2)  # type: ignore[misc]
    with pytest.raises(
        TypeError, match=r"plain\(\) has no keyword 'Secondd'; did you mean 'second'\? allowed"
    ):
        plain(1, Secondd=2)  # type: ignore[call-arg]


def test_a_field_of_settings_may_stand_by_itself() -> None:
    @dataclasses.dataclass(frozen=True)
    class Inner:
        rate: int = 1
        name: str = "inner"

    @dataclasses.dataclass(frozen=True)
    class Middle:
        inner: Inner = Inner()
        depth: int = 2

    @dataclasses.dataclass(frozen=True)
    class Record:
        name: str = "record"
        middle: Middle = Middle()

    @keywords_of(Record)
    def of_record(record: Record) -> Record:
        return record

    assert of_record(depth=5, rate=3) == Record(middle=Middle(Inner(3), 5))
    assert of_record(middle=Middle(depth=7), rate=3) == Record(middle=Middle(Inner(3), 7))
    assert of_record(name="own") == Record("own"), "a field of the record itself comes first"
    with pytest.raises(TypeError, match=r"of_record\(\) has no keyword 'dept'; did you mean 'depth'"):
        of_record(dept=5)


def test_pairs_become_a_mapping() -> None:
    read = pairs_like("OURS=THEIRS", "output=summary")
    assert read(["a=b", "c=d=e", "a=b"]) == {"a": "b", "c": "d=e"}
    for pairs, message in (
        (["a"], "'a': must have the form OURS=THEIRS, e.g. output=summary"),
        (["=b"], "'=b': must have the form"),
        (["a=b", "a=c"], "'a=c': 'a' is mapped twice; map it once"),
    ):
        with pytest.raises(ValueError, match=message):
            read(pairs)
