"""`ferrule mcp` with servers over HTTP: with and without a login."""

import subprocess

import pytest

from ferrule import confinement
from ferrule_testkit.machine import BIN, Machine
from ferrule_testkit.programs.mcp_servers import FIRST, SECOND, authorize, browse, serve

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]


@pytest.mark.parametrize("sdk", [FIRST, SECOND])
def test_a_server_over_http_has_tools_of_both_eras(sdk: str, machine: Machine) -> None:
    with serve(sdk) as url:
        added = machine.ferrule("mcp", "add", "far", url, "--json")
        assert added.code == 0, added.err
        assert added.document["permissions"]["network"] == [url.removeprefix("http://").removesuffix("/mcp")]
        assert "far_echo" in [one["tool"] for one in added.document["tools"]]
        assert "hi" in machine.ferrule("run", "far_echo", '{"text": "hi"}').out
    gone = machine.ferrule("run", "far_echo", '{"text": "hi"}')
    assert gone.document["success"] is False
    assert machine.ferrule("mcp", "login", "far").err.startswith("Error: far was added without a login.")


def test_what_is_no_server_is_not_added(machine: Machine) -> None:
    done = machine.ferrule("mcp", "add", "far", "http://127.0.0.1:9/mcp")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert machine.ferrule("mcp", "list", "--json").document == {"servers": []}


def test_a_login_that_is_pasted_adds_a_server_that_wants_one(machine: Machine) -> None:
    with authorize() as authority, serve(SECOND, authority.issuer) as url:
        refused = machine.ferrule("mcp", "add", "far", url)
        assert (refused.code, "--login" in refused.err) == (1, True), refused.err

        command = [BIN / "ferrule", "mcp", "add", "far", url, "--paste", "--json"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=machine.environment, cwd=machine.work, **pipes) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            address = next(line for line in process.stderr if line.startswith("http"))
            out, err = process.communicate(browse(address.strip()) + "\n")
        assert process.returncode == 0, err
        assert "far_echo" in out
        assert "hi" in machine.ferrule("run", "far_echo", '{"text": "hi"}').out
        token = machine.credentials.read_text()
        assert "access_token" in token
        assert "access_token" not in out + err
