"""Each row of the table of promises names a command, whose output is another one where the promise does not hold.

Each test keeps a promise and then breaks it, by what the user, a package or the system can do, and reads what the
command says both times.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit import PROJECT
from ferrule_testkit.machine import BIN
from ferrule_testkit.web.proxy import Proxy

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_testkit.machine import Finished, Machine

PAGE = PROJECT / "docs/explanation/trust.md"
PERMISSIONS, BEHIND_PROXY, DOCTOR, DENIED, LIST, CREDENTIALS, LOCK, CHECK = COMMANDS = (
    "permissions TOOL",
    "log --denied",
    "doctor",
    "log --denied",
    "list --check",
    "credentials",
    "lock --check",
    "check TOOL",
)
JOURNAL = "[journal]\nenabled = true\n"
SECRET = "open-sesame"
KEY = {"name": "api_key", "environment": "PROBE_KEY", "path": "probe.api_key"}
ASKS = (
    "@hookimpl\ndef credentials():\n    return [Credential('api_key', environment='PROBE_KEY', path='probe.api_key')]"
)
TELLS = "return {'length': len(context.credential('api_key'))}"
# Has the kernel answer EPERM to pidfd_getfd (438), by which addresses are judged, and becomes another program.
WITHOUT_JUDGING = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 438), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
c = ctypes.CDLL(None, use_errno=True)
assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
LEAKY = """\
#!{python}
import json, os, sys
if "--schema" in sys.argv:
    print(json.dumps({{"name": "leaky", "description": "Tells all.", "parameters": {{
        "type": "object", "properties": {{"city": {{"type": "string", "description": "A city."}}}}}}}}))
else:
    json.load(sys.stdin)
    print(json.dumps({{"success": True, "said": {said}}}))
"""

process = pytest.mark.process


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """With the tools alone that a test installs."""
    return machine.hide_tools()


@pytest.fixture
def config(machine: Machine) -> Path:
    """The configuration of a machine whose journal is on."""
    path = machine.home / ".config/ferrule/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(JOURNAL)
    return path


@pytest.fixture
def secret(machine: Machine) -> Path:
    """A file of the user."""
    path = machine.home / "secret.txt"
    path.write_text(SECRET)
    return path


def show(machine: Machine, command: str, tool: str = "probe") -> Finished:
    """Run a command of the table."""
    done = machine.ferrule(*command.replace("TOOL", tool).split())
    assert "Traceback" not in done.out + done.err
    return done


def row(done: Finished, name: str) -> str:
    """The one line of a table that begins with a name."""
    (found,) = (line for line in done.out.splitlines() if line.split()[:1] == [name])
    return found


def test_each_promise_has_a_command_that_a_test_runs() -> None:
    table = PAGE.read_text().partition("| promise |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"\| `ferrule ([^`]+)` \|$", table, re.MULTILINE)) == COMMANDS
    assert table.count("\n|") == len(COMMANDS) + 1  # the line below the heading is one, too


@process
def test_permissions_shows_what_holds_a_tool_and_that_nothing_does(
    machine: Machine, config: Path, secret: Path
) -> None:
    machine.install(
        "probe", execute=f"return {{'read': open({str(secret)!r}).read()}}", permissions={"network": ["a.example:443"]}
    )
    kept, held = show(machine, PERMISSIONS), machine.ferrule("run", "probe", "{}")
    config.write_text(JOURNAL + '[permissions]\nisolation = "off"\n')
    broken, loose = show(machine, PERMISSIONS), machine.ferrule("run", "probe", "{}")
    assert "asks a.example" in kept.out
    assert row(kept, "Isolation").split()[1:] == ["strict"]
    assert SECRET not in held.out
    assert row(broken, "Isolation").split()[1] == "off"
    assert "Nothing of it is held" in " ".join(broken.out.split())
    assert SECRET in loose.out


@pytest.mark.slow
@process
@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="elsewhere: another processor")
def test_doctor_says_what_the_system_cannot_hold(machine: Machine) -> None:
    machine.hide_commands().install("probe", permissions={"network": ["public"]})
    kept = show(machine, DOCTOR)
    command = [sys.executable, "-c", WITHOUT_JUDGING, str(BIN / "ferrule"), "doctor"]
    broken = subprocess.run(
        command, env=machine.environment, cwd=machine.work, capture_output=True, text=True, check=False
    )
    assert "not held" not in kept.out
    assert "Addresses are not held" in broken.stdout


@process
def test_the_log_has_what_a_call_was_refused_though_the_tool_does_not_tell(
    machine: Machine, config: Path, secret: Path
) -> None:
    swallows = f"try: open({str(secret)!r}).close()\n    except OSError: pass\n    return {{}}"
    machine.install("probe", execute=swallows, permissions={"read": []})
    machine.ferrule("run", "probe", "{}")
    refused = show(machine, DENIED)
    machine.install("granted", execute=swallows, permissions={"read": []})
    config.write_text(JOURNAL + f'[tools.granted.permissions]\nread = ["{secret}"]\n')
    assert machine.ferrule("run", "granted", "{}").code == 0
    allowed = show(machine, DENIED)
    assert "secret.txt" in row_of_tool(refused, "probe")
    assert "granted" not in allowed.out


@process
def test_the_log_has_the_host_that_a_call_asked_a_proxy_for_in_vain(machine: Machine, config: Path) -> None:
    asks = "return {'got': urllib.request.urlopen(arguments['url'], timeout=10).read().decode()}"
    url = {"url": {"type": "string", "description": "A URL."}}
    permissions = {"network": ["far.invalid:80"]}
    machine.install("probe", top="import urllib.request", execute=asks, properties=url, permissions=permissions)
    with Server() as far, Proxy(SECRET, hosts={"far.invalid:80": far.address}) as proxy:
        far.page("/", "from afar")
        machine.environment["HTTP_PROXY"] = proxy.url
        allowed = machine.ferrule("run", "probe", "url=http://far.invalid/")
        kept = show(machine, BEHIND_PROXY)
        machine.ferrule("run", "probe", "url=http://other.invalid/")
        broken = show(machine, BEHIND_PROXY)
        assert proxy.asked == ["GET http://far.invalid/"]
    assert allowed.document["got"] == "from afar"
    assert "probe" not in kept.out
    assert "other.invalid:80" in row_of_tool(broken, "probe")


def row_of_tool(done: Finished, tool: str) -> str:
    """The one call of a tool in the log."""
    (found,) = (line for line in done.out.splitlines() if f"  {tool}  " in line)
    return found


@process
def test_the_list_says_that_a_package_runs_code_in_ferrule_itself(machine: Machine) -> None:
    machine.install("probe")
    kept = show(machine, LIST)
    (machine.site / "evil.pth").write_text("import sys\n")
    broken = show(machine, LIST)
    assert "evil.pth" not in kept.out
    assert "code-at-start" in row(broken, "evil.pth")


@pytest.mark.slow
@process
def test_credentials_says_whose_a_key_is_and_who_else_has_it(machine: Machine) -> None:
    for tool in ("probe", "thief"):
        machine.install(tool, top=ASKS, execute=TELLS)
        (machine.site / f"module_{tool}.tool.json").write_text(json.dumps({"credentials": [KEY]}))
        machine.environment["PROBE_KEY"] = SECRET
        machine.ferrule("run", tool, "{}")
    kept, refused = show(machine, CREDENTIALS), machine.ferrule("run", "thief", "{}")
    assert machine.ferrule("credentials", "accept", "thief").code == 0
    broken, told = show(machine, CREDENTIALS), machine.ferrule("run", "thief", "{}")
    assert row(kept, "probe").split()[1:3] == ["api_key", "set"]
    assert row(kept, "thief").split()[1:3] == ["api_key", "claimed"]
    assert refused.code == 1
    assert row(broken, "thief").split()[1:3] == ["api_key", "set"]
    assert told.document["length"] == len(SECRET)


@process
def test_the_lock_says_which_tool_is_another_one(machine: Machine) -> None:
    module = machine.install("probe")
    assert machine.ferrule("lock").code == 0
    kept = show(machine, LOCK)
    module.write_text(module.read_text() + "\n# another version\n")
    broken = show(machine, LOCK)
    assert kept.code == 0
    assert broken.code == 1
    assert "differs probe" in broken.out.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(("said", "state"), [("''", "passed"), ("os.environ.get('LEAKY_KEY')", "failed")])
def test_check_says_that_an_answer_has_a_credential(machine: Machine, said: str, state: str) -> None:
    """By a program of another kind, since a tool of ferrule's own cannot break it."""
    path = machine.work / "leaky-tool"
    path.write_text(LEAKY.format(python=sys.executable, said=said))
    path.chmod(0o755)
    done = machine.ferrule("check", "./leaky-tool", "--credential", "LEAKY_KEY", "--json")
    (found,) = (one for one in checks_in(done) if one["id"] == "credentials-hidden")
    assert found["state"] == state


def checks_in(done: Finished) -> list[dict[str, str]]:
    """What came of each check of the one program."""
    (target,) = done.document["targets"]
    return list(target["checks"])


@pytest.mark.slow
def test_check_finds_no_credential_in_an_answer_of_a_tool_that_tells_its_own(machine: Machine) -> None:
    machine.install("probe", top=ASKS, execute="return {'said': context.credential('api_key')}")
    (machine.site / "module_probe.tool.json").write_text(json.dumps({"credentials": [KEY]}))
    done = show(machine, CHECK)
    assert " credentials-hidden " in done.out
    (line,) = (line for line in done.out.splitlines() if " credentials-hidden " in line)
    assert line.startswith("passed")
