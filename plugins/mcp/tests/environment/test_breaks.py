"""Failures of servers as they were seen, and what is done about each."""

from __future__ import annotations

import pytest

from ferrule_mcp.environment.breaks import explain_failure, repair
from ferrule_mcp.environment.record import Environment, Package
from ferrule_mcp.launch.plan import NPM, PYPI, SCRIPT, Launch

LAUNCH = Launch(PYPI, SCRIPT, "", requirements=("mcp-server-sqlite",))
OLD_SDK = (
    "    @server.list_resources()\nAttributeError: 'Server' object has no attribute 'list_resources'",
    "    @app.list_tools()\nAttributeError: 'Server' object has no attribute 'list_tools'",
    "ModuleNotFoundError: No module named 'mcp.server.fastmcp'",
    "ImportError: cannot import name 'FastMCP' from 'mcp.server' (/x/mcp/server/__init__.py)",
)
PYDANTIC = "ImportError: cannot import name 'eval_type_backport' from 'pydantic._internal._typing_extra' (/x.py)"


@pytest.mark.parametrize("failure", OLD_SDK)
def test_a_server_for_the_first_sdk_gets_the_first_sdk(failure):
    found = repair(LAUNCH, failure)
    assert found is not None
    assert found.launch.requirements == ("mcp-server-sqlite", "mcp<2")
    assert "mcp<2" in found.reason
    assert found.launch.notes == (found.reason,)


def test_an_old_sdk_with_a_new_pydantic_gets_an_older_one():
    found = repair(LAUNCH, PYDANTIC)
    assert found is not None
    assert found.launch.requirements[-1] == "pydantic<2.12"


def test_what_was_tried_already_is_not_tried_again():
    first = repair(LAUNCH, OLD_SDK[0])
    assert first is not None
    assert repair(first.launch, OLD_SDK[0]) is None
    assert repair(LAUNCH._replace(requirements=("x", "mcp[cli]>=2")), OLD_SDK[0]) is None


@pytest.mark.parametrize("failure", ["", "AttributeError: 'list' object has no attribute 'x'", "docker: no daemon"])
def test_any_other_failure_has_no_repair(failure):
    assert repair(LAUNCH, failure) is None
    assert repair(Launch(NPM, SCRIPT, "", requirements=("x",)), OLD_SDK[0]) is None


@pytest.mark.parametrize(
    "failure",
    [
        "Error: Could not locate the bindings file. Tried:\n → /x/node_modules/sqlite3/build/node_sqlite3.node",
        "Error: Cannot find module '../build/Release/canvas.node'",
    ],
)
def test_a_part_that_an_install_script_brings_names_its_package(failure):
    packages = (Package(NPM, "sqlite3", "5", "x", wants_script=True), Package(NPM, "zod", "3", "x"))
    environment = Environment(NPM, "/x", ("node",), {}, "1", packages, "", {})
    told = explain_failure(environment, failure)
    assert told is not None
    assert "--allow-scripts sqlite3" in told
    assert explain_failure(environment, "Error: no key") is None
    assert explain_failure(environment._replace(packages=packages[1:]), failure) is None
