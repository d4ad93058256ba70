"""What each path leaves unimported: an agent pays for every import again with each call."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.corpus import Site

pytestmark = pytest.mark.process


# Each costs from half an interpreter's start to ten of them.
HEAVY = {"json", "re", "typing", "inspect", "dataclasses", "pathlib", "subprocess", "tempfile", "importlib.metadata"}
LIBRARIES = {"pluggy", "jsonschema", "click", "httpx", "httpcore", "platformdirs", "ssl", "asyncio"}
SIGNALS = {"enum", "signal"}
MOST_OF_A_CALL = 56  # modules of the host, packages included, in the process that supervises it
OSLO = b'{"city": "Oslo"}'

# The executable's own process tells at its end what it has imported; a child of it tells nothing.
_DRIVER = """
import os, sys
log, sys.argv = sys.argv[1], sys.argv[2:]
own, leave = os.getpid(), os._exit
def tell_and_leave(code):
    if os.getpid() == own:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(file, "\\n".join(sys.modules).encode())
    leave(code)
os._exit = tell_and_leave
from ferrule.dispatch import main
main()
"""


@pytest.fixture
def imported(healthy: Site, environment: dict[str, str], tmp_path: Path) -> "Imported":
    return Imported(healthy, environment, tmp_path / "modules")


class Imported:
    """Runs the console script of a tool, and says what its process imported beside what any interpreter does."""

    def __init__(self, site: Site, environment: dict[str, str], log: Path) -> None:
        self._environment = {**environment, "PYTHONPATH": str(site.path)}
        self._log = log

    def by(self, *command: str, stdin: bytes = b"") -> set[str]:
        python = [sys.executable, "-P", "-c", _DRIVER, str(self._log), *command]
        subprocess.run(python, input=stdin, env=self._environment, capture_output=True, check=False, timeout=60)
        return set(self._log.read_text().split()) - self.by_nothing()

    def by_kept_answer(self, *command: str, stdin: bytes = b"") -> set[str]:
        """The same where the answer for the tool has been kept, which it is once no file behind it is quite new."""
        for _ in range(20):
            modules = self.by(*command, stdin=stdin)
            if not modules & {"ferrule.plugin.admission.judgement", "ferrule.trust.policy"}:
                return modules
            time.sleep(0.05)
        raise AssertionError("the answer for the tool, or its policy, is not kept")

    def by_nothing(self) -> set[str]:
        command = [sys.executable, "-c", "import sys; print(*sys.modules)"]
        done = subprocess.run(command, env=self._environment, capture_output=True, check=True, timeout=60)
        return set(done.stdout.decode().split())


def test_a_schema_needs_next_to_nothing(imported: Imported) -> None:
    modules = imported.by_kept_answer("example-tool", "--schema")
    assert "ferrule.trust.door.kept_admission" in modules
    assert modules & (HEAVY | LIBRARIES | SIGNALS | {"select", "fcntl", "ferrule.supervision.supervisor"}) == set()


@pytest.mark.parametrize(
    "stdin",
    [b"", b"no JSON", b"[]", b"{}", b'{"city": 5}', b'{"city": "Oslo", "x": 1}', b'{"city": NaN}', b"{}" * 2],
)
def test_an_argument_that_is_wrong_needs_no_child(stdin: bytes, imported: Imported) -> None:
    modules = imported.by("example-tool", stdin=stdin)
    assert "ferrule.plugin.failures" in modules
    assert modules & (HEAVY | LIBRARIES) == set()


def test_json_that_is_broken_is_explained_by_json_alone(imported: Imported) -> None:
    """The one message that the standard library's own module has to make."""
    modules = imported.by("example-tool", stdin=b'{"city": "Oslo"')
    assert modules & LIBRARIES == set()


@pytest.mark.parametrize("tool", ["example", "probe"])
def test_a_call_leaves_the_plugin_to_the_child(tool: str, imported: Imported) -> None:
    modules = imported.by(f"{tool}-tool", stdin=OSLO if tool == "example" else b"{}")
    assert "ferrule.supervision.supervisor" in modules
    unneeded = {
        "ferrule.plugin.hooks.hookspecs",
        "ferrule_example",
        "probe",
        "ferrule.journal",
    }
    assert modules & (HEAVY | LIBRARIES | unneeded) == set()


def test_a_call_whose_answer_is_kept_loads_few_modules_of_the_host(imported: Imported) -> None:
    modules = imported.by_kept_answer("example-tool", stdin=OSLO)
    loaded = sorted(name for name in modules if name.startswith("ferrule."))
    assert len(loaded) <= MOST_OF_A_CALL, loaded
    unneeded = {"enum", "signal", "collections", "contextlib", "functools", "tomllib", "ferrule.schema.rules.contract"}
    assert modules & unneeded == set()


def test_the_journal_costs_what_it_writes_and_nothing_where_it_is_off(
    healthy: Site, environment: dict[str, str], tmp_path: Path
) -> None:
    def modules(switch: str) -> set[str]:
        path = tmp_path / f"{switch}.toml"
        path.write_text(f"[journal]\nenabled = {switch}\n")
        imported = Imported(healthy, {**environment, "FERRULE_CONFIG": str(path)}, tmp_path / switch)
        return imported.by_kept_answer("example-tool", stdin=OSLO)

    on, off = modules("true"), modules("false")
    assert not any(name.startswith("ferrule.journal") for name in off)
    assert {name for name in on - off if name.startswith("ferrule.")} == {
        "ferrule.journal",
        "ferrule.journal.file",
        "ferrule.journal.record",
        "ferrule.text.sha256",
    }
    assert {name for name in on - off if not name.startswith("ferrule.")} <= {"_sha2", "_sha256"}


def test_an_error_of_a_tool_is_rendered_without_more(imported: Imported) -> None:
    modules = imported.by("example-tool", stdin=b'{"city": "4711"}')
    assert "ferrule.plugin.failures" in modules
    assert modules & (HEAVY | LIBRARIES) == set()


def test_the_child_imports_the_plugin_and_no_library(healthy: Site, environment: dict[str, str]) -> None:
    arguments = b'{"show_modules": true}'
    done = subprocess.run(
        [healthy.links / "probe-tool"], input=arguments, env=environment, capture_output=True, check=True, timeout=60
    )
    modules = set(json.loads(done.stdout)["modules"])
    assert "probe" in modules
    unwanted = {"json", "importlib.metadata", "inspect", "ferrule.config.credentials_file"}
    assert modules & (LIBRARIES | unwanted) == set()


@pytest.mark.parametrize(
    ("words", "needed"),
    [(["list"], set()), (["list", "--json"], set()), (["list", "--help"], {"click"}), (["--version"], {"click"})],
    ids=lambda value: " ".join(value),
)
def test_ferrule_list_loads_no_plugin_and_no_validator(
    words: list[str], needed: set[str], healthy: Site, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ferrule", *words]
    where = {**environment, "PYTHONPATH": str(healthy.path)}
    done = subprocess.run(command, env=where, capture_output=True, text=True, check=True, timeout=60)

    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.rpartition("|")[2].strip() for line in lines}
    assert modules & LIBRARIES == needed
    assert modules & ({"importlib.metadata", "html5lib", "probe"}) == set()


def test_a_call_over_http_imports_httpcore_and_no_httpx(environment: dict[str, str]) -> None:
    script = (
        "import json, sys, time, ferrule, ferrule_fetch\n"
        "context = ferrule.Context('web_fetch', time.monotonic() + 60)\n"
        "answer = ferrule_fetch.execute({'url': sys.argv[1]}, context)\n"
        "print(json.dumps([answer['content'], list(sys.modules)]))"
    )
    with Server() as server:
        url = server.page("/", "<h1>Hello</h1>", headers={"Set-Cookie": "seen=1"})
        command = [sys.executable, "-c", script, url]
        allowed = {**environment, "FERRULE_FETCH_ALLOW": "loopback", "NO_PROXY": "*"}
        done = subprocess.run(command, env=allowed, capture_output=True, check=True, timeout=60)
    content, modules = json.loads(done.stdout)
    assert "Hello" in content
    assert "httpcore" in modules
    assert {"httpx", "http.cookiejar", "urllib.request", "click", "jsonschema", "asyncio"}.isdisjoint(modules)


def test_what_answers_a_tool_that_asks_for_its_keys_imports_little() -> None:
    named = ("plugin.credential_answers", "plugin.hooks.credential_values", "plugin.cache_identity")
    loaded = ", ".join(f"ferrule.{module}" for module in (*named, "config.credentials_file", "text.json_diagnosis"))
    command = [sys.executable, "-P", "-c", f"import sys\nimport {loaded}\nprint(*sys.modules)"]
    bare = [sys.executable, "-P", "-c", "import sys; print(*sys.modules)"]
    after, before = (
        set(subprocess.run(one, capture_output=True, text=True, check=True, timeout=60).stdout.split())
        for one in (command, bare)
    )
    assert (after - before) & (HEAVY | LIBRARIES | SIGNALS) == set()
