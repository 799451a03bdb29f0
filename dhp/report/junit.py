"""The outcome of a gate as JUnit XML, as continuous integration reads it."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dhp.core.text import printable
from dhp.runs.gate import Finding, Outcome, result_name


def junit_xml(outcome: Outcome, seconds: float, *, require_proof: bool) -> str:
    """A test suite for each dataset, and in it a test case for each judge and condition.

    A condition that is not met is a failure. One that is undecided is skipped, or with `require_proof` a
    failure, too; the message says how many texts would decide. `seconds` is the time of the whole, as no
    single check has one.
    """
    root = Element("testsuites", name="dhp gate", time=f"{seconds:.3f}")
    for dataset in dict.fromkeys(result.dataset for result in outcome.results):
        suite = SubElement(root, "testsuite", name=printable(dataset), time="0.000")
        for result in outcome.results:
            if result.dataset != dataset:
                continue
            judge = f"{result.model}, {result.protocol}" if result.asked else result.model
            for check, findings in outcome.checks.items():
                case = SubElement(suite, "testcase", classname=printable(judge), name=check, time="0.000")
                own = [finding for finding in findings if finding[1] == result_name(result)]
                _add_finding(case, own, require_proof=require_proof)
        _add_counts(suite, list(suite))
    _add_counts(root, list(root.iter("testcase")))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_finding(case: Element, findings: Sequence[Finding], *, require_proof: bool) -> None:
    failed = [words for state, _, words in findings if state == "not met"]
    undecided = [words for state, _, words in findings if state == "undecided"]
    if failed or (undecided and require_proof):
        message = printable("; ".join(failed or undecided))
        SubElement(case, "failure", message=message, type="not met" if failed else "undecided").text = message
    elif undecided:
        SubElement(case, "skipped", message=printable(f"undecided: {'; '.join(undecided)}"))


def _add_counts(element: Element, cases: Sequence[Element]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
