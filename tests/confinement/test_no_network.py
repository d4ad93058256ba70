"""A tool that says nothing of the network has none, by each way of calling it; one that says so has what it says."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import confinement
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferrule_serve.pool import Pool
    from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel cannot hold a call"),
]
JOURNAL = "[journal]\nenabled = true\n"
AUTHOR = "Its author declares the network in tool.json."
ASKS = "import urllib.request\n    return {{'got': urllib.request.urlopen({url!r}, timeout=9).read().decode()}}"
# The function's body, and the address that the refusal names; `.example` is never there.
WAYS = {
    "a page by its name": (
        "import urllib.request\n    urllib.request.urlopen('https://sky.example/')",
        "sky.example:443",
    ),
    "a page by its address": (
        "import urllib.request\n    urllib.request.urlopen('http://203.0.113.7:81/')",
        "203.0.113.7:81",
    ),
    "a connection": ("import socket\n    socket.create_connection(('2001:db8::7', 80), 3)", "[2001:db8::7]:80"),
    "a name alone": ("import socket\n    socket.gethostbyname('sky.example')", "sky.example:*"),
    "asyncio": (
        "import asyncio\n    asyncio.run(asyncio.open_connection('sky.example', 8443))",
        "sky.example:8443",
    ),
    "the host's client": (
        "from ferrule.http import Client\n"
        "    with Client(context.deadline) as client:\n"
        "        client.open('GET', 'https://sky.example/')",
        "sky.example:443",
    ),
    "an error of its own": (
        "import urllib.request\n"
        "    try:\n"
        "        urllib.request.urlopen('https://sky.example/')\n"
        "    except OSError:\n"
        "        raise ToolError('SKY_DARK', 'No sky today.')",
        "sky.example:443",
    ),
    "a socket of its own": ("import socket\n    socket.socket().connect(('203.0.113.7', 80))", "an address"),
}  # fmt: skip


@pytest.fixture
def page() -> Iterator[str]:
    """The URL of a server on loopback."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"blue")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def configure(machine: Machine, text: str) -> Path:
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_names_the_address_and_what_helps(way: str, machine: Machine) -> None:
    body, address = WAYS[way]
    machine.install("sky", properties={}, execute=f"{body}\n    return {{}}")
    done = machine.ferrule("run", "sky", "{}")
    assert done.document["error_code"] == "PERMISSION_DENIED", done.out
    own = " The tool said SKY_DARK: No sky today." if way == "an error of its own" else ""
    assert done.document["error"] == (
        f"sky wanted to reach {address}; it declares no network.{own} {AUTHOR} The administrator decides about that."
    )
    entry = "public" if address == "an address" else address
    quoted = f"'{entry}'" if {"*", "["} & set(entry) else entry
    assert f"`ferrule permissions grant sky --network {quoted}`" in done.err
    assert f'in tool.json: "permissions": {{"network": ["{entry}"]}}.' in done.err
    assert machine.ferrule("permissions", "grant", "sky", "--network", entry).code == 0


@pytest.mark.parametrize("declaration", [None, {}, {"title": "Sky"}, {"permissions": {"read": ["~/almanac"]}}], ids=str)
@pytest.mark.parametrize("way", ["executable", "run", "serve"])
def test_who_says_nothing_reaches_nothing(
    way: str, declaration: dict[str, Any] | None, machine: Machine, page: str
) -> None:
    module = machine.install("sky", properties={}, execute=ASKS.format(url=page))
    if declaration is not None:
        module.with_suffix(".tool.json").write_text(json.dumps(declaration))
    document = call(machine, way)
    assert document["error_code"] == "PERMISSION_DENIED"
    assert f"sky wanted to reach {page[7:-1]}; it declares no network." in document["error"]
    assert "ferrule permissions grant" not in json.dumps(document)


@pytest.mark.parametrize("way", ["executable", "run", "serve"])
def test_who_says_so_reaches_what_it_says(way: str, machine: Machine, page: str) -> None:
    machine.install("sky", properties={}, execute=ASKS.format(url=page), permissions={"network": ["loopback"]})
    assert call(machine, way) == {"got": "blue"}
    machine.install("sky", properties={}, execute=ASKS.format(url=page), permissions={"network": ["public"]})
    assert machine.ferrule("permissions", "accept", "sky").code == 0
    assert f"wanted to reach {page[7:-1]}; it may reach the public web." in call(machine, way)["error"]


def call(machine: Machine, way: str) -> dict[str, Any]:
    if way == "run":
        return dict(machine.ferrule("run", "sky", "{}").document)
    if way == "executable":
        assert machine.ferrule("link", "sky").code == 0
        done = subprocess.run(
            [machine.tools / "sky-tool"],
            input=b"{}",
            capture_output=True,
            cwd=machine.work,
            env=machine.environment,
            timeout=60,
            check=False,
        )
        return dict(json.loads(done.stdout))

    async def work(pool: Pool) -> bytes | str:
        return (await pool.call("sky", NO_ARGUMENTS)).document

    return dict(json.loads(Served(machine).run(work)))


@pytest.mark.slow
def test_a_tool_that_was_accepted_with_the_public_web_is_told_of_and_can_be_given_it_again(
    machine: Machine, page: str
) -> None:
    """As after an upgrade of the host: the record says `public`, which the tool never did."""
    configure(machine, JOURNAL)
    module = machine.install("sky", properties={}, execute=ASKS.format(url=page))
    assert machine.ferrule("run", "sky", "{}").document["error_code"] == "PERMISSION_DENIED"
    (record,) = (machine.home / ".local/state/ferrule/permissions").glob("sky*.json")
    content = json.loads(record.read_text())
    content["permissions"]["network"] = ["public"]
    record.write_text(json.dumps(content))

    assert machine.ferrule("permissions", "sky", "--json").document["tools"][0]["state"] == "as declared"
    assert "no network" in machine.ferrule("permissions", "sky").out
    findings = {one["id"]: one for one in machine.hide_commands().ferrule("doctor", "--json").document["findings"]}
    assert "had the public web" in findings["permissions-no-network"]["message"]
    refused = machine.ferrule("permissions", "sky", "--json").document["tools"][0]["refused"]
    command = refused[0]["command"]
    assert command == "ferrule permissions grant sky --network loopback"
    assert machine.ferrule(*command.split()[1:]).code == 0
    assert call(machine, "run") == {"got": "blue"}
    findings = {one["id"]: one for one in machine.hide_commands().ferrule("doctor", "--json").document["findings"]}
    assert "permissions-no-network" not in findings
    assert machine.ferrule("permissions", "revoke", "sky", "--all").code == 0

    module.with_suffix(".tool.json").write_text('{"permissions": {"network": ["sky.example:443"]}}')
    status = machine.ferrule("permissions", "sky", "--json").document["tools"][0]
    assert status["state"] == "as declared", "what the author says now is no more than what was accepted"


@pytest.mark.slow
def test_check_names_the_line_that_the_author_adds(machine: Machine) -> None:
    body, address = WAYS["a page by its name"]
    module = machine.install("sky", properties={}, execute=f"{body}\n    return {{}}")
    module.with_suffix(".tool.json").write_text('{"examples": [{}]}')
    report = machine.ferrule("check", "sky", "--quick", "--json", start_new_session=True).document
    checks = {one["id"]: one for one in report["targets"][0]["checks"]}
    for name in ("examples", "permissions"):
        assert checks[name]["state"] == "failed"
        assert f'Add "permissions": {{"network": ["{address}"]}} to tool.json' in json.dumps(checks[name]).replace(
            '\\"', '"'
        )


def test_the_executable_of_a_tool_of_four_functions_still_answers(machine: Machine) -> None:
    top = (
        "@hookimpl\ndef credentials():\n    return []\n\n"
        "@hookimpl\ndef validate(arguments):\n    return [] if arguments['city'].strip() else ['city: it is blank']\n"
    )
    machine.install("sky", top=top)
    assert machine.ferrule("run", "sky", '{"city": "Oslo"}').document == {"got": {"city": "Oslo"}}
    assert machine.ferrule("run", "sky", '{"city": " "}').document["error_code"] == "INVALID_INPUT"
