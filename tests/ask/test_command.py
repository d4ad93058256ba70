"""`ferrule ask` as a person runs it: the real command, the real search tool, and servers in the providers' places."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.machine import Finished
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, after, calls, failure, message, says, silent
from ferrule_testkit.processes import fork_server
from ferrule_testkit.processes.terminal import Terminal
from ferrule_testkit.runs import mark, marked, wait_for, wait_until_gone
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, Brave, brave_error, some_hits

pytestmark = pytest.mark.process


FERRULE = Path(sys.executable).parent / "ferrule"
TEXT = "It is 95,234 dollars."
BRAVE = "web_search_brave"
QUERY = {"query": "BTC price"}


@pytest.fixture
def search() -> Iterator[Server]:
    with Server() as server:
        server.route("*", Brave(some_hits(7)))
        yield server


@pytest.fixture
def environ(tmp_path: Path, search: Server, model_server: ModelServer) -> dict[str, str]:
    """The environment of a person who has the model's key, and no other."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "ANTHROPIC_API_KEY": MODEL_KEY,
        "ANTHROPIC_BASE_URL": model_server.url,
        "FERRULE_BRAVE_ENDPOINT": search.url + BRAVE_PATH,
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": BRAVE,
        "FERRULE_ASK_BUDGETS": "20 20 20",
    }


Ask = Callable[..., Finished]


@pytest.fixture
def ask(environ: dict[str, str], tmp_path: Path) -> Ask:
    """Run `ferrule ask ARGUMENT…` to its end; `_drop` names variables that are not set."""

    def ask(*arguments: str, stdin: bytes = b"", _drop: str = "", **more: str) -> Finished:
        known = {name: value for name, value in {**environ, **more}.items() if name != _drop}
        command = [str(FERRULE), "ask", *arguments]
        done = fork_server.run(
            "ferrule.cli:main", command, stdin, environment=known, cwd=tmp_path, packages=("ferrule", "ferrule_ask")
        )
        finished = Finished(done.exit_code, done.stdout.decode(), done.stderr.decode())
        for secret in (MODEL_KEY, BRAVE_KEY):
            assert secret not in finished.out + finished.err
        assert "Traceback" not in finished.err
        return finished

    return ask


# ---- the behaviour matrix of the specification


@pytest.mark.slow
def test_with_a_search_key_and_a_need_the_web_is_searched(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY), says(TEXT))
    done = ask("What is the price?", BRAVE_API_KEY=BRAVE_KEY)
    assert (done.code, done.out) == (0, f"{TEXT}\n")
    first, second = model_server.bodies
    assert [tool["name"] for tool in first["tools"]] == [BRAVE]
    (result,) = second["messages"][-1]["content"]
    assert result["content"].startswith("Search Results:\n\n1. Title 0\n   https://www.example.com/0\n   Text 0")
    assert result["content"].count("https://") == 5
    assert not result.get("is_error")
    assert done.err.startswith(f'{BRAVE} {{"query": "BTC price"}} … ')
    assert done.err.endswith(" s\n")
    assert not model_server.refused


@pytest.mark.slow
def test_with_a_search_key_and_no_need_nothing_is_searched(ask: Ask, model_server: ModelServer, search: Server) -> None:
    model_server.script(says(TEXT))
    done = ask("What is a list?", BRAVE_API_KEY=BRAVE_KEY)
    assert (done.code, done.out, done.err) == (0, f"{TEXT}\n", "")
    assert search.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(("prompt", "blank"), [("What is the price?", ""), ("What is a list?", " ")])
def test_without_a_search_key_the_model_is_offered_no_tool(
    prompt: str, blank: str, ask: Ask, model_server: ModelServer
) -> None:
    model_server.script(says(TEXT))
    done = ask(prompt, BRAVE_API_KEY=blank)
    assert (done.code, done.out, done.err) == (0, f"{TEXT}\n", "")
    assert "tools" not in model_server.bodies[0]


# ---- when something fails


@pytest.mark.slow
def test_a_search_that_fails_leaves_the_model_to_its_knowledge(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY), says(TEXT))
    done = ask("What is the price?", BRAVE_API_KEY="a-key-that-is-refused")
    assert (done.code, done.out) == (0, f"{TEXT}\n")
    call, warning = done.err.splitlines()
    assert call.endswith(" s, failed")
    assert warning.startswith(
        f"warning: {BRAVE} failed (AUTH_INVALID), so this is answered from what the model knows. "
    )
    assert "Brave" in warning
    (result,) = model_server.bodies[1]["messages"][-1]["content"]
    assert result["is_error"]
    assert result["content"] == "Search unavailable. Please answer from your knowledge."


@pytest.mark.slow
def test_a_key_in_a_providers_answer_reaches_neither_the_model_nor_the_terminal(
    ask: Ask, model_server: ModelServer, search: Server
) -> None:
    search.page("*", json.dumps(brave_error(422, "VALIDATION", f"bad {BRAVE_KEY}")), "application/json", status=422)
    model_server.script(calls(BRAVE, QUERY), says(f"I know {BRAVE_KEY[:3]} only."))
    ask("What is the price?", BRAVE_API_KEY=BRAVE_KEY)
    assert BRAVE_KEY not in json.dumps(model_server.bodies)


def test_without_the_models_key_it_is_said_how_to_set_one(ask: Ask, model_server: ModelServer) -> None:
    done = ask("What is it?", _drop="ANTHROPIC_API_KEY")
    assert (done.code, done.out) == (1, "")
    ways = ("AUTH_MISSING", "ANTHROPIC_API_KEY", "llm.anthropic.api_key", "~/.stps/anthropic_api_key", "https://")
    for way in (*ways, "ferrule credentials set ask api_key"):
        assert way in done.err
    assert model_server.requests == []


@pytest.mark.slow
def test_the_own_file_has_the_models_key_and_one_that_others_read_is_warned_of(
    ask: Ask, model_server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / ".stps").mkdir()
    key = tmp_path / ".stps/anthropic_api_key"
    key.write_text(f"{MODEL_KEY}\r\n")
    key.chmod(0o644)
    model_server.script(says(TEXT))
    done = ask("What is it?", _drop="ANTHROPIC_API_KEY")
    assert (done.code, done.out) == (0, f"{TEXT}\n")
    assert done.err == f"warning: {key} can be read by other users. Run: chmod 600 {key}\n"


@pytest.mark.slow
def test_a_key_file_that_others_may_write_is_told_and_no_other_key_asked_for(
    ask: Ask, model_server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / ".stps").mkdir()
    key = tmp_path / ".stps/anthropic_api_key"
    key.write_text(MODEL_KEY)
    key.chmod(0o666)
    done = ask("What is it?", _drop="ANTHROPIC_API_KEY")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"Error: AUTH_MISSING: {key} can be written by other users. Run: chmod 600 {key}\n"
    assert model_server.requests == []


@pytest.mark.slow
def test_an_error_is_told_with_its_code_and_a_cut_answer_printed_as_far_as_it_goes(
    ask: Ask, model_server: ModelServer
) -> None:
    model_server.script(failure(404, "model: claude-none"))
    done = ask("What is it?", "--model", "claude-none")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: MODEL_NOT_FOUND: ")
    model_server.script(says("It is", stop_reason="max_tokens"))
    done = ask("What is it?", "--max-tokens", "2")
    assert (done.code, done.out) == (1, "It is\n")
    assert done.err.startswith("Error: MAX_TOKENS: ")
    assert model_server.bodies[-1]["max_tokens"] == 2


@pytest.mark.slow
def test_json_has_the_sources_of_an_answer(ask: Ask, model_server: ModelServer, search: Server) -> None:
    model_server.script(calls(BRAVE, QUERY), says(TEXT))
    document = ask("What is the price?", "--json", BRAVE_API_KEY=BRAVE_KEY).document
    assert [(one["url"], one["tool"], one["cited"]) for one in document["sources"]] == [
        (f"https://www.example.com/{number}", BRAVE, None) for number in range(5)
    ]
    assert [one["tool"] for one in document["tool_calls"]] == [BRAVE]


@pytest.mark.slow
def test_json_says_what_came_of_the_tool(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY), says(TEXT))
    document = ask("What is the price?", "--json", BRAVE_API_KEY="a-key-that-is-refused").document
    assert (document["text"], document["tool_outcome"], document["tool_code"]) == (TEXT, "failed", "AUTH_INVALID")
    assert document["tool_error"] in document["warnings"][0]


@pytest.mark.slow
def test_without_its_tool_there_may_be_no_answer(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY, text="Let me look that up."))
    done = ask("What is the price?", "--on-tool-error", "null", BRAVE_API_KEY="a-key-that-is-refused")
    assert (done.code, done.out) == (1, "")
    assert f"Error: TOOL_FAILED: {BRAVE} failed (AUTH_INVALID), and no answer without it is wanted: " in done.err
    assert len(model_server.requests) == 1


@pytest.mark.slow
def test_the_search_with_a_fallback_is_the_default_where_a_provider_has_its_key(
    ask: Ask, model_server: ModelServer
) -> None:
    model_server.script(calls("web_search", QUERY), says(TEXT))
    done = ask("What is the price?", _drop="FERRULE_ASK_TOOLS", BRAVE_API_KEY=BRAVE_KEY)
    assert (done.code, done.out) == (0, f"{TEXT}\n")
    first, second = model_server.bodies
    assert [tool["name"] for tool in first["tools"]] == ["web_search"]
    assert second["messages"][-1]["content"][0]["content"].startswith("Search Results:\n\n1. Title 0\n")


# ---- options


@pytest.mark.slow
def test_json_has_the_whole_answer_and_what_was_left_out(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY), says(TEXT))
    document = ask("What is it?", "--json", BRAVE_API_KEY=BRAVE_KEY).document
    assert (document["text"], document["code"], document["tool"]) == (TEXT, None, BRAVE)
    assert document["tool_input"] == QUERY
    assert (document["left_out"], document["warnings"]) == ([], [])
    done = ask("What is it?", "--json", "--tool", BRAVE, _drop="ANTHROPIC_API_KEY")
    assert done.code == 1
    assert done.document["code"] == "AUTH_MISSING"
    assert [one["tool"] for one in done.document["left_out"]] == [BRAVE]


@pytest.mark.slow
def test_tools_that_are_named_are_offered_and_one_without_a_key_is_said_to_be_left_out(
    ask: Ask, model_server: ModelServer
) -> None:
    model_server.script(calls("example", {"city": "Oslo"}), says(TEXT))
    done = ask("What is it?", "--tool", "example", "--tool", BRAVE)
    assert done.code == 0
    assert [tool["name"] for tool in model_server.bodies[0]["tools"]] == ["example"]
    assert f"{BRAVE} is not offered: It needs an API key of Brave Search" in done.err


@pytest.mark.slow
def test_no_tools_offers_none_and_a_tool_beside_it_is_a_usage_error(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(says(TEXT))
    assert ask("What is it?", "--no-tools", BRAVE_API_KEY=BRAVE_KEY).code == 0
    assert "tools" not in model_server.bodies[0]
    assert ask("What is it?", "--no-tools", "--tool", BRAVE).code == 2
    assert ask(" ").code == 2
    assert ask("What is it?", "--max-tokens", "0").code == 2


def test_a_tool_that_is_not_installed_is_said_with_what_was_meant(ask: Ask, model_server: ModelServer) -> None:
    done = ask("What is it?", "--tool", "web_serch_brave")
    assert done.code == 1
    assert "web_serch_brave" in done.err
    assert model_server.requests == []


@pytest.mark.slow
def test_the_context_comes_from_a_file_or_from_stdin(ask: Ask, model_server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"\xef\xbb\xbfBitcoin \xc3\xbc")
    model_server.script(says(TEXT), says(TEXT))
    ask("What is it?", "--context", "notes.txt")
    ask("What is it?", "--context", "-", stdin=b"Ether")
    assert [request.question for request in model_server.requests] == [
        "Context: Bitcoin ü\n\nQuestion: What is it?",
        "Context: Ether\n\nQuestion: What is it?",
    ]


def test_a_context_from_a_stdin_that_is_closed_is_an_error_of_the_caller(environ: dict[str, str]) -> None:
    line = [*("sh", "-c", 'exec "$0" ask "What is it?" --context - <&-'), FERRULE]
    done = subprocess.run(line, env=environ, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"Error: stdin cannot be read: it is closed.\n")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_context_that_cannot_be_read_is_said_and_nothing_sent(
    content: bytes | None, ask: Ask, model_server: ModelServer, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "notes.txt").write_bytes(content)
    done = ask("What is it?", "--context", "notes.txt")
    assert done.code == 1
    assert done.err.startswith("Error: notes.txt ")
    assert model_server.requests == []


@pytest.mark.slow
def test_a_plan_says_what_it_would_take_and_sends_nothing(ask: Ask, model_server: ModelServer, search: Server) -> None:
    done = ask("What is it?", "--plan", BRAVE_API_KEY=BRAVE_KEY, _drop="ANTHROPIC_API_KEY")
    assert done.code == 0
    assert "At most 5 requests" in done.out
    assert BRAVE in done.out
    assert "US dollars" in done.out
    document = ask("What is it?", "--plan", "--json", "--no-tools").document
    assert (document["requests_max"], document["tools"]) == (1, [])
    assert model_server.requests == []
    assert search.requests == []


# ---- a terminal, and an interruption


def on_terminal(environ: dict[str, str], *arguments: str) -> tuple[int, str]:
    """The exit code, and all that was shown."""
    with Terminal([FERRULE, "ask", *arguments], environ) as terminal:
        return terminal.finish()


@pytest.mark.slow
def test_on_a_terminal_the_call_is_shown_as_it_happens_and_nothing_steers_it(
    environ: dict[str, str], model_server: ModelServer
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    query = {"query": f"BTC{evil}"}
    model_server.script(calls(BRAVE, query), says(f"It is\n{evil}95,234 dollars."))
    code, shown = on_terminal({**environ, "BRAVE_API_KEY": BRAVE_KEY}, "What is it?")
    assert code == 0
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.startswith(f'{BRAVE} {{"query": "BTC')
    answer, _, notes = shown.partition("\n\n[1] ")
    assert answer.endswith("It is\n\\u001b]0;owned\\u0007\\u001b[2J95,234 dollars.")
    assert notes.startswith("Title 0 (2026-01-02T03:04:05)\n    https://www.example.com/0\n[2] Title 1 (2026-")


@pytest.mark.slow
def test_elsewhere_the_text_is_printed_as_it_is(ask: Ask, model_server: ModelServer) -> None:
    text = "```python\n[x for x in 'C:\\\\']\t\x1b[1m\n```\n𝔊ü"
    model_server.script(says(text))
    assert ask("What is it?").out == f"{text}\n"
    assert "stream" not in model_server.bodies[0]


@pytest.mark.slow
def test_on_a_terminal_it_is_said_why_no_search_is_offered(environ: dict[str, str], model_server: ModelServer) -> None:
    model_server.script(says(TEXT))
    _, shown = on_terminal(environ, "What is it?")
    assert f"{BRAVE} is not offered: It needs an API key of Brave Search, which is not set." in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "where"),
    [
        (signal.SIGINT, "the model"),
        (signal.SIGINT, "the tool"),
        (signal.SIGTERM, "the tool"),
        (signal.SIGKILL, "the tool"),
    ],
)
def test_an_interruption_ends_the_command_at_once_and_leaves_nothing(
    number: signal.Signals, where: str, environ: dict[str, str], model_server: ModelServer, search: Server
) -> None:
    search.route("*", lambda exchange: exchange.hang())
    model_server.script(calls(BRAVE, QUERY) if where == "the tool" else silent())
    value, marks = mark({**environ, "BRAVE_API_KEY": BRAVE_KEY, "FERRULE_ASK_BUDGETS": "100 100 100"})
    process = subprocess.Popen(
        [FERRULE, "ask", "What is it?"], env=marks, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    )
    wait_for(lambda: search.requests if where == "the tool" else model_server.requests)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert out == b""
    assert b"Traceback" not in err
    wait_until_gone(value)


@pytest.mark.slow
def test_nothing_runs_any_more_when_the_command_has_ended(environ: dict[str, str], model_server: ModelServer) -> None:
    model_server.script(calls(BRAVE, QUERY), after(0.1, message(stop_reason="end_turn")))
    value, marks = mark({**environ, "BRAVE_API_KEY": BRAVE_KEY})
    done = subprocess.run([FERRULE, "ask", "What is it?"], env=marks, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"EMPTY_ANSWER" in done.stderr
    assert marked(value) == []


# ---- ferrule credentials


def credentials(environ: dict[str, str], *arguments: str, **more: Any) -> Finished:
    done = subprocess.run(
        [FERRULE, "credentials", *arguments], env=environ, capture_output=True, timeout=60, check=False, **more
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.slow
def test_the_models_key_is_set_shown_and_unset_as_that_of_a_tool(environ: dict[str, str], tmp_path: Path) -> None:
    del environ["ANTHROPIC_API_KEY"]
    missing = credentials(environ, "ask", "--json", "--check")
    assert missing.code == 1
    assert [(one["tool"], one["state"]) for one in missing.document["credentials"]] == [("ask", "missing")]
    assert "ask " not in credentials(environ).out
    assert credentials(environ, "set", "ask", "api_key", input=MODEL_KEY.encode()).code == 0
    file = tmp_path / ".config/ikigai/credentials.json"
    assert json.loads(file.read_text()) == {"llm": {"anthropic": {"api_key": MODEL_KEY}}}
    shown = credentials(environ)
    assert ["ask", "api_key", "set"] in [line.split()[:3] for line in shown.out.splitlines()]
    assert MODEL_KEY not in shown.out
    assert credentials(environ, "ask", "--check").code == 0
    assert credentials(environ, "unset", "ask").code == 0
    assert json.loads(file.read_text()) == {}


def test_the_own_file_counts_for_the_models_key(environ: dict[str, str], tmp_path: Path) -> None:
    del environ["ANTHROPIC_API_KEY"]
    (tmp_path / ".stps").mkdir()
    (tmp_path / ".stps/anthropic_api_key").write_text(MODEL_KEY)
    (tmp_path / ".stps/anthropic_api_key").chmod(0o600)
    (status,) = credentials(environ, "ask", "--json").document["credentials"]
    assert status["state"] == "set"
    assert ".stps/anthropic_api_key" in status["source"]


def test_a_credentials_file_that_cannot_be_used_does_not_hide_the_own_one(
    environ: dict[str, str], tmp_path: Path
) -> None:
    del environ["ANTHROPIC_API_KEY"]
    credentials(environ, "set", "ask", input=b"another-key")
    (tmp_path / ".config/ikigai/credentials.json").chmod(0o666)
    (tmp_path / ".stps").mkdir()
    (tmp_path / ".stps/anthropic_api_key").write_text(MODEL_KEY)
    (tmp_path / ".stps/anthropic_api_key").chmod(0o600)
    (status,) = credentials(environ, "ask", "--json").document["credentials"]
    assert (status["state"], status["problem"]) == ("set", None)


def test_ask_has_no_other_credential(environ: dict[str, str]) -> None:
    done = credentials(environ, "set", "ask", "engine", input=b"x")
    assert (done.code, done.err) == (1, "Error: ask has no credential 'engine'.\nIt has api_key.\n")
