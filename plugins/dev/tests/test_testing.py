"""`ferrule_dev.testing`, with which third parties test their plugins."""

from pathlib import Path

import pytest

from ferrule import Credential, ToolError
from ferrule_dev import testing

ANSWER = '{"success": true}'


def tool(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> str:
    path = folder / "almanac-tool"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return "almanac"


@pytest.mark.process
def test_a_run_has_exit_code_document_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = tool(tmp_path, monkeypatch, "echo words >&2; cat; echo; exit 1")
    run = testing.run_tool(name, {"city": "Łódź"})
    assert (run.exit_code, run.document, run.text) == (1, {"city": "Łódź"}, "words\n")
    assert "Łódź" in repr(run)


@pytest.mark.process
@pytest.mark.parametrize("printed", ["", "Traceback", f"{ANSWER} {ANSWER}", "[]", "NaN"])
def test_what_is_not_one_json_object_fails_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    name = tool(tmp_path, monkeypatch, f"echo '{printed}'")
    with pytest.raises(AssertionError, match="stdout is not one JSON"):
        testing.run_tool(name, {})


@pytest.mark.process
def test_a_document_without_a_newline_fails_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = tool(tmp_path, monkeypatch, f"printf %s '{ANSWER}'")
    with pytest.raises(AssertionError, match="newline"):
        testing.run_tool(name, {})


@pytest.mark.process
def test_variables_can_be_set_and_an_agents_own_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IKIGAI_AGENT_ID", "agent-1")
    name = tool(tmp_path, monkeypatch, 'echo "{\\"a\\": \\"$IKIGAI_AGENT_ID$ALMANAC_KEY\\"}"')
    assert testing.run_tool(name, {}, environ={"ALMANAC_KEY": "k"}).document == {"a": "k"}


@pytest.mark.process
def test_the_schema_is_what_the_executable_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert testing.schema_of(tool(tmp_path, monkeypatch, 'echo "{\\"name\\": \\"$1\\"}"')) == {"name": "--schema"}
    with pytest.raises(AssertionError, match="ended with 3"):
        testing.schema_of(tool(tmp_path, monkeypatch, "exit 3"))


def test_an_executable_that_is_not_installed_says_what_to_do() -> None:
    with pytest.raises(AssertionError, match="pip install -e"):
        testing.executable("nothing_of_that_name")


def test_a_context_is_a_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))
    events: list[dict[str, object]] = []
    declared = [Credential("key", environment="ALMANAC_KEY", path="almanac.key")]
    context = testing.context("almanac", seconds=5.0, credentials=declared, events=events)
    assert 0 < context.remaining() <= 5.0
    assert context.name_of("almanac") == context.tool == "almanac"
    with pytest.raises(ToolError) as missing:
        context.credential("key")
    assert missing.value.code == "AUTH_MISSING"
    monkeypatch.setenv("ALMANAC_KEY", "the-key")
    assert context.credential("key") == "the-key"
    context.event({"event": "told"})
    assert events == [{"event": "told"}]
