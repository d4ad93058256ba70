"""The environment of a server, and its credentials in it."""

from typing import Any

import pytest

from ferrule_mcp.credentials import declare
from ferrule_mcp.record import cast_record
from ferrule_mcp.variables import fill_command, make_variables


def record(**changes: Any) -> Any:
    plain = {"command": ["/opt/bin/node", "x.js"], "variables": {}, "credentials": [], "home": "/h"}
    return cast_record({**plain, **changes})


def fail(name: str) -> str:
    raise AssertionError(name)


def test_its_home_is_its_own_and_nothing_of_the_user_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "of the user")
    monkeypatch.setenv("FERRULE_STATE", "of the host")
    monkeypatch.setenv("TZ", "Europe/Oslo")
    found = make_variables(record(variables={"MODE": "x"}), fail)
    assert (found["HOME"], found["XDG_CACHE_HOME"], found["TZ"], found["MODE"]) == (
        "/h",
        "/h/.cache",
        "Europe/Oslo",
        "x",
    )
    assert found["PATH"].startswith("/opt/bin:")
    assert not {"GITHUB_TOKEN", "FERRULE_STATE"} & found.keys()


def test_a_credential_stands_where_its_name_did() -> None:
    values = {"api_key": "k{other}1", "other": "secret"}
    asked = record(
        command=["/bin/x", "--key", "{api_key}", "{not_one}"],
        variables={"KEY": "{api_key}", "BOTH": "{other}/{api_key}", "JSON": '{"a": 1}'},
        credentials=["api_key", "other"],
    )
    assert fill_command(asked, values.__getitem__) == ["/bin/x", "--key", "k{other}1", "{not_one}"]
    found = make_variables(asked, values.__getitem__)
    assert (found["KEY"], found["BOTH"], found["JSON"]) == ("k{other}1", "secret/k{other}1", '{"a": 1}')


def test_a_credential_that_nothing_names_is_not_asked_for() -> None:
    assert make_variables(record(credentials=["token"]), fail)["HOME"] == "/h"


def test_credentials_have_the_name_of_the_server_in_them() -> None:
    assert declare("brave", ["api_key", "api_key"]) == [
        {
            "name": "api_key",
            "environment": "FERRULE_MCP_BRAVE_API_KEY",
            "path": "mcp.brave.api_key",
            "description": "for the MCP server brave",
        }
    ]
