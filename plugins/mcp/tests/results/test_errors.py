"""Refusals of servers, as errors of tools in the servers' own words."""

from typing import Any

import pytest

from ferrule_mcp.results.errors import explain_error_result, explain_refusal


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"content": [{"type": "text", "text": "\x1b[31mbad\x1b[0m \u202ekey\n"}]}, "bad key"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}]}, "a\n[image]"),
        ({"content": [{"type": "resource", "resource": {"text": " why "}}]}, "why"),
        ({"content": [{"type": "resource", "resource": {}}]}, "[resource]"),
        ({"content": [], "structuredContent": {"reason": "no"}}, '{"reason":"no"}'),
        ({"content": []}, "The tool failed, and said nothing."),
        ({"content": [{"type": "text", "text": "  "}]}, "The tool failed, and said nothing."),
        ({}, "The tool failed, and said nothing."),
    ],
)
def test_an_error_result_is_said_in_its_own_words(result: dict[str, Any], words: str) -> None:
    error = explain_error_result({"isError": True, **result})
    assert (error.code, error.message, error.hint) == ("TOOL_ERROR", words, None)


def test_what_was_declined_is_said_next_to_an_error() -> None:
    error = explain_error_result({"content": []}, ["sampling/createMessage"])
    assert str(error.hint).startswith("The server asked for sampling/createMessage, which was declined.")


@pytest.mark.parametrize(
    ("code", "kind", "hint"),
    [
        (-32602, "INVALID_INPUT", "Check the arguments"),
        (-32601, "TOOL_ERROR", "`ferrule mcp refresh`"),
        (-32603, "TOOL_ERROR", None),
        (-32021, "INPUT_REQUIRED", "Nobody can be asked"),
        (-32042, "INPUT_REQUIRED", "Open the address"),
        (0, "TOOL_ERROR", None),
        (12345, "TOOL_ERROR", None),
    ],
)
def test_an_error_of_the_protocol_is_one_of_the_tool(code: int, kind: str, hint: str | None) -> None:
    error = explain_refusal("git", code, "no such thing")
    assert error.code == kind
    assert error.message == f"The MCP server git refused the call: no such thing ({code})"
    assert (error.hint is None) if hint is None else (hint in str(error.hint))


@pytest.mark.parametrize(
    ("message", "data", "words"),
    [
        ("", None, "It gave no reason. (-1)"),
        ("bad", {"path": "a"}, 'bad (-1) {"path":"a"}'),
        ("bad", "more", "bad (-1) more"),
        ("bad more", "more", "bad more (-1)"),
        ("bad", {}, "bad (-1)"),
        ("bad", "x" * 5_000, "bad (-1) (5,000 characters)"),
    ],
)
def test_the_data_of_an_error_is_said_too(message: str, data: object, words: str) -> None:
    assert explain_refusal("git", -1, message, data).message.endswith(f"refused the call: {words}")
