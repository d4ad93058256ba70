"""MCP servers over HTTP by both versions of the SDK, and a real authorization server with a browser for it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.programs.node import script

FIRST, SECOND = "first", "second"
_PROGRAMS = PROJECT / "plugins/mcp/tests/remote/servers"
_FIRST_SDK = PROJECT / ".tools/mcp-first-sdk"
_OIDC_PROVIDER = "oidc-provider/package.json"
_FORM, _PROMPT = re.compile(r'action="([^"]+)"'), re.compile(r'name="prompt" value="(\w+)"')
_MAX_STEPS = 20


@contextmanager
def serve(sdk: str, *arguments: str) -> Iterator[str]:
    """A server by the first or the second version of the SDK; its URL. Where that is missing, the test is skipped."""
    with _listening([_python(sdk), str(_PROGRAMS / f"{sdk}_sdk.py"), *arguments]) as port:
        yield f"http://127.0.0.1:{port}/mcp"


class AuthorizationServer:
    """A server that gives tokens. issuer: its address."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"

    def grants(self, kind: str = "refresh_token") -> list[dict[str, Any]]:
        """The requests for tokens that it got, of one kind."""
        found: list[dict[str, Any]] = httpx.get(f"{self.issuer}/-/log").json()
        return [one for one in found if one["grant"] == kind]

    def revoke(self, token: str, client_id: str) -> None:
        """Make a token invalid, and with a refresh token the whole login."""
        httpx.post(f"{self.issuer}/token/revocation", data={"token": token, "client_id": client_id}).raise_for_status()


@contextmanager
def authorize(**options: Any) -> Iterator[AuthorizationServer]:
    """A real authorization server. options: see tests/node/authorization_server.cjs."""
    command = script("authorization_server.cjs", _OIDC_PROVIDER)
    with _listening([*command, json.dumps(options)]) as port:
        yield AuthorizationServer(port)


def browse(url: str, *, consents: bool = True) -> str:
    """What a person does in a browser from this address on: log in, consent, and be led back; that address.

    consents: whether the person agrees; else the login is left.
    """
    with httpx.Client() as client:
        page = client.get(url)
        for _ in range(_MAX_STEPS):
            if page.next_request is not None:
                target = str(page.next_request.url)
                if "/callback" in target:
                    return target
                page = client.send(page.next_request)
            elif not consents and (abort := re.search(r'href="([^"]+/abort)"', page.text)):
                page = client.get(page.url.join(abort[1]))
            else:
                page = _submit(client, page)
    raise AssertionError("the login leads nowhere")


def _submit(client: httpx.Client, page: httpx.Response) -> httpx.Response:
    form, prompt = _FORM.search(page.text), _PROMPT.search(page.text)
    assert form, page.text
    assert prompt, page.text
    return client.post(page.url.join(form[1]), data={"prompt": prompt[1], "login": "ann", "password": "any"})


def _python(sdk: str) -> str:
    if sdk == SECOND:
        return sys.executable
    python = _FIRST_SDK / "bin/python"
    if not python.exists():
        said = _FIRST_SDK.with_name("mcp-first-sdk.unavailable")
        pytest.skip(said.read_text().strip() if said.exists() else "scripts/install-mcp-first-sdk was not run")
    return str(python)


@contextmanager
def _listening(command: list[str]) -> Iterator[int]:
    """A program that prints the port on which it listens."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()
