"""What calls leave in the journal, and what `ferrule log` shows of it."""

import json
import os
import resource
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import BIN, Machine

pytestmark = pytest.mark.process

SECRET = "s3cret-k3y-0123"
WITH_KEY = (
    "\n@hookimpl\ndef credentials():\n    return [Credential('key', environment='HELLO_KEY', path='hello.key')]\n"
)


@pytest.fixture
def journaled(machine: Machine) -> Machine:
    """A machine whose journal is on, with a tool that fails, waits or answers as it is told."""
    machine.install(
        "hello",
        properties={"city": {"type": "string", "description": "x"}, "fail": {"type": "boolean", "description": "x"}},
        top=WITH_KEY,
        execute=(
            "if arguments.get('fail'):\n        raise ToolError('CITY_UNKNOWN', arguments['city'])\n"
            "    return {'got': arguments}"
        ),
    )
    machine.environment |= {"HELLO_KEY": SECRET, "FERRULE_STATE": str(machine.home / "state")}
    configure(machine, "enabled = true")
    return machine


def configure(machine: Machine, *lines: str) -> None:
    folder = machine.home / ".config" / "ferrule"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text("\n".join(["[journal]", *lines]))


def call(machine: Machine, arguments: object, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Call the tool as its link does."""
    python = [BIN / "python", "-c", "from ferrule.dispatch import run; run('hello', [], {})"]
    environment = {**machine.environment, **options.pop("environment", {})}
    data = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    return subprocess.run(python, input=data, env=environment, capture_output=True, timeout=60, check=False, **options)


def path_of(machine: Machine) -> Path:
    return machine.home / "state" / "journal" / "calls.jsonl"


@pytest.mark.slow
def test_each_call_leaves_who_made_it_and_how_it_ended(journaled: Machine) -> None:
    answer = call(journaled, {"city": "Oslo"}, environment={"IKIGAI_AGENT_ID": "agent-7"})
    call(journaled, {"city": SECRET, "fail": True}, environment={"FERRULE_CALLER": "nightly"})
    call(journaled, b"no JSON")
    journaled.ferrule("run", "hello", "city=Bergen")
    journaled.ferrule("run", "absent")

    log = journaled.ferrule("log", "--json").document
    assert log["on"] is True
    first, second, third, fourth, fifth = log["calls"]
    assert (first["tool"], first["distribution"], first["version"]) == ("hello", "dist-hello", "1.0")
    assert (first["way"], first["agent"], first["outcome"]) == ("executable", "agent-7", "ok")
    assert (first["input_bytes"], first["output_bytes"]) == (16, len(answer.stdout) - 1)
    assert 0 < first["seconds"] < 60
    assert (second["way"], second["outcome"]) == ("nightly", "CITY_UNKNOWN")
    assert (third["outcome"], "arguments_hash" in third) == ("INVALID_INPUT", False)
    assert (fourth["way"], fourth["input_bytes"]) == ("run", len(b'{"city":"Bergen"}'))
    assert (fifth["tool"], fifth["outcome"], "version" in fifth) == ("absent", "TOOL_UNKNOWN", False)
    assert stat.S_IMODE(path_of(journaled).stat().st_mode) == 0o600
    assert SECRET not in path_of(journaled).read_text()

    def tools(*options: str) -> int:
        return len(journaled.ferrule("log", "--json", *options).document["calls"])

    assert [tools("--tool", "hello"), tools("--failed"), tools("--caller", "AGENT"), tools("--denied")] == [4, 3, 1, 0]
    assert [tools("--since", "1h"), tools("--since", "2100-01-01"), tools("--last", "2")] == [5, 0, 2]
    table = journaled.ferrule("log", "--tool", "hello", "--failed").out.splitlines()
    assert table[0].split() == ["TIME", "TOOL", "CALLER", "OUTCOME", "SECONDS", "IN", "OUT", "DENIED"]
    assert [row.split()[3:5] for row in table[1:3]] == [["nightly", "CITY_UNKNOWN"], ["executable", "INVALID_INPUT"]]
    assert table[3].startswith("2 calls, ")
    summary = journaled.ferrule("log", "--summary", "--json").document["tools"]
    assert [(one["tool"], one["calls"], one["failed"]) for one in summary] == [("absent", 1, 1), ("hello", 4, 2)]
    assert summary[1]["failures"] == {"CITY_UNKNOWN": 1, "INVALID_INPUT": 1}
    assert "1 CITY_UNKNOWN" in journaled.ferrule("log", "--summary").out


def test_what_a_call_was_denied_is_written_down(journaled: Machine) -> None:
    journaled.install("reads", execute=f"return {{'got': open({str(journaled.home / 'private')!r}).read()}}")
    (journaled.home / "private").write_text("x")
    journaled.ferrule("run", "reads", "city=Oslo")
    (kept,) = journaled.ferrule("log", "--json", "--denied").document["calls"]
    assert kept["outcome"] == "PERMISSION_DENIED"
    assert kept["denied"] == [{"kind": "read", "what": str(journaled.home / "private")}]
    assert journaled.ferrule("log", "--denied").out.splitlines()[1].endswith(f"read {journaled.home}/private")
    assert journaled.ferrule("log", "--summary", "--json").document["tools"][0]["denied"] == 1


def test_a_tool_cannot_write_a_journal_that_lies_where_it_may_write(journaled: Machine) -> None:
    notes = journaled.home / "notes"
    (notes / "inner").mkdir(parents=True)
    configure(
        journaled, "enabled = true", f'path = "{notes}/calls"', "[tools.forges.permissions]", 'write = ["~/notes"]'
    )
    journaled.install(
        "forges",
        top="import os",
        execute=(
            "made = []\n"
            "    for name in ('inner/own', 'calls', 'calls.key', 'calls.1', 'calls.2'):\n"
            "        try:\n"
            f"            open(os.path.join({str(notes)!r}, name), 'a').write('x'); made.append(name)\n"
            "        except OSError:\n            pass\n"
            "    return {'made': made}"
        ),
    )
    for _ in range(2):
        assert json.loads(journaled.ferrule("run", "forges", "city=Oslo").out) == {"made": ["inner/own"]}
    log = journaled.ferrule("log", "--json").document
    assert ([one["tool"] for one in log["calls"]], log["damaged"]) == (["forges", "forges"], [])


def test_full_arguments_are_kept_without_secrets(journaled: Machine) -> None:
    configure(journaled, "enabled = true", 'arguments = "full"', f'path = "{journaled.work}/own/calls"')
    call(journaled, {"city": f"<{SECRET}>"})
    call(journaled, {"city": f"<{SECRET}>", "wrong": 1})  # the tool is not asked for its secrets
    one, two = journaled.ferrule("log", "--json").document["calls"]
    assert one["arguments"] == {"city": "<[redacted]>"}
    assert two["arguments"] == {"city": "<[redacted]>", "wrong": 1}
    assert not path_of(journaled).exists()


def test_a_journal_that_is_off_writes_nothing_and_says_how_to_switch_it_on(journaled: Machine) -> None:
    configure(journaled, "enabled = false")
    assert call(journaled, {"city": "Oslo"}).returncode == 0
    shown = journaled.ferrule("log")
    assert (shown.code, "enabled = true" in shown.err) == (0, True)
    assert not path_of(journaled).parent.exists()


def full_disk() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))


@pytest.mark.slow
def test_a_full_disk_costs_the_line_and_nothing_of_the_call(journaled: Machine) -> None:
    well = call(journaled, {"city": "Oslo"})
    answers = [call(journaled, {"city": "Oslo"}, preexec_fn=full_disk) for _ in range(3)]
    assert {(one.returncode, one.stdout) for one in answers} == {(0, well.stdout)}
    told = b"ferrule: the journal cannot be written: No space left on device.\n"
    assert answers[-1].stderr == told
    kept = journaled.ferrule("log", "--json").document
    assert (len(kept["calls"]), kept["damaged"]) == ([one.stderr for one in answers].count(b"") + 1, [])


@pytest.mark.slow
def test_a_journal_that_cannot_be_opened_is_a_warning_and_a_finding_of_doctor(journaled: Machine) -> None:
    path_of(journaled).parent.mkdir(parents=True)
    path_of(journaled).mkdir()
    answer = call(journaled, {"city": "Oslo"})
    assert (answer.returncode, answer.stderr.count(b"\n")) == (0, 1)
    failed = call(journaled, {"city": "Oslo", "fail": True})
    assert failed.stderr == b"hello: CITY_UNKNOWN: Oslo\n", "what the client reads of a failure is the failure"
    found = journaled.ferrule("doctor", "--json").document
    assert [one["id"] for one in found["findings"] if one["id"].startswith("journal")] == ["journal-unwritable"]


def test_damaged_lines_are_told_and_the_rest_is_shown(journaled: Machine) -> None:
    call(journaled, {"city": "Oslo"})
    with path_of(journaled).open("ab") as journal:
        journal.write(b"\x1b[31m{half\n")
    call(journaled, {"city": "Oslo"})
    shown = journaled.ferrule("log")
    assert (shown.code, shown.out.splitlines()[-1].partition(",")[0]) == (0, "2 calls")
    assert shown.err == "1 line of the journal cannot be read, and left out: calls.jsonl:2.\n"
    assert journaled.ferrule("log", "--json").document["damaged"] == ["calls.jsonl:2"]


@pytest.mark.slow
def test_calls_are_followed_until_ctrl_c(journaled: Machine) -> None:
    call(journaled, {"city": "Oslo"})
    following = journaled.start("log", "--follow", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert following.stdout is not None
    assert json.loads(following.stdout.readline())["outcome"] == "ok"
    call(journaled, {"city": "Oslo", "fail": True})
    os.replace(path_of(journaled), f"{path_of(journaled)}.1")
    call(journaled, b"no JSON")
    assert [json.loads(following.stdout.readline())["outcome"] for _ in range(2)] == ["CITY_UNKNOWN", "INVALID_INPUT"]
    following.send_signal(signal.SIGINT)
    out, err = following.communicate(timeout=60)
    assert (following.returncode, out, err) == (0, b"", b"")


@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "ends with it"])
@pytest.mark.parametrize(
    ("tries", "told"),
    [
        ("import urllib.request; urllib.request.urlopen('http://collector.test/x', timeout=5)", "collector.test:80"),
        ("import socket; socket.create_connection(('192.0.2.7', 8125))", "192.0.2.7:8125"),
        ("import socket; socket.gethostbyname('collector.test')", "collector.test:*"),
        ("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", ""),
    ],
)
def test_what_a_call_without_a_network_wanted_to_reach_is_written_down(
    journaled: Machine, tries: str, told: str, *, goes_on: bool
) -> None:
    body = f"try: {tries}\n    except OSError: {'pass' if goes_on else 'raise'}\n    return {{}}"
    journaled.install("curious", execute=body, properties={}, permissions={"network": []})
    journaled.ferrule("run", "curious", stdin=b"{}")
    (kept,) = journaled.ferrule("log", "--json", "--denied").document["calls"]
    assert kept["denied"] == [{"kind": "connect", "what": told}]


def test_this_machines_own_name_is_looked_up_without_a_network(journaled: Machine) -> None:
    body = "import socket\n    return {'found': socket.gethostbyname('localhost')}"
    journaled.install("modest", execute=body, properties={}, permissions={"network": []})
    assert journaled.ferrule("run", "modest", stdin=b"{}").document == {"found": "127.0.0.1"}
    assert journaled.ferrule("log", "--json", "--denied").document["calls"] == []
