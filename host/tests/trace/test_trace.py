"""`ferrule run --trace`: what real calls touch, as the kernel and Python tell it."""

import errno
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from ferrule.confinement.kernel.kernel_support import support
from ferrule.trace.witness import Witness
from ferrule_dev.testing import Server
from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not support().notifications, reason="this kernel tells nobody of system calls"),
]
ANY = {"path": {"type": "string", "description": "x"}}
TOP = "import os, socket, subprocess, threading, urllib.request"


def install(machine: Machine, execute: str, top: str = TOP) -> None:
    machine.install("probe", properties=ANY, top=top, execute=execute)


def traced(machine: Machine, *words: str, code: int = 0, **options: Any) -> dict[str, Any]:
    done = machine.ferrule("run", "--trace", "--json", "probe", *words, stdin=b"{}", **options)
    assert done.code == code, done.out + done.err
    document: dict[str, Any] = done.document
    return document


NOTHING = {"network": [], "read": [], "write": [], "programs": [], "environment": [], "processes": 0}


def needs(machine: Machine, execute: str, *words: str, top: str = TOP, **options: Any) -> dict[str, Any]:
    """What a tool needs beyond nothing."""
    install(machine, execute, top)
    found = traced(machine, *words, **options)["permissions"]
    return {key: value for key, value in found.items() if value != NOTHING[key]}


def test_a_call_that_touches_nothing_of_its_own_needs_nothing(machine: Machine) -> None:
    install(
        machine,
        "import json, sqlite3, ssl, tempfile, zoneinfo\n"
        "    zoneinfo.ZoneInfo('Europe/Oslo'); ssl.create_default_context()\n"
        "    with tempfile.NamedTemporaryFile() as file:\n        file.write(b'x')\n"
        "    thread = threading.Thread(target=int); thread.start(); thread.join()\n"
        "    return {'home': os.environ['HOME'], 'zero': len(open('/dev/urandom', 'rb').read(3))}",
    )
    found = traced(machine)
    assert found["answer"] == {"home": str(machine.home), "zero": 3}
    assert found["permissions"] == NOTHING
    assert {key: value for key, value in found["trace"].items() if value and key != "variables"} == {}


def test_files_that_are_read_and_written_are_told_as_the_places_that_a_declaration_names(machine: Machine) -> None:
    notes, work = machine.home / "notes", machine.work
    notes.mkdir()
    for name in ("a", "b", "c"):
        (notes / name).write_text(name)
    (machine.home / "one").write_text("1")
    (work / "here").write_text("2")
    (work / "out").mkdir()
    (machine.home / "link").symlink_to(work / "here")
    found = needs(
        machine,
        "home = os.environ['HOME']\n"
        "    [open(f'{home}/notes/{name}').read() for name in 'abc']\n"
        "    os.path.exists(f'{home}/none') or open(f'{home}/one').read()\n"
        "    folder = os.open(home, os.O_PATH); os.open('link', os.O_RDONLY, dir_fd=folder)\n"
        "    open('out/new', 'w').write('x'); os.rename('out/new', 'out/newer')\n"
        "    try:\n        open(f'{home}/missing')\n    except OSError:\n        return {}\n",
    )
    assert found == {"read": ["./here", "~/notes", "~/one"], "write": ["./out"]}


def test_a_file_that_is_only_changed_needs_no_more_than_itself(machine: Machine) -> None:
    (machine.home / "list").write_text("1")
    assert needs(machine, "open(os.path.expanduser('~/list'), 'a').write('2')\n    return {}") == {"write": ["~/list"]}


def test_a_broad_folder_is_noted(machine: Machine) -> None:
    install(machine, "open(os.path.expanduser('~/made'), 'w').close()\n    return {}")
    found = traced(machine)
    assert found["permissions"]["write"] == ["~"]
    assert found["notes"] == ["~ is broad; a folder of its own would do with less."]


def test_programs_are_told_with_what_they_touch_and_are_no_copies(machine: Machine) -> None:
    (machine.home / "data").write_text("x")
    (machine.home / "script").write_text("#!/bin/sh\nexec cat ~/data\n")
    (machine.home / "script").chmod(0o755)
    found = needs(
        machine,
        "for _ in range(2):\n        subprocess.run(['cat', os.path.expanduser('~/data')], check=True)\n"
        "    subprocess.run([os.path.expanduser('~/script')], check=True)\n    return {}",
    )
    assert found == {"read": ["~/data"], "programs": [f"{machine.home}/script", "cat"]}


def test_copies_are_counted_as_many_as_there_are_at_a_time(machine: Machine) -> None:
    found = needs(
        machine,
        "for _ in range(3):\n"
        "        children, (ours, theirs) = [], os.pipe()\n"
        "        for _ in range(2):\n"
        "            child = os.fork()\n"
        "            if child == 0:\n                os.close(theirs); os.read(ours, 1); os._exit(0)\n"
        "            children.append(child)\n"
        "        os.close(theirs)\n"
        "        [os.waitpid(child, 0) for child in children]\n"
        "    return {}",
    )
    assert found == {"processes": 2}


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


def test_connections_are_told_with_the_names_that_led_there(machine: Machine, server: Server) -> None:
    url = server.page("/", "hello")
    install(
        machine,
        f"urllib.request.urlopen({url!r}).read()\n"
        f"    urllib.request.urlopen({url.replace('127.0.0.1', 'localhost')!r}).read()\n    return {{}}",
    )
    found = traced(machine)
    port = int(url.rpartition(":")[2].rstrip("/"))
    assert {"address": "127.0.0.1", "port": port, "protocol": "tcp", "host": "localhost"} in found["trace"][
        "connections"
    ]
    assert found["trace"]["names"] == ["localhost"]
    assert found["permissions"]["network"] == ["loopback"]


def test_hosts_that_cannot_be_reached_are_told_too(machine: Machine) -> None:
    """The names below are of no one; a resolver, if there is one, answers that."""
    found = needs(
        machine,
        "for port in (443, 'http', None):\n"
        "        try:\n            socket.getaddrinfo(f'api-{port}.invalid', port)\n"
        "        except OSError:\n            pass\n    return {}",
    )
    assert found == {"network": ["api-443.invalid:443", "api-http.invalid:80", "api-none.invalid:443"]}


def test_datagrams_are_told_where_they_are_sent(machine: Machine) -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as receiver:
        receiver.bind(("127.0.0.1", 0))
        port = receiver.getsockname()[1]
        install(
            machine,
            "one, two, idle = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3))\n"
            f"    one.sendto(b'x', ('127.0.0.1', {port}))\n"
            f"    two.connect(('127.0.0.1', {port})); two.send(b'y')\n"
            "    idle.connect(('192.0.2.1', 9))\n    return {}",
        )
        sent = traced(machine)["trace"]["connections"]
    assert sent == [{"address": "127.0.0.1", "port": port, "protocol": "udp", "host": ""}]


def test_a_query_for_a_name_is_read_of_what_any_program_sends(machine: Machine) -> None:
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x07example\x03com\x00\x00\x01\x00\x01"
    install(
        machine,
        "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        f"    one.sendmsg([{query!r}], [], 0, ('127.0.0.1', 53))\n    return {{}}",
    )
    found = traced(machine)["trace"]
    assert (found["names"], found["connections"]) == (["api.example.com"], [])


def test_variables_are_those_that_the_tool_asks_for(machine: Machine) -> None:
    machine.environment |= {"MY_CITY": "Oslo", "MY_OTHER": "x", "HTTP_PROXY": "http://127.0.0.1:1"}
    install(
        machine,
        "copy = dict(os.environ); os.environ.get('MY_UNSET'); os.getenv('HTTP_PROXY')\n"
        "    return {'city': os.environ['MY_CITY'], 'copied': copy['MY_OTHER']}",
    )
    found = traced(machine)
    assert found["answer"] == {"city": "Oslo", "copied": "x"}
    assert found["permissions"]["environment"] == ["MY_CITY"]
    assert "MY_UNSET" in found["trace"]["variables"]
    assert "MY_OTHER" not in found["trace"]["variables"]


def test_a_variable_that_is_asked_for_by_bytes_has_no_name_of_its_own(machine: Machine) -> None:
    install(machine, "return {'paths': len(os.get_exec_path())}")
    assert traced(machine)["trace"]["variables"] == []


def test_a_trace_without_json_shows_the_answer_and_what_to_paste(machine: Machine) -> None:
    (machine.home / "one").write_text("1")
    install(machine, "return {'one': open(os.path.expanduser('~/one')).read()}")
    out = machine.ferrule("run", "--trace", "probe", stdin=b"{}").out
    assert out.startswith('{\n  "one": "1"\n}\n')
    assert f"Files read:\n  {machine.home}/one\n" in out
    declaration = json.loads(out.partition("For tool.json:\n")[2])
    assert declaration == {"permissions": {**NOTHING, "read": ["~/one"]}}


def test_a_call_that_fails_or_dies_is_traced_up_to_there(machine: Machine) -> None:
    (machine.home / "one").write_text("1")
    install(machine, "open(os.path.expanduser('~/one')).read()\n    os.kill(os.getpid(), 9)")
    found = traced(machine, code=1)
    assert "SIGKILL" in found["answer"]["error"]
    assert found["permissions"]["read"] == ["~/one"]


def test_what_a_call_leaves_behind_is_ended_and_the_trace_with_it(machine: Machine) -> None:
    install(machine, "subprocess.Popen(['sleep', '600'], start_new_session=True)\n    return {}")
    assert traced(machine)["permissions"]["programs"] == ["sleep"]


def test_threads_that_open_files_at_the_same_time_are_all_seen(machine: Machine) -> None:
    for number in range(40):
        (machine.home / f"folder{number}").mkdir()
        (machine.home / f"folder{number}" / "file").write_text("x")
    found = needs(
        machine,
        "threads = [threading.Thread(target=lambda n=n: open(os.path.expanduser(f'~/folder{n}/file')).read())"
        " for n in range(40)]\n"
        "    [thread.start() for thread in threads]; [thread.join() for thread in threads]\n    return {}",
    )
    assert len(found["read"]) == 40


def test_confined_needs_trace(machine: Machine) -> None:
    install(machine, "return {}")
    assert machine.ferrule("run", "--confined", "probe").code == 2


@pytest.mark.parametrize("is_told", [True, False])
def test_a_confined_trace_shows_what_was_denied_and_proposes_nothing_of_it(is_told: bool, machine: Machine) -> None:
    for name in ("one", "two"):
        (machine.home / name).write_text("1")
    body = """home = os.path.expanduser('~')
    open(home + '/two').read()
    for path, mode in ((home + '/one', 'r'), (home + '/new', 'w')):
        try: open(path, mode)
        except OSError: last = path
    if IS_TOLD: open(home + '/one')
    return {}"""
    declared = {"read": [str(machine.home / "two")]}
    execute = body.replace("IS_TOLD", str(is_told))
    machine.install("probe", properties=ANY, top=TOP, execute=execute, permissions=declared)
    found = traced(machine, "--confined", code=int(is_told))
    assert found["answer"].get("success", True) is not is_told
    wanted = [{"kind": "read", "what": f"{machine.home}/one"}, {"kind": "write", "what": f"{machine.home}/new"}]
    assert sorted(found["denied"], key=str) == sorted(wanted, key=str)
    assert found["trace"]["read"] == [f"{machine.home}/two"]
    assert (found["permissions"]["read"], found["permissions"]["write"]) == (["~/two"], [])
    assert found["trace"]["written"] == []
    shown = machine.ferrule("run", "--trace", "--confined", "probe", stdin=b"{}").out
    assert f"Files read:\n  {machine.home}/two\n\n" in shown


def test_a_confined_trace_changes_modes_and_times_where_the_call_may_and_nowhere_else(machine: Machine) -> None:
    own, other = machine.work / "own", machine.work / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "file").write_text("1")
    body = f"""got = []
    for path in ({str(own)!r}, {str(own / "file")!r}, {str(other / "file")!r}):
        for change in (lambda: os.utime(path, (5, 5)), lambda: os.chmod(path, 0o700), lambda: open(path).fileno()):
            try: got.append(change() and None)
            except OSError as error: got.append(error.errno)
    with open({str(other / "file")!r}) as file:
        try: os.fchmod(file.fileno(), 0)
        except OSError as error: got.append(error.errno)
    return {{"got": got}}"""
    declared = {"read": [str(other)], "write": [str(own)]}
    machine.install("probe", properties=ANY, top=TOP, execute=body, permissions=declared)
    found = traced(machine, "--confined")
    refused = [errno.EPERM, errno.EPERM, None, errno.EPERM]
    assert found["answer"]["got"] == [None, None, errno.EISDIR, None, None, None, *refused]
    assert (own / "file").stat().st_mtime == 5
    assert (other / "file").stat().st_mode & 0o777 != 0
    assert found["denied"] == [{"kind": "write", "what": str(other / "file")}]
    assert found["permissions"]["write"] == ["./own"]


@pytest.mark.slow
def test_what_is_printed_is_enough_and_less_is_not(machine: Machine, server: Server) -> None:
    """The same call gets the same answer when it is held to what its trace has printed."""
    machine.environment["MY_CITY"] = "Oslo"
    (machine.home / "notes").mkdir()
    for name in "abc":
        (machine.home / "notes" / name).write_text(name)
    (machine.home / "out").mkdir()
    url = server.page("/", "hello")
    install(
        machine,
        "home = os.environ['HOME']\n"
        "    read = ''.join(open(f'{home}/notes/{name}').read() for name in 'abc')\n"
        "    open(f'{home}/out/new', 'w').write(read); os.replace(f'{home}/out/new', f'{home}/out/last')\n"
        "    printed = subprocess.run(['cat', f'{home}/out/last'], capture_output=True, check=True).stdout.decode()\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        os._exit(7)\n"
        "    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        f"    page = urllib.request.urlopen({url!r}).read().decode()\n"
        "    return {'printed': printed, 'code': code, 'page': page, 'city': os.environ['MY_CITY']}",
    )
    traced_call = traced(machine)
    declaration = machine.site / "module_probe.tool.json"

    def outcome(permissions: dict[str, Any]) -> Any:
        declaration.write_text(json.dumps({"permissions": permissions}))
        machine.ferrule("permissions", "accept", "probe")
        return machine.ferrule("run", "probe", stdin=b"{}").document

    needed = traced_call["permissions"]
    assert needed == {
        "network": ["loopback"], "read": ["~/notes"], "write": ["~/out"], "programs": ["cat"],
        "environment": ["MY_CITY"], "processes": 1,
    }  # fmt: skip
    expected = {"printed": "abc", "code": 7, "page": "hello", "city": "Oslo"}
    assert (traced_call["answer"], outcome(needed)) == (expected, expected)
    for key in ("network", "read", "write", "programs", "environment"):  # programs may start as many as they like
        assert outcome({**needed, key: []}) != expected, key


def test_a_child_that_cannot_be_watched_says_why() -> None:
    with Witness() as witness, closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as child:
        child.connect(witness.path)
        child.send(b"Operation not permitted")
        assert child.recv(1) == b"", "nobody lets it go on"
    assert witness.failure == "Operation not permitted"


def test_a_witness_to_whom_nobody_comes_ends() -> None:
    with Witness() as witness:
        pass
    assert (witness.failure, witness.found.as_dict()["read"]) == ("", [])
