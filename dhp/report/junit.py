"""Outcomes of gates as JUnit XML."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dhp.core.shown import printable
from dhp.runs.gate import Outcome
from dhp.runs.gate_findings import Finding, result_name


def junit_xml(outcome: Outcome, seconds: float, *, require_proof: bool) -> str:
    """A test suite for each dataset, and in it a test case for each judge and condition.

    A condition that is not met is a failure. One that is undecided is skipped, or with `require_proof` a
    failure, too; the message says how many texts would decide. Harmless edits that are not decided are
    skipped, as they fail no gate. `seconds` is the time of the whole, as no single check has one.
    """
    root = Element("testsuites", name="dhp gate", time=f"{seconds:.3f}")
    for dataset in dict.fromkeys(result.dataset for result in outcome.results):
        suite = SubElement(root, "testsuite", name=printable(dataset), time="0.000")
        for result in outcome.results:
            if result.dataset != dataset:
                continue
            judge = f"{result.model}, {result.protocol}" if result.asked else result.judge
            for check, findings in outcome.checks.items():
                case = SubElement(suite, "testcase", classname=printable(judge), name=check, time="0.000")
                of_result = [finding for finding in findings if finding.result == result_name(result)]
                _add_finding(case, of_result, require_proof=require_proof)
        _add_counts(suite, list(suite))
    _add_counts(root, list(root.iter("testcase")))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_finding(case: Element, findings: Sequence[Finding], *, require_proof: bool) -> None:
    by_state: dict[str, list[str]] = {}
    for finding in findings:
        by_state.setdefault(finding.state, []).append(finding.words)
    unknown = by_state.get("undecided") or by_state.get("open")
    if "not met" in by_state:
        _add_failure(case, "not met", by_state)
    elif "undecided" in by_state and require_proof:
        _add_failure(case, "undecided", by_state)
    elif unknown:
        SubElement(case, "skipped", message=printable(f"undecided: {'; '.join(unknown)}"))


def _add_failure(case: Element, state: str, by_state: Mapping[str, Sequence[str]]) -> None:
    message = printable("; ".join(by_state[state]))
    SubElement(case, "failure", message=message, type=state).text = message


def _add_counts(element: Element, cases: Sequence[Element]) -> None:
    element.set("tests", str(len(cases)))
    failures = [case for case in cases if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    element.set("failures", str(len(failures)))
    element.set("errors", "0")
    element.set("skipped", str(len(skipped)))
