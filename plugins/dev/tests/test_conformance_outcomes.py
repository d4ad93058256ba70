"""What `ferrule check` takes for an answer, for a failure, and for neither."""

import os
from xml.etree import ElementTree

import pytest

from ferrule_dev.conformance.junit import to_junit
from ferrule_dev.conformance.report import FAILED, PASSED, SKIPPED, WARNED, Report, Result
from ferrule_dev.conformance.runs.execution import End
from ferrule_dev.conformance.runs.outcome import judge, tells_a_reason
from ferrule_dev.conformance.subjects.surroundings_checks import NOWHERE


def ended(output: str = "", errors: str = "", code: int | None = 0) -> End:
    return End(output=output.encode(), errors=errors.encode(), output_bytes=len(output), exit_code=code, seconds=1.0)


TRACEBACK = "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyError: 'city'\n"
NODE = "x.js:3\nTypeError: Cannot read\n    at run (/tools/x.js:3:9)\n    at main (/tools/x.js:9:1)\n"


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        pytest.param(ended('{"city": "Oslo"}\n'), "answer", id="an object"),
        pytest.param(ended('{"success": true, "error": null}\n'), "answer", id="an error that is null"),
        pytest.param(ended('{"success": true, "error": "none"}\n'), "answer", id="success counts"),
        pytest.param(ended('{"city": "Oslo"}\n', errors=TRACEBACK), "answer", id="an answer beside a traceback"),
        pytest.param(ended('{"success": false, "error_code": "NOT_FOUND"}\n'), "failure", id="a failure"),
        pytest.param(ended('{"error": {"code": 404, "message": "gone"}}\n'), "failure", id="an error object"),
        pytest.param(ended('{"error": true, "code": "NO_SUCH", "message": "gone"}\n'), "failure", id="error is true"),
        pytest.param(ended('{"status": "error", "message": "gone"}\n'), "failure", id="a status"),
        pytest.param(ended('{"errors": [{"message": "gone"}]}\n'), "failure", id="a list of errors"),
        pytest.param(ended('{"status": "ok", "errors": []}\n'), "answer", id="no errors in the list"),
        pytest.param(ended(errors="city is missing", code=2), "failure", id="a message on stderr"),
        pytest.param(ended('{"error": "no"}', code=1), "failure", id="a document with an exit code"),
        pytest.param(ended('{"success": false, "error_code": "INTERNAL_ERROR"}\n'), "broken", id="a crash in a host"),
        pytest.param(ended('{"success": false, "error_code": "TOOL_DISABLED"}\n'), "broken", id="a disabled tool"),
        pytest.param(ended('{"success": false, "error_code": "CONFIG_MALFORMED"}\n'), "broken", id="no configuration"),
        pytest.param(ended(errors=TRACEBACK, code=1), "broken", id="a Python traceback"),
        pytest.param(ended(errors=NODE, code=1), "broken", id="a JavaScript trace"),
        pytest.param(ended(TRACEBACK, code=0), "broken", id="a traceback on stdout"),
        pytest.param(ended(), "broken", id="nothing"),
        pytest.param(ended(code=3), "broken", id="an exit code alone"),
        pytest.param(ended(code=-11), "broken", id="a signal"),
        pytest.param(ended(code=139), "broken", id="a signal of a child of sh"),
        pytest.param(ended("[1, 2]\n"), "broken", id="an array"),
        pytest.param(ended(code=None), "broken", id="no end"),
    ],
)
def test_an_end_is_an_answer_a_failure_or_neither(end: End, kind: str) -> None:
    assert judge(end).kind == kind


@pytest.mark.parametrize(
    ("document", "tells"),
    [
        pytest.param({"detail": "city is missing"}, True, id="a reason"),
        pytest.param({"detail": "Oslo", "city": "Oslo"}, False, id="a key of the answer"),
        pytest.param({"detail": 5}, False, id="no text"),
        pytest.param({"place": "Oslo"}, False, id="no reason"),
    ],
)
def test_a_document_of_another_shape_with_a_reason_is_a_failure(document: dict[str, object], tells: bool) -> None:
    assert tells_a_reason(document, {"city": "Oslo"}) is tells


def test_a_document_among_other_text_is_found_and_the_form_is_told() -> None:
    outcome = judge(ended('loading\n{"city": "Oslo"}\n'))
    assert outcome.document == {"city": "Oslo"}
    assert outcome.form is not None
    assert judge(ended('{"city": "Oslo"}')).form == "printed no newline after its document"


def test_junit_has_a_case_for_each_check_whatever_a_tool_has_printed() -> None:
    results = [
        Result("schema-size", PASSED, "209 bytes."),
        Result("not-json", FAILED, "It printed \x1b[31m\ud800 & <b>.", ["a detail"], "Fix it."),
        Result("examples", SKIPPED, "None are given."),
        Result("schema-rules", WARNED, "A warning."),
    ]
    suite = ElementTree.fromstring(to_junit([Report("weather", "/bin/weather-tool", results, seconds=1.5)]))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    failure = suite.find("testcase[@name='not-json']/failure")
    assert failure is not None
    assert failure.get("message") == "It printed \ufffd[31m\ufffd & <b>."
    assert failure.text == "a detail\nFix it."


def test_no_tool_can_make_the_home_that_is_not_there() -> None:
    with pytest.raises(OSError, match=r"No such file|Read-only|Permission"):
        os.makedirs(NOWHERE)
