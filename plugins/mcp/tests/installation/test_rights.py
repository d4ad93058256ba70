"""What a server begins with, and what it turns out to want."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule_mcp.commands.decisions import make_decide
from ferrule_mcp.installation.rights import (
    Right,
    add_rights,
    base_permissions,
    find_changes,
    find_wanted,
    parse_right,
)
from ferrule_mcp.record import cast_record


def record(**changes: Any) -> Any:
    plain = {
        "transport": "stdio",
        "command": [sys.executable, "x"],
        "environment": "/e",
        "home": "/h",
        "folder": "",
        "roots": [],
    }
    return cast_record({**plain, "url": "", **changes})


def test_a_server_begins_with_its_own_files_and_no_network() -> None:
    found = base_permissions(record(), ["/project"])
    assert found["network"] == []
    assert found["write"] == ["/h"]
    assert found["read"][:2] == ["/e", "/project"]
    assert found["programs"][0] == sys.executable


def test_the_packages_of_an_interpreter_that_was_named_may_be_read(tmp_path: Path) -> None:
    program = str(tmp_path / "bin/python")
    (tmp_path / "bin").mkdir()
    Path(program).symlink_to("/usr/bin/env")  # as the interpreter of an environment leads to that of the system
    assert str(tmp_path) not in base_permissions(record(command=[program]))["read"]
    (tmp_path / "pyvenv.cfg").touch()
    assert str(tmp_path) in base_permissions(record(command=[program]))["read"]


def test_the_folder_that_it_works_in_may_be_written_and_its_roots_read() -> None:
    found = base_permissions(record(folder="/srv/notes", roots=["/srv/more"]))
    assert found["write"] == ["/h", "/srv/notes"]
    assert "/srv/more" in found["read"]


def test_a_server_over_http_reaches_its_own_address_and_nothing_else() -> None:
    found = base_permissions(record(transport="http", url="https://mcp.example.com/mcp"))
    assert found == {"network": ["mcp.example.com:443"], "write": ["/h"]}


def test_what_a_trace_was_refused_is_wanted_once() -> None:
    denied = [{"kind": "read", "what": "/a"}, {"kind": "read", "what": "/a"}, {"kind": "run", "what": "/usr/bin/git"}]
    trace = {"denied": [*denied, {"kind": "signal", "what": ""}], "permissions": {"network": ["example.com:443"]}}
    expected = [Right("read", "/a"), Right("programs", "/usr/bin/git"), Right("network", "example.com:443")]
    assert find_wanted(trace) == expected


def test_rights_are_added_once_and_compared() -> None:
    before = {"network": [], "read": ["/a"]}
    now = add_rights(before, [Right("read", "/a"), Right("network", "x:1"), Right("programs", "git")])
    assert now == {"network": ["x:1"], "read": ["/a"], "programs": ["git"]}
    assert before == {"network": [], "read": ["/a"]}
    assert find_changes(before, now) == ([Right("network", "x:1"), Right("programs", "git")], [])
    assert find_changes(now, before) == ([], [Right("network", "x:1"), Right("programs", "git")])


@pytest.mark.parametrize("text", ["", "read", "read=", "everything=/", "=x"])
def test_what_is_no_right_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no permission"):
        parse_right(text)


def test_without_a_person_nothing_is_granted_and_nothing_is_asked() -> None:
    decide = make_decide("talk", grants_all=False, asks=False)
    assert decide([Right("read", "/a")], "") == []


def test_all_is_granted_once_where_that_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    decide = make_decide("talk", grants_all=True, asks=False)
    assert decide([Right("read", "/a")], "") == [Right("read", "/a")]
    assert decide([Right("read", "/a")], "it failed all the same") == []
    assert "talk may read /a" in capsys.readouterr().err


def test_a_program_of_the_user_brings_its_own_folder(tmp_path: Path) -> None:
    program = tmp_path / "tools" / "bin" / "serve"
    program.parent.mkdir(parents=True)
    program.write_text("")
    found = base_permissions(record(command=[str(program)], environment=""))
    assert str(tmp_path / "tools") in found["read"]
