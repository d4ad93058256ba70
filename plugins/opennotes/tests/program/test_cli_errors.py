"""What the CLI's stderr is taken to say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule import Context, ToolError
from ferrule_opennotes.program.cli_errors import extract_message, require_success
from ferrule_opennotes.program.process import Output, Program, run
from ferrule_testkit.programs.opennotes import Cli

USAGE = """Usage:
  opennotes notes search [query] [flags]

Examples:
  Error: this is only an example

Flags:
      --sql string   Query with a 30s timeout. Path traversal (../) is blocked for security
      --notebook string   Path to notebook
"""
MESSAGES = [
    "open /x/.opennotes.json: no such file or directory",
    "SQL query failed: invalid query: keyword 'DROP' is not allowed",
    "SQL query failed: query execution failed: Parser Error: syntax error\n\nLINE 1: SELEC\n        ^",
    "SQL query failed: query execution failed: context deadline exceeded\nINTERRUPT Error: Interrupted!",
    "note already exists: /a/Usage: b.md",
    "failed to load view: view not found: Error: x",
]


def stderr(message: str, logs: str = "") -> str:
    return f"{logs}Error: {message}\n{USAGE}\n{message}\n"


@pytest.mark.parametrize("message", MESSAGES)
def test_the_message_is_what_stands_before_the_usage(message: str):
    assert extract_message(stderr(message)) == message


@pytest.mark.parametrize("message", MESSAGES)
def test_the_message_stands_once_where_there_is_no_usage(message: str):
    assert extract_message(f"Error: {message}\n{message}\n") == message


def test_log_lines_are_not_the_message():
    logs = "10:04AM INF executing boolean query conditionCount=1\n2026-01-01T00:00:00Z WRN odd\n"
    assert extract_message(stderr("no", logs)) == "no"


def test_log_lines_in_colours_are_not_the_message():
    logs = "\x1b[90m10:04AM\x1b[0m \x1b[32mINF\x1b[0m Error: in a log \x1b[36mx=\x1b[0m1\n"
    assert extract_message(stderr("\x1b[31mno\x1b[0m", logs)) == "no"


def test_the_last_line_counts_where_no_line_is_an_error():
    assert extract_message("10:04AM INF begun\nfirst\n\n last \n\n") == "last"


@pytest.mark.parametrize("log", ["10:04AM ERR no room", '{"level":"error","message":"no room"}', "10:04 FTL no room"])
def test_a_log_line_is_not_the_last_line_while_there_is_another(log: str):
    assert extract_message(f"cannot do it\n{log}\n") == "cannot do it"
    assert extract_message(f"{log}\n") == log


def test_a_crash_is_named_by_its_first_line():
    text = (
        "panic: runtime error: index out of range [1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1d\n"
    )
    assert extract_message(text) == "panic: runtime error: index out of range [1]"


def test_lines_of_windows_are_read_too():
    assert extract_message("Error: no\r\nUsage:\r\n  x\r\n\r\nno\r\n") == "no"


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_nothing_says_nothing(text: str):
    assert extract_message(text) == ""


def test_a_message_without_end_is_cut():
    assert len(extract_message(stderr("x" * 60_000))) == 1_001


def test_a_line_without_end_takes_no_time():
    assert extract_message("Error: " * 9_000) == extract_message("Error: " * 9_000)
    assert extract_message("\n" * 60_000) == ""
    assert extract_message(f"x{' ' * 60_000}y").startswith("x ")
    assert extract_message("\x1b[" * 30_000 + "1" * 60_000)


@pytest.mark.process
def test_a_failed_run_is_an_error_in_the_clis_own_words(
    cli: Cli, program: Program, make_context: Callable[..., Context], tmp_path: Path
):
    command = ["notes", "list"]
    output = run(program, command, make_context(), cwd=str(tmp_path), notebook="/nowhere")
    with pytest.raises(ToolError) as raised:
        require_success(output, program, command)
    name = f"/nowhere/{cli.config_name}"
    assert raised.value.message == f"The OpenNotes CLI failed: open {name}: no such file or directory"
    assert raised.value.details == {"command": [program.path, *command], "exitCode": 1}


@pytest.mark.parametrize(("code", "words"), [(3, "exit code 3"), (-9, "signal 9")])
def test_a_run_that_failed_silently_is_told_by_its_end(code: int, words: str):
    with pytest.raises(ToolError, match=words):
        require_success(Output("", "", code), Program("/bin/opennotes", "opennotes"), [])


def test_what_a_good_run_printed_is_returned():
    assert require_success(Output("x", "10:04AM WRN odd", 0), Program("/bin/opennotes", "opennotes"), []) == "x"
