"""The test client has ikigai's limits, and each of them bites."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ferrule_testkit import ikigai, scripts

SCRIPT = Path(ikigai.__file__)
SCHEMA = '{"name": "x", "description": "y", "parameters": {"type": "object", "properties": {}}}'
CALL_WITHIN_A_SECOND = """
import sys
from ferrule_testkit import ikigai

tool = ikigai.Tool("late", sys.argv[1], {})
print(ikigai.call(tool, {}, limits=ikigai.Limits(call_seconds=1)))
"""

Write = Callable[..., ikigai.Tool]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tools = tmp_path / "tools"
    tools.mkdir()
    return tools


@pytest.fixture
def write(folder: Path) -> Write:
    """Write an executable, by default a shell script, and return it as the client would know it."""

    def write(name: str, body: str, *, shebang: str = "#!/bin/sh", into: Path = folder) -> ikigai.Tool:
        path = into / name
        path.write_text(f"{shebang}\n{body}\n")
        path.chmod(0o755)
        return ikigai.Tool(ikigai.tool_name(str(path)), str(path), {})

    return write


@pytest.fixture
def printing(folder: Path, write: Write) -> Callable[[bytes], ikigai.Tool]:
    """Write a tool that prints these bytes with one write, whatever the client does, and succeeds."""

    def printing(output: bytes) -> ikigai.Tool:
        (folder / "output").write_bytes(output)
        body = (
            "import os, sys\n"
            f"data = open({str(folder / 'output')!r}, 'rb').read()\n"
            "try:\n    os.write(1, data)\n"
            "except BrokenPipeError:\n    pass"
        )
        return write("printing-tool", body, shebang=scripts.shebang("-IS"))

    return printing


@pytest.fixture
def process_group(tmp_path: Path) -> Iterator[Path]:
    """A file for a tool to write its process group into, which is then ended together with what it left."""
    file = tmp_path / "group"
    yield file
    os.killpg(int(file.read_text()), signal.SIGKILL)


def run_client(
    *words: str | Path, cwd: Path | None = None, home: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(home)} if home else None
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)


def call_within_a_second(tool: ikigai.Tool) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parent)}
    command = [sys.executable, "-c", CALL_WITHIN_A_SECOND, tool.path]
    return subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=False)


def prints_schema(schema: str = SCHEMA) -> str:
    return f"printf %s '{schema}'"


# ---- discovery


def test_the_defaults_are_the_limits_of_the_client() -> None:
    limits = ikigai.Limits()
    assert (limits.schema_seconds, limits.schema_bytes) == (1, 8_191)
    assert (limits.call_seconds, limits.output_bytes) == (30, 65_535)


def test_limits_are_frozen() -> None:
    with pytest.raises(AttributeError, match="call_seconds"):
        ikigai.Limits().call_seconds = 60


@pytest.mark.process
def test_three_folders_are_read_and_later_ones_override_earlier_ones(tmp_path: Path, write: Write) -> None:
    system, home, project = tmp_path / "system", tmp_path / "home", tmp_path / "project"
    folders = {"system": system, "user": home / ".ikigai/tools", "project": project / ".ikigai/tools"}
    names = {"system": "abc", "user": "bc", "project": "c"}
    for whose, tools in folders.items():
        tools.mkdir(parents=True)
        for name in names[whose]:
            write(f"{name}-tool", prints_schema(f'"{whose}"'), into=tools)

    client = run_client("list", "--system", system, cwd=project, home=home)

    lines = [json.loads(line) for line in client.stdout.splitlines()]
    assert [(line["name"], line["schema"]) for line in lines] == [
        ("a", "system"),
        ("b", "user"),
        ("c", "project"),
    ]
    assert lines[2]["path"] == ".ikigai/tools//c-tool", "the project's tools are run by a relative path"


@pytest.mark.process
def test_folders_that_do_not_exist_are_no_error(tmp_path: Path) -> None:
    client = run_client("list", cwd=tmp_path, home=tmp_path)
    assert (client.returncode, client.stdout) == (0, "")


@pytest.mark.process
def test_the_name_is_taken_from_the_file_name(folder: Path, write: Write) -> None:
    write("web-search_brave-2-tool", prints_schema('{"name": "something_else"}'))
    assert list(ikigai.discover([folder])) == ["web_search_brave_2"]


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param("plain-tool", 0o644, id="not-executable"),
        pytest.param("plain-tool", 0o655, id="not-executable-for-its-owner"),
        pytest.param("plain-tool.sh", 0o755, id="suffix-after-tool"),
        pytest.param("plain_tool", 0o755, id="underscore"),
        pytest.param("-tool", 0o755, id="nothing-before-tool"),
    ],
)
def test_other_files_are_not_run(folder: Path, write: Write, name: str, mode: int) -> None:
    ran = folder / "ran"
    Path(write(name, f"touch '{ran}'; {prints_schema()}").path).chmod(mode)
    assert ikigai.discover([folder]) == {}
    assert not ran.exists()


@pytest.mark.process
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"{prints_schema()}; exit 1", id="exit-code-1"),
        pytest.param(f"{prints_schema()}; kill -9 $$", id="killed"),
        pytest.param("echo Hello", id="not-json"),
        pytest.param(f"{prints_schema()}; echo Hello", id="text-after-the-json"),
        pytest.param(f"{prints_schema()} | tr y '\\0'", id="nul-byte"),
        pytest.param(f"{prints_schema()} >&2", id="only-stderr"),
        pytest.param(":", id="silence"),
    ],
)
def test_a_tool_that_fails_is_skipped_and_the_others_are_not(folder: Path, write: Write, body: str) -> None:
    write("a-tool", prints_schema())
    write("bad-tool", body)
    write("z-tool", prints_schema())
    assert list(ikigai.discover([folder])) == ["a", "z"]


@pytest.mark.process
def test_a_file_that_cannot_be_run_is_skipped_and_the_others_are_not(folder: Path, write: Write) -> None:
    write("a-tool", prints_schema())
    write("bad-tool", "", shebang="#!/no/such/interpreter")
    write("worse-tool", prints_schema(), shebang="")
    (folder / "dangling-tool").symlink_to(folder / "nothing")
    (folder / "folder-tool").mkdir()
    assert list(ikigai.discover([folder])) == ["a"]


@pytest.mark.process
def test_any_json_is_taken_for_a_schema(folder: Path, write: Write) -> None:
    write("a-tool", prints_schema('{"a": 1}'))
    assert ikigai.discover([folder])["a"].schema == {"a": 1}


@pytest.mark.process
def test_a_schema_of_8191_bytes_is_taken(folder: Path, printing: Callable[[bytes], ikigai.Tool]) -> None:
    printing(b'"%s"' % (b"x" * 8_189))
    assert ikigai.discover([folder])["printing"].schema == "x" * 8_189


@pytest.mark.process
def test_a_schema_of_8192_bytes_is_dropped(folder: Path, printing: Callable[[bytes], ikigai.Tool]) -> None:
    printing(b'"%s"' % (b"x" * 8_190))
    assert ikigai.discover([folder]) == {}


@pytest.mark.process
def test_what_follows_the_last_byte_of_a_schema_is_not_seen(
    folder: Path, printing: Callable[[bytes], ikigai.Tool]
) -> None:
    printing(b'"%s"garbage' % (b"x" * 8_189))
    assert list(ikigai.discover([folder])) == ["printing"]


@pytest.mark.process
def test_a_schema_after_a_second_ends_the_client(folder: Path, write: Write) -> None:
    write("late-tool", f"sleep 1.1; {prints_schema()}")
    client = run_client("list", "--folder", folder)
    assert client.returncode == -signal.SIGALRM
    assert client.stdout == ""


@pytest.mark.process
def test_a_child_that_keeps_the_stdout_of_a_schema_open_ends_the_client(folder: Path, write: Write) -> None:
    write("leaky-tool", f"{prints_schema()}; sleep 3 &")
    assert run_client("list", "--folder", folder).returncode == -signal.SIGALRM


@pytest.mark.process
def test_a_schema_is_asked_for_with_one_argument_and_the_stdin_of_the_client(folder: Path, write: Write) -> None:
    write("a-tool", """printf '["%s", "%s", "%s"]' "$#" "$1" "$(cat)" """)
    command = [sys.executable, str(SCRIPT), "list", "--folder", str(folder)]
    client = subprocess.run(command, input="typed", capture_output=True, text=True, check=True)
    assert json.loads(client.stdout)["schema"] == ["1", "--schema", "typed"]


# ---- a call


@pytest.mark.process
def test_a_call_gets_its_arguments_on_stdin_and_its_result_is_wrapped(write: Write) -> None:
    tool = write("a-tool", "cat")
    assert ikigai.call(tool, {"city": "Zürich"}) == {"tool_success": True, "result": {"city": "Zürich"}}


@pytest.mark.process
def test_a_call_gets_no_argument_a_process_group_of_its_own_and_the_agents_id(write: Write) -> None:
    facts = '[os.getpid(), os.getpgrp(), os.environ["IKIGAI_AGENT_ID"], sys.argv]'
    body = f"import json, os, sys\nprint(json.dumps({facts}))"
    tool = write("a-tool", body, shebang=scripts.shebang())
    pid, group, agent, argv = ikigai.call(tool, {}, agent_id="agent-7")["result"]
    assert pid == group != os.getpgrp()
    assert agent == "agent-7"
    assert argv == [tool.path]


@pytest.mark.process
def test_a_result_of_65535_bytes_is_whole(printing: Callable[[bytes], ikigai.Tool]) -> None:
    tool = printing(b'"%s"' % (b"x" * 65_533))
    assert ikigai.call(tool, {}) == {"tool_success": True, "result": "x" * 65_533}


@pytest.mark.process
def test_a_result_of_65536_bytes_is_invalid(printing: Callable[[bytes], ikigai.Tool]) -> None:
    answer = ikigai.call(printing(b'"%s"' % (b"x" * 65_534)), {})
    assert answer == {
        "tool_success": False,
        "error": "Tool returned invalid JSON",
        "error_code": "INVALID_OUTPUT",
    }


@pytest.mark.process
def test_a_full_pipe_of_stderr_while_stdout_is_open_ends_the_client(write: Write) -> None:
    tool = write("noisy-tool", "head -c 70000 /dev/zero >&2; echo '{}'")
    client = call_within_a_second(tool)
    assert (client.returncode, client.stdout) == (-signal.SIGALRM, b"")


@pytest.mark.process
def test_a_full_pipe_of_stderr_after_stdout_is_closed_is_no_harm(write: Write) -> None:
    tool = write("noisy-tool", "echo '{}'; exec 1>&-; head -c 70000 /dev/zero >&2; exit 0")
    assert ikigai.call(tool, {}) == {"tool_success": True, "result": {}}


@pytest.mark.process
def test_a_child_that_keeps_stdout_open_hangs_the_client(write: Write, process_group: Path) -> None:
    tool = write("leaky-tool", f"echo $$ >'{process_group}'; sleep 600 2>/dev/null & echo '{{}}'")
    client = call_within_a_second(tool)
    assert (client.returncode, client.stdout) == (-signal.SIGALRM, b"")


@pytest.mark.process
def test_a_late_call_ends_the_client(write: Write, process_group: Path) -> None:
    tool = write("late-tool", f"echo $$ >'{process_group}'; exec sleep 600")
    assert call_within_a_second(tool).returncode == -signal.SIGALRM


@pytest.mark.process
def test_the_alarm_is_off_when_a_tool_has_answered(write: Write) -> None:
    tool = write("a-tool", f'[ "$1" = --schema ] && {prints_schema()} || echo 1')
    ikigai.read_schema(tool.path)
    assert signal.alarm(0) == 0
    ikigai.call(tool, {})
    assert signal.alarm(0) == 0


@pytest.mark.process
@pytest.mark.parametrize("ending", ["exit 1", "exit 255", "kill -9 $$"])
def test_a_failure_throws_stdout_away_and_shows_242_bytes_of_stderr(write: Write, ending: str) -> None:
    tool = write("a-tool", f"""echo '{{"success": false}}'; printf %0300d 7 >&2; {ending}""")
    answer = ikigai.call(tool, {})
    assert answer == {
        "tool_success": False,
        "error": "Tool failed: " + "0" * 242,
        "error_code": "TOOL_FAILED",
    }


@pytest.mark.process
def test_a_failure_without_a_word_says_so(write: Write) -> None:
    answer = ikigai.call(write("a-tool", "echo '{}'; exit 1"), {})
    assert answer["error"] == "Tool exited with non-zero status"


@pytest.mark.process
def test_a_tool_that_is_gone_has_failed_without_a_word(folder: Path) -> None:
    answer = ikigai.call(ikigai.Tool("gone", str(folder / "gone-tool"), {}), {})
    assert answer["error"] == "Tool exited with non-zero status"


@pytest.mark.process
def test_success_without_output_is_a_failure(write: Write) -> None:
    answer = ikigai.call(write("a-tool", "echo Hello >&2"), {})
    assert (answer["tool_success"], answer["error"]) == (False, "Tool produced no output")


@pytest.mark.process
def test_arguments_that_a_tool_does_not_take_are_a_failure(write: Write) -> None:
    answer = ikigai.call(write("a-tool", "exit 0"), {"text": "x" * 200_000})
    assert (answer["tool_success"], answer["error"]) == (False, "Failed to write arguments to tool")


@pytest.mark.process
@pytest.mark.parametrize(
    "output",
    [
        pytest.param(b'{"a": NaN}', id="nan"),
        pytest.param(b"[-Infinity]", id="infinity"),
        pytest.param(b"[1e999]", id="overflow"),
        pytest.param(b"[" + b"9" * 400 + b"]", id="overflowing-integer"),
        pytest.param(rb'["\ud800"]', id="lone-surrogate"),
        pytest.param(rb'["\ude00\ud83d"]', id="surrogates-in-the-wrong-order"),
        pytest.param(rb'{"a": "\ud800", "a": 1}', id="lone-surrogate-under-a-duplicate-key"),
        pytest.param(b'["\xed\xa0\x80"]', id="surrogate-as-utf-8"),
        pytest.param(b'["\xff"]', id="not-utf-8"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', id="byte-order-mark"),
        pytest.param(b'{"a": 1} {}', id="a-second-document"),
        pytest.param(b"Done.\n{}", id="text-before"),
        pytest.param(b'{"a": 1', id="half-a-document"),
        pytest.param(b'["\n"]', id="raw-control-character"),
        pytest.param(b"\0{}", id="nul-byte-first"),
    ],
)
def test_output_that_is_no_strict_json_is_invalid(printing: Callable[[bytes], ikigai.Tool], output: bytes) -> None:
    assert ikigai.call(printing(output), {})["error_code"] == "INVALID_OUTPUT"


@pytest.mark.process
@pytest.mark.parametrize(
    ("output", "result"),
    [
        pytest.param(b'{"a": 1, "a": 2}\n', {"a": 2}, id="duplicate-keys"),
        pytest.param(b'[1]\0, "anything"', [1], id="nul-byte-ends-the-string"),
        pytest.param(rb'["\u0000"]', ["\0"], id="escaped-nul"),
        pytest.param(rb'["\ud83d\ude00", "\\ud800"]', ["\U0001f600", r"\ud800"], id="surrogate-pair"),
        pytest.param(b"[1e-999, 123456789012345678901234567890]", [0.0, 1.2345678901234568e29], id="numbers"),
        pytest.param(b"null", None, id="no-object"),
    ],
)
def test_other_json_is_a_result(printing: Callable[[bytes], ikigai.Tool], output: bytes, result: object) -> None:
    assert ikigai.call(printing(output), {}) == {"tool_success": True, "result": result}


@pytest.mark.process
def test_deep_nesting_is_a_result(printing: Callable[[bytes], ikigai.Tool]) -> None:
    assert ikigai.call(printing(b"[" * 1_200 + b"]" * 1_200), {})["tool_success"] is True


# ---- the command


@pytest.mark.process
def test_the_command_prints_what_the_model_is_shown(folder: Path, write: Write) -> None:
    write("a-tool", f'[ "$1" = --schema ] && {prints_schema()} || cat')
    client = run_client("call", "a", '{"a": 1}', "--folder", folder)
    assert (client.returncode, json.loads(client.stdout)) == (0, {"tool_success": True, "result": {"a": 1}})


@pytest.mark.process
def test_the_command_fails_for_a_tool_that_was_not_found(folder: Path) -> None:
    client = run_client("call", "nothing", "--folder", folder)
    assert (client.returncode, json.loads(client.stdout)["error"]) == (1, "Tool not found in registry")


@pytest.mark.process
@pytest.mark.parametrize("words", [[], ["call"], ["list", "more"], ["list", "--folder"], ["call", "a", "{}", "more"]])
def test_a_wrong_command_line_is_told_how_it_goes(words: list[str]) -> None:
    client = run_client(*words)
    assert client.returncode == 2
    assert client.stderr.startswith("usage: ")
