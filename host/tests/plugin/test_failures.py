"""A failure as the document that a client gets: in the shape of the web tools, or in the plugin's own."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ferrule.errors import (
    ArgumentsInvalid,
    CredentialMissing,
    DeadlinePassed,
    FerruleError,
    ToolCrashed,
    ToolError,
)
from ferrule.plugin import failures
from ferrule.text import strict_json
from ferrule_testkit.machine import Finished, Machine
from ferrule_testkit.runs import run_forked

RENDERER = """
def render(facts):
    return {"error": True, "message": facts["message"], "code": facts["code"], "facts": sorted(facts)}
"""
Answer = Callable[..., Finished]


@pytest.mark.parametrize(
    ("error", "document"),
    [
        pytest.param(
            ToolError("HTTP_ERROR", "HTTP 404: Not Found"),
            {"success": False, "error": "HTTP 404: Not Found", "error_code": "HTTP_ERROR"},
            id="tool-error",
        ),
        pytest.param(
            ToolError("RATE_LIMIT", "Too many requests.", hint="Wait a minute.", retry_after=60),
            {
                "success": False,
                "error": "Too many requests. Wait a minute.",
                "error_code": "RATE_LIMIT",
                "retry_after": 60,
            },
            id="hint-and-retry-after",
        ),
        pytest.param(
            ToolError("RATE_LIMIT", "Now.", retry_after=0),
            {"success": False, "error": "Now.", "error_code": "RATE_LIMIT", "retry_after": 0},
            id="retry-at-once",
        ),
        pytest.param(
            CredentialMissing("AUTH_MISSING", "No key.", details={"a": 1}, event={"kind": "config_required"}),
            {"success": False, "error": "No key.", "error_code": "AUTH_MISSING"},
            id="details-and-event-are-left-out",
        ),
        pytest.param(
            ArgumentsInvalid(["a: expected integer, got null", "b: too long"]),
            {
                "success": False,
                "error": "Invalid arguments: a: expected integer, got null; b: too long.",
                "error_code": "INVALID_INPUT",
            },
            id="arguments",
        ),
        pytest.param(
            DeadlinePassed("Too late."),
            {"success": False, "error": "Too late.", "error_code": "TIMEOUT"},
            id="deadline",
        ),
        pytest.param(
            ToolCrashed("It crashed.", hint="Ask for less."),
            {"success": False, "error": "It crashed. Ask for less.", "error_code": "INTERNAL_ERROR"},
            id="crash",
        ),
    ],
)
def test_the_web_tools_shape_has_the_sentences_the_code_and_the_wait(error: FerruleError, document: Any) -> None:
    assert failures.default_document(error.facts()) == document
    assert strict_json.loads(failures.document(error.facts(), None)) == document


@pytest.mark.parametrize(
    ("message", "shown"),
    [("a\0b", "a\ufffdb"), ("a\ud800b", "a?b"), ("x" * 9000, "x" * 7999 + "…"), ("😀" * 9000, "😀" * 7999 + "…")],
    ids=["nul", "surrogate", "long", "long-emoji"],
)
def test_a_message_is_made_so_that_a_client_can_read_it(message: str, shown: str) -> None:
    document = failures.document({"code": "X", "message": message}, None)
    assert strict_json.loads(document) == {"success": False, "error": shown, "error_code": "X"}
    assert len(document) < 65_535


def test_a_failure_of_which_nothing_is_known_is_a_document_all_the_same() -> None:
    assert failures.default_document({}) == {"success": False, "error": "", "error_code": "INTERNAL_ERROR"}
    assert failures.summary({}, "dice") == "dice: INTERNAL_ERROR: "


def test_the_summary_is_one_line() -> None:
    facts = ToolError("NO_DICE", "Two\nlines.", hint="Not this.").facts()
    assert failures.summary(facts, "dice") == "dice: NO_DICE: Two lines."


# A plugin's own rendering, through its entry point, in the real executable.


@pytest.fixture
def answer(machine: Machine) -> Answer:
    """Install a tool with a renderer, and call its executable."""

    def answer(renderer: str, stdin: str = "{}", **environment: str) -> Finished:
        machine.install("dice", top=renderer, execute="raise ToolError('NO_DICE', 'No dice.', hint='Buy some.')")
        metadata = machine.site / "dist_dice-1.0.dist-info" / "entry_points.txt"
        metadata.write_text(metadata.read_text() + "[ferrule.failures]\ndice = module_dice:render\n")
        every = {**machine.environment, **environment}
        ended = run_forked(machine.work / "dice-tool", stdin.encode(), environment=every, cwd=machine.work)
        return Finished(ended.exit_code, ended.stdout.decode(), ended.stderr.decode())

    return answer


@pytest.mark.process
def test_a_plugin_renders_its_failures_in_its_own_shape(answer: Answer) -> None:
    finished = answer(RENDERER)
    document = {"error": True, "message": "No dice.", "code": "NO_DICE", "facts": ["code", "hint", "message"]}
    assert json.loads(finished.out) == document
    assert finished.code == 1
    assert finished.err == "dice: NO_DICE: No dice.\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("stdin", "code"),
    [("", "INVALID_INPUT"), ('{"nothing": 1}', "INVALID_INPUT"), ('{"city": 5}', "INVALID_INPUT")],
    ids=["no-json", "unknown-argument", "wrong-type"],
)
def test_a_failure_that_the_host_finds_is_rendered_by_the_plugin_too(answer: Answer, stdin: str, code: str) -> None:
    document = json.loads(answer(RENDERER, stdin).out)
    assert (document["error"], document["code"]) == (True, code)


@pytest.mark.process
@pytest.mark.parametrize(
    "renderer",
    [
        pytest.param("def render(facts): raise OSError('no')", id="raises"),
        pytest.param("def render(facts): return [facts]", id="returns-a-list"),
        pytest.param("def render(facts): return None", id="returns-nothing"),
        pytest.param("def render(facts): return {'a': float('nan')}", id="returns-nan"),
        pytest.param("def render(facts): return {'a': 'x' * 70_000}", id="returns-too-much"),
        pytest.param("def render(): return {}", id="takes-no-facts"),
        pytest.param("render = 5", id="is-no-function"),
        pytest.param("", id="is-not-there"),
        pytest.param("import os\ndef render(facts): os._exit(0)", id="exits"),
        pytest.param("import os\ndef render(facts): os.abort()", id="aborts"),
        pytest.param("import time\ndef render(facts): time.sleep(60)", id="hangs"),
    ],
)
def test_a_renderer_that_fails_is_replaced_by_the_web_tools_shape(answer: Answer, renderer: str) -> None:
    finished = answer(renderer)
    document = {"success": False, "error": "No dice. Buy some.", "error_code": "NO_DICE"}
    assert json.loads(finished.out) == document
    assert finished.code == 1


@pytest.mark.process
def test_what_a_renderer_prints_does_not_reach_stdout(answer: Answer) -> None:
    finished = answer("import os\ndef render(facts):\n    print('hello')\n    os.write(1, b'x')\n    return {'a': 1}")
    assert finished.out == '{"a":1}\n'
