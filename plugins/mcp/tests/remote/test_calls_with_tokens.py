"""Confined calls of a server that wants tokens: one renewal for all, rotation, revocation, and no token is printed."""

import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import ferrule_mcp
from ferrule.trust.credentials import credentials_writer
from ferrule_mcp.remote.oauth.paste import PastedRedirect
from ferrule_testkit.machine import BIN, Machine
from ferrule_testkit.programs.mcp_servers import SECOND, AuthorizationServer, authorize, browse, serve

pytestmark = pytest.mark.slow

KEY = "mcp.notes.token"
LISTED = [{"name": "token", "environment": "FERRULE_MCP_NOTES_TOKEN", "path": KEY}]
COMMAND = "ferrule mcp login notes"
TOP = f"""
@hookimpl
def credentials():
    return [Credential(**one) for one in {LISTED!r}]
"""
EXECUTE = """
    from ferrule_mcp.remote.call import call_tool
    server = {"name": "notes", "url": URL, "era": "2026-07-28", "headers": {"Authorization": "Bearer {token}"}}
    text = context.credential("token") if arguments.get("city") else "hi"
    return call_tool(server, "echo", {"text": text}, context, network=NETWORK)
"""
_PROCESSES = 20


class Notes:
    """The tool `notes` of a machine, of a server in which the user has logged in."""

    def __init__(self, machine: Machine, url: str, authority: AuthorizationServer) -> None:
        from ferrule_mcp.remote.oauth.login import log_in

        self.machine = machine
        self.authority = authority
        led: list[str] = []
        redirect = PastedRedirect(lambda address: led.append(browse(address)), lambda: led[0])
        self.secrets: set[str] = set()
        self.write(log_in(url, redirect, command=COMMAND))
        network = [urlsplit(url).netloc]
        top = f"{TOP}\nURL, NETWORK = {url!r}, {network!r}\n"
        machine.install("notes", top=top, execute=EXECUTE.strip())
        facts = {"credentials": LISTED, "permissions": {"network": network}}
        (machine.site / "module_notes.tool.json").write_text(json.dumps(facts))
        source = Path(ferrule_mcp.__file__).parent.parent
        machine.environment["PYTHONPATH"] += f":{source}"

    @property
    def token(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.machine.credentials.read_text())["mcp"]["notes"]["token"]
        self.secrets |= {found["access_token"], found.get("refresh_token", found["access_token"])}
        return found

    def write(self, token: dict[str, Any]) -> None:
        self.secrets |= {token["access_token"], token["refresh_token"]}
        credentials_writer.store(str(self.machine.credentials), KEY, token)

    def expire(self) -> None:
        self.write({**self.token, "expires_at": int(time.time()) - 1})

    def call(self, arguments: bytes = b"{}") -> dict[str, Any]:
        done = subprocess.run(
            [BIN / "ferrule", "run", "notes", "--json"],
            input=arguments,
            capture_output=True,
            cwd=self.machine.work,
            env=self.machine.environment,
            check=False,
        )
        self.token  # noqa: B018 - learns the secrets that the file has now
        output = (done.stdout + done.stderr).decode()
        assert not [secret for secret in self.secrets if secret in output], output
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.fixture
def notes(machine: Machine) -> Iterator[Notes]:
    with authorize() as authority, serve(SECOND, authority.issuer) as url:
        yield Notes(machine, url, authority)


def is_answered(document: dict[str, Any]) -> bool:
    return "hi" in json.dumps(document) and "error" not in document


def test_twenty_processes_renew_an_expired_token_once(notes: Notes) -> None:
    assert is_answered(notes.call())
    assert notes.authority.grants() == []
    before = notes.token
    notes.expire()
    with ThreadPoolExecutor(_PROCESSES) as pool:
        documents = list(pool.map(lambda _: notes.call(), range(_PROCESSES)))
    assert [one for one in documents if not is_answered(one)] == []
    assert [one["outcome"] for one in notes.authority.grants()] == ["success"]
    after = notes.token
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] != before["refresh_token"]


def test_a_refresh_token_that_rotates_is_followed(notes: Notes) -> None:
    seen = [notes.token["refresh_token"]]
    for _ in range(2):
        notes.expire()
        assert is_answered(notes.call())
        seen.append(notes.token["refresh_token"])
    assert len(set(seen)) == 3
    assert [one["outcome"] for one in notes.authority.grants()] == ["success"] * 2


def test_a_token_that_the_server_refuses_is_renewed_and_a_login_that_has_ended_is_said(notes: Notes) -> None:
    token = notes.token
    notes.write({**token, "access_token": "a-token-that-the-server-has-forgotten"})
    assert is_answered(notes.call())
    assert len(notes.authority.grants()) == 1
    notes.authority.revoke(notes.token["refresh_token"], token["client_id"])
    for _ in range(2):
        document = notes.call()
        assert document["error_code"] == "AUTH_INVALID", document
        assert "Log in again by `ferrule mcp login notes`." in document["error"]
    assert len(notes.authority.grants()) == 2


def test_a_call_without_a_login_names_the_command(notes: Notes) -> None:
    notes.machine.ferrule("credentials", "unset", KEY)
    finished = notes.machine.ferrule("run", "notes", "--json", stdin=b"{}")
    assert finished.document["error_code"] == "AUTH_MISSING"
    assert "Log in by `ferrule mcp login notes`." in finished.document["error"]


def test_a_server_that_repeats_the_token_shows_nobody_the_token(notes: Notes) -> None:
    document = notes.call(b'{"city": "Oslo"}')
    assert "error" not in document
    assert "structuredContent" in document
