"""The plugin of pytest: its fixtures, its options, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from ferrule.errors import ArgumentsInvalid, ToolError, ToolUnknown
from ferrule_dev.testing import Environment, Server, Tool, context

TOOLS = Path(__file__).parents[3] / "tests/conformance_tools"
PROBE = '''
"""A tool that tells what it is given."""
from ferrule import Credential, ToolError, hookimpl

@hookimpl
def schema():
    properties = {"days": {"type": "integer", "description": "Days", "maximum": 7}}
    return {"name": "tells_all", "description": "Tells.", "parameters": {"type": "object", "properties": properties}}

@hookimpl
def credentials():
    return [Credential("api_key", environment="TELLS_KEY", path="tells.key")]

@hookimpl
def validate(arguments):
    return ["days: it is odd"] if arguments.get("days", 0) % 2 else []

@hookimpl
def execute(arguments, context):
    context.event({"told": context.tool})
    return {"arguments": arguments, "key": context.credential("api_key"), "unit": context.setting("unit", "TELLS_UNIT")}
'''
MakeTool = Callable[[str], Tool]


@pytest.fixture
def tells_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a tool that is installed for this test."""
    site = tmp_path / "site"
    (site / "tells-1.0.dist-info").mkdir(parents=True)
    (site / "tells-1.0.dist-info/entry_points.txt").write_text("[ferrule.tools]\ntells_all = tells_all\n")
    (site / "tells_all.py").write_text(PROBE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "tells_all", raising=False)
    return "tells_all"


def pytest_of(folder: Path, test: str, *options: str) -> str:
    """Run a file of tests in a process of its own; what it printed."""
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (folder / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *options, "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100).stdout


def test_a_tool_is_called_as_a_function_with_its_settings_and_credentials(
    ferrule_tool: MakeTool,
    ferrule_credentials: Callable[..., dict[str, str]],
    ferrule_settings: Callable[[str], Path],
    tells_all: str,
) -> None:
    assert ferrule_credentials(tells_all, api_key="a-key") == {"api_key": "a-key"}
    ferrule_settings('[tools.tells_all]\nunit = "C"')
    events: list[dict[str, object]] = []
    found = ferrule_tool(tells_all).call({"days": 2.0}, events=events)
    assert found == {"arguments": {"days": 2}, "key": "a-key", "unit": "C"}
    assert events == [{"told": "tells_all"}]


@pytest.mark.parametrize("arguments", [{"days": 8}, {"days": "2"}, {"dais": 2}, {"days": 3}])
def test_a_function_is_not_called_with_what_a_client_could_not_send(
    ferrule_tool: MakeTool, tells_all: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(ArgumentsInvalid):
        ferrule_tool(tells_all).call(arguments)


def test_keys_of_the_machine_do_not_reach_a_tool(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tells_all: str
) -> None:
    original = {**os.environ, "TELLS_KEY": "a-key-of-the-machine"}
    monkeypatch.setenv("TELLS_KEY", original["TELLS_KEY"])
    request.getfixturevalue("_ferrule_original_environ").update(original)
    tool = request.getfixturevalue("ferrule_tool")(tells_all)
    with pytest.raises(ToolError) as missing:
        tool.call({})
    assert missing.value.code == "AUTH_MISSING"
    del request.getfixturevalue("_ferrule_original_environ")["TELLS_KEY"]


def test_credentials_are_those_that_the_tool_declares(
    ferrule_credentials: Callable[..., dict[str, str]], tells_all: str
) -> None:
    (value,) = ferrule_credentials(tells_all).values()
    assert os.environ["TELLS_KEY"] == value == context(tells_all).credential("api_key")
    with pytest.raises(AssertionError, match="no credential apikey; its credentials are: api_key"):
        ferrule_credentials(tells_all, apikey="a-key")


def test_a_tool_that_is_not_installed_says_so(ferrule_tool: MakeTool) -> None:
    tool = ferrule_tool("nothing_of_that_name")
    with pytest.raises(ToolUnknown, match="nothing_of_that_name"):
        tool.call({})
    with pytest.raises(AssertionError, match="pip install -e"):
        tool.run({})
    with pytest.raises(AssertionError, match="chmod"):
        ferrule_tool("/nowhere/weather-tool").run({})


def test_folders_are_the_tests_own_and_nothing_is_configured(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    from ferrule.config.configuration import credentials_path, read
    from ferrule.config.own_folders import state_folder

    for name in ("FERRULE_WRAPPERS", "IKIGAI_AGENT_ID", "HTTPS_PROXY", "all_proxy", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "of-the-machine")
    made: Environment = request.getfixturevalue("ferrule_environment")
    assert "of-the-machine" not in os.environ.values()
    assert read().path == str(made.config_toml)
    assert credentials_path() == str(made.configuration / "credentials.json")
    assert Path(state_folder()).is_relative_to(made.state)
    assert Path.home() == made.home
    assert all(one.is_relative_to(tmp_path) for one in made)


@pytest.mark.process
def test_a_tool_is_run_in_the_tests_environment(ferrule_tool: MakeTool, tmp_path: Path) -> None:
    script = tmp_path / "any-tool"
    script.write_text('#!/bin/sh\necho "{\\"home\\": \\"$HOME\\", \\"more\\": \\"$MORE\\"}"\n')
    script.chmod(0o755)
    run = ferrule_tool(str(script)).run({}, environ={"MORE": "more"})
    assert run.document == {"home": str(tmp_path / "ferrule/home"), "more": "more"}


@pytest.mark.process
def test_the_server_notes_what_it_is_asked(ferrule_server: Server) -> None:
    from ferrule.http import Client

    url = ferrule_server.document("/search", {"hits": []})
    ferrule_server.redirect("/old", "/search")
    with Client(time.monotonic() + 60) as client:
        for method, path, body in (("PUT", "/search?q=1", b"text"), ("HEAD", "/search", None), ("GET", "/old", None)):
            with client.open(method, ferrule_server.url + path, content=body) as answer:
                read = answer.read()
            assert (answer.status, read) == {
                "PUT": (200, b'{"hits":[]}'),
                "HEAD": (200, b""),
                "GET": (302, b"elsewhere"),
            }[method]
    assert url == f"{ferrule_server.url}/search"
    noted = [(one.method, one.target, one.body) for one in ferrule_server.requests]
    assert noted == [("PUT", "/search?q=1", b"text"), ("HEAD", "/search", b""), ("GET", "/old", b"")]


@pytest.mark.slow
@pytest.mark.process
def test_a_run_that_does_not_use_it_imports_next_to_nothing(tmp_path: Path) -> None:
    test = "import sys\ndef test_it(request):\n    print(*(one for one in sys.modules if one.startswith('ferrule')))"
    printed = pytest_of(tmp_path, test)
    loaded = ["ferrule_dev", "ferrule", "ferrule.lazy", "ferrule_dev.testing", "ferrule_dev.testing.pytest_plugin"]
    assert printed.split()[:5] == loaded
    assert "1 passed" in printed


@pytest.mark.slow
@pytest.mark.process
def test_all_that_it_adds_to_pytest_has_its_name(tmp_path: Path) -> None:
    from ferrule_dev.testing import pytest_plugin

    fixtures = [name for name, one in vars(pytest_plugin).items() if type(one).__name__ == "FixtureFunctionDefinition"]
    assert len(fixtures) > 5
    assert all(name.lstrip("_").startswith("ferrule_") for name in fixtures)
    with_it, without = (pytest_of(tmp_path, "", "--help", *more) for more in ((), ("-p", "no:ferrule")))
    added = {line.split()[0] for line in with_it.splitlines() if line.startswith("  --")}
    added -= {line.split()[0] for line in without.splitlines() if line.startswith("  --")}
    assert {one.partition("=")[0] for one in added} == {"--ferrule-record", "--ferrule-check"}


@pytest.mark.slow
@pytest.mark.process
def test_a_tool_is_checked_as_a_test_of_its_own(tmp_path: Path) -> None:
    faulty = TOOLS / "faulty/answers-list-tool"
    printed = pytest_of(tmp_path, "", "--ferrule-check=example", f"--ferrule-check={faulty}")
    assert "1 failed, 1 passed" in printed
    assert "failed answer-form:" in printed
    assert f"ferrule check {faulty}" in printed
    assert "Traceback" not in printed
    test = f"def test_it(ferrule_tool):\n    ferrule_tool({str(faulty)!r}).check()"
    assert "failed answer-form:" in pytest_of(tmp_path, test)


@pytest.mark.process
def test_http_without_its_libraries_says_how_to_install_them() -> None:
    program = "import sys; sys.modules['httpcore'] = None\ntry:\n    from ferrule.http import Client\n"
    program += "except ModuleNotFoundError as error:\n    import json; print(json.dumps([error.name, str(error)]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    name, text = json.loads(done.stdout)
    assert name == "httpcore"
    assert "pip install 'ferrule[http]'" in text


@pytest.mark.slow
@pytest.mark.process
def test_a_program_that_has_imported_it_can_run_pytest_without_a_warning(tmp_path: Path) -> None:
    # An editable install lists no modules, which pytest would rewrite; a wheel does.
    metadata = tmp_path / "ferrule_dev-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ferrule-dev\nVersion: 0.1.0\n")
    (metadata / "RECORD").write_text("ferrule_dev/__init__.py,,\n")
    (metadata / "entry_points.txt").write_text("[pytest11]\nferrule = ferrule_dev.testing.pytest_plugin\n")
    (tmp_path / "test_it.py").write_text("def test_it(ferrule_environment):\n    pass\n")
    program = "import sys, ferrule_dev, pytest; sys.exit(pytest.main(['-q', '-W', 'error', '-p', 'no:cacheprovider']))"
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stderr


def test_no_other_distribution_of_the_project_brings_a_plugin_of_pytest() -> None:
    bringing = {one.dist.name for one in metadata.entry_points(group="pytest11") if one.dist is not None}
    assert {name for name in bringing if name.startswith("ferrule")} == {"ferrule-dev"}
