"""`ferrule connect` and `disconnect`: what they write into the files of clients, and what they leave as it was."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ferrule.errors import FerruleError
from ferrule_serve.clients.connection import Connected, find_connections, plan_connection, this_server
from ferrule_serve.clients.definitions import CLIENTS, JSON, TOML, YAML
from ferrule_serve.clients.diagnosis import examine
from ferrule_serve.clients.documents import DocumentMalformed, read_entry, remove_entry, set_entry
from ferrule_serve.commands.connect import command as connect
from ferrule_serve.commands.disconnect import command as disconnect

ENTRY = {"command": "/opt/ferrule", "args": ["serve"]}
KEYS = ("servers", "ferrule")
COMMENTED = """\
// of mine
{
  "theme": "dark", // at night
  /* all of them */
  "servers": {
    "other": {"command": "y"}, // the other one
  },
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder of the test's own."""
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


def run(command: object, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)  # type: ignore[arg-type] # wrong on purpose, or of another shape than the type


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON, ""),
        (JSON, '{\n    "a": 1\n}\n'),
        (JSON, COMMENTED),
        (JSON, "{\n  // nothing yet\n}\n"),
        (JSON, '{"servers": {"a": {}, "ferrule": {"command": "old"}, /* b */ "b": {}}}'),
        (TOML, '# c\nmodel = "x"\n\n[servers.other]\ncommand = "y" # z\n'),
        (TOML, ""),
        (YAML, "# c\nmodel: x\nservers:\n  other: # z\n    enabled: true\n"),
        (YAML, ""),
    ],
)
def test_one_entry_changes_and_all_else_stays(form: str, text: str) -> None:
    before = read_entry(text, form, ("servers",)) or {}
    changed = set_entry(text, form, KEYS, ENTRY)
    assert read_entry(changed, form, KEYS) == ENTRY
    assert read_entry(changed, form, ("servers",)) == {**before, "ferrule": ENTRY}
    removed = remove_entry(changed, form, KEYS)
    assert read_entry(removed, form, KEYS) is None
    for comment in ("// of mine", "// at night", "/* all of them */", "// the other one", "# c", "# z", "/* b */"):
        assert changed.count(comment) == removed.count(comment) == text.count(comment)


def test_an_entry_that_was_added_and_removed_leaves_the_file_as_it_was() -> None:
    assert remove_entry(set_entry(COMMENTED, JSON, KEYS, ENTRY), JSON, KEYS) == COMMENTED


@pytest.mark.parametrize(
    ("form", "text"),
    [(JSON, "{"), (JSON, "[]"), (JSON, '{"servers": []}'), (TOML, "a ="), (YAML, "a: [")],
)
def test_a_file_that_cannot_be_read_is_not_changed(form: str, text: str) -> None:
    with pytest.raises(DocumentMalformed):
        set_entry(text, form, KEYS, ENTRY)


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_gets_an_entry_that_is_found_again(name: str) -> None:
    client = CLIENTS[name]
    change = plan_connection(client, client.user_file(), "mine", this_server(["web_fetch"], {"A": "1"}))
    change.write()
    (found,) = find_connections(Path.cwd())
    assert isinstance(found, Connected)
    assert (found.client.name, found.name) == (name, "mine")
    assert Path(found.command[0]).is_absolute()
    assert found.command[1:] == ["serve", "web_fetch"]


def test_the_file_as_it_was_is_kept_and_disconnect_takes_the_entry_out(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    path.chmod(0o640)
    assert run(connect, "cursor").exit_code == 0
    assert set(json.loads(path.read_text())["mcpServers"]) == {"other", "ferrule"}
    assert json.loads(path.with_name("mcp.json.before-ferrule").read_text()) == {
        "mcpServers": {"other": {"command": "x"}}
    }
    assert path.stat().st_mode & 0o777 == 0o640
    assert run(disconnect, "cursor").exit_code == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_print_shows_the_difference_and_writes_nothing(home: Path) -> None:
    told = run(connect, "codex", "--print")
    assert '+command = "' in told.output
    assert not (home / ".codex").exists()
    assert tomllib.loads(
        "".join(line[1:] + "\n" for line in told.output.splitlines() if line[:2] not in ("++", "--", "@@"))
    )


def test_a_project_has_a_file_of_its_own(home: Path) -> None:
    told = json.loads(run(connect, "vscode", "--project", "--json").output)
    assert told["file"] == str(home / "work/.vscode/mcp.json")
    assert told["changed"] is True
    assert "has no configuration of a project" in str(run(connect, "claude-desktop", "--project").exception)


def test_the_list_says_who_is_connected() -> None:
    run(connect, "zed")
    told = {one["client"]: one["connected"] for one in json.loads(run(connect, "--json").output)["clients"]}
    assert told["zed"] == "ferrule"
    assert told["cursor"] is None


def test_a_file_with_a_syntax_error_is_told_with_its_name(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{")
    error = run(connect, "gemini").exception
    assert isinstance(error, FerruleError)
    assert ".gemini/settings.json cannot be changed: it is not JSON" in error.message
    assert (home / ".gemini/settings.json").read_text() == "{"


def test_doctor_finds_programs_and_tools_that_are_gone(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    servers = {
        "gone": {"command": "/gone/ferrule", "args": ["serve", "no_such_tool", "--workers", "2"]},
        "by-path": {"command": "ferrule", "args": ["serve"]},
        "another": {"command": "npx", "args": ["serve"]},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    (home / "work/.mcp.json").write_text("{")
    found = {(one.id, one.severity) for one in examine()}
    assert found == {
        ("client-broken", "error"),
        ("client-tool-missing", "error"),
        ("client-by-path", "warning"),
        ("client-unreadable", "warning"),
    }


ORIGINALS = {
    "one line": ("cursor", '{"mcpServers": {"other": {"command": "x", "args": []}}}'),
    "one line without blanks": ("cursor", '{"a":[1,2],"mcpServers":{"other":{"command":"x"}}}\n'),
    "lines that end as on Windows": ("cursor", '{\r\n  "a": [1, 2]\r\n}\r\n'),
    "a mark at its beginning": ("cursor", '\ufeff{\n  "a": 1\n}\n'),
    "no break at its end": ("cursor", '{\n  "a": 1\n}'),
    "lists on one line": ("cursor", '{\n\t"a": [1, 2],\n\t"b": {}\n}\n'),
    "an empty file": ("cursor", ""),
    "comments": ("zed", COMMENTED),
    "quotes of YAML": ("goose", "a: \"x\"\nb: 'y'\nlist:\n    - 1\n    -   2\n"),
    "lines of TOML": ("codex", "# c\r\nmodel   = 'x'\r\n\r\n[a]\r\nb=1\r\n"),
}


@pytest.mark.parametrize("what", ORIGINALS)
def test_a_file_comes_back_byte_for_byte(what: str) -> None:
    client, text = ORIGINALS[what]
    path = CLIENTS[client].user_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    for name in ("ferrule", "second"):
        assert run(connect, client, "--name", name).exit_code == 0
        kept = path.with_name(path.name + ".before-ferrule")
        assert kept.read_bytes() == text.encode()
    assert run(disconnect, client, "--name", "second").exit_code == 0
    assert kept.read_bytes() == text.encode()
    assert run(disconnect, client).exit_code == 0
    assert path.read_bytes() == text.encode()


def test_a_file_that_connect_has_made_is_gone_when_nothing_else_is_in_it(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    run(connect, "cursor")
    assert run(disconnect, "cursor").exit_code == 0
    assert not path.exists()
    run(connect, "cursor")
    path.write_text(json.dumps({**json.loads(path.read_text()), "a": 1}))
    run(disconnect, "cursor")
    assert json.loads(path.read_text()) == {"mcpServers": {}, "a": 1}


def test_what_a_user_changes_meanwhile_stays(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text('{"a":1}')
    run(connect, "cursor")
    path.write_text(path.read_text().replace('"a":1', '"a":2'))
    run(disconnect, "cursor")
    assert path.read_text() == '{"a":2,"mcpServers":{}}'


def test_copilot_has_a_file_of_a_project_that_no_other_client_reads(home: Path) -> None:
    told = json.loads(run(connect, "copilot", "--project", "--json").output)
    assert told["file"] == str(home / "work/.github/mcp.json")
