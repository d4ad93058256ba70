"""Reports as JUnit XML, which continuous integration shows: a suite for each executable, a case for each check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ferrule_dev.conformance.report import FAILED, SKIPPED

if TYPE_CHECKING:
    from ferrule_dev.conformance.report import Report, Result

_FORBIDDEN = "\ufffe\uffff"


def to_junit(reports: Iterable[Report]) -> bytes:
    """The reports as one XML document in UTF-8. A warning is a case that has passed, with its text as output."""
    suites = ElementTree.Element("testsuites", name="ferrule check")
    for report in reports:
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=_text(report.target),
            tests=str(len(report.results)),
            failures=str(len(report.failed)),
            errors="0",
            skipped=str(sum(1 for _ in report.in_state(SKIPPED))),
            time=f"{report.seconds:.3f}",
        )
        for one in report.results:
            _add_case(suite, report, one)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: ElementTree.Element, report: Report, result: Result) -> None:
    name = f"ferrule.check.{_text(report.target)}"
    case = ElementTree.SubElement(suite, "testcase", classname=name, name=result.id, time=f"{result.seconds:.3f}")
    lines = [_text(line) for line in (*result.details, result.fix) if line]
    if result.state == FAILED:
        ElementTree.SubElement(case, "failure", message=_text(result.message)).text = "\n".join(lines)
    elif result.state == SKIPPED:
        ElementTree.SubElement(case, "skipped", message=_text(result.message))
    else:
        ElementTree.SubElement(case, "system-out").text = "\n".join((_text(result.message), *lines))


def _text(text: str) -> str:
    """What XML can hold of a text."""
    return "".join(letter if _is_allowed(letter) else "�" for letter in text)


def _is_allowed(letter: str) -> bool:
    return letter in "\t\n" or (letter >= " " and letter not in _FORBIDDEN and not "\ud800" <= letter <= "\udfff")
