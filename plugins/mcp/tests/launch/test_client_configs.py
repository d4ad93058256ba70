"""The configuration of other clients, in the forms that each of them documents."""

from __future__ import annotations

import json
import sys

import pytest

from ferrule_mcp.launch.client_configs import read_client, read_client_file
from ferrule_mcp.launch.plan import NPM, PYPI, Launch, LaunchRefused, Remote

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the folders of Windows are elsewhere")


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = tmp_path / "home"
    made.mkdir()
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setattr(sys, "platform", "linux")
    return made


@pytest.fixture
def project(tmp_path):
    made = tmp_path / "project"
    made.mkdir()
    return made


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def one(found, name):
    return next(server for server in found if server.name == name)


def secrets(plan):
    return [tuple(secret) for secret in plan.secrets]


def test_claude_has_its_servers_in_three_places(home, project):
    write(home / ".config/Claude/claude_desktop_config.json", {"mcpServers": {
        "desktop": {"command": "npx", "args": ["-y", "a-mcp"], "env": {"BRAVE_API_KEY": "k-1234567", "TZ": "UTC"}},
    }})  # fmt: skip
    write(home / ".claude.json", {
        "mcpServers": {"own": {"type": "stdio", "command": "uvx", "args": ["b-mcp"]}},
        "projects": {"/srv/work": {"mcpServers": {"inner": {"command": "npx", "args": ["c-mcp", "./data"]}}}},
        "history": ["x"],
    })  # fmt: skip
    write(project / ".mcp.json", {"mcpServers": {
        "shared": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${API_TOKEN}"}},
        "with_default": {"command": "npx", "args": ["d-mcp", "${LEVEL:-info}", "${NOT_SET_HERE}"]},
    }})  # fmt: skip
    found = read_client("claude", project, {"API_TOKEN": "t-1"})
    assert [(server.name, server.scope) for server in found] == [
        ("desktop", "user"), ("own", "user"), ("inner", "/srv/work"), ("shared", "project"),
        ("with_default", "project"),
    ]  # fmt: skip
    desktop = one(found, "desktop").plan
    assert (desktop.ecosystem, desktop.requirements, desktop.variables) == (NPM, ("a-mcp",), {"TZ": "UTC"})
    assert secrets(desktop) == [("brave_api_key", "k-1234567", "BRAVE_API_KEY")]
    assert one(found, "own").plan.ecosystem == PYPI
    assert one(found, "inner").plan.arguments == ("/srv/work/data",)
    shared = one(found, "shared").plan
    assert shared == Remote("http", "https://x.example/mcp", {"Authorization": "Bearer {api_token}"}, shared.secrets)
    assert secrets(shared) == [("api_token", "t-1", "")]
    assert one(found, "with_default").plan.arguments == ("info", "${NOT_SET_HERE}")
    assert one(found, "with_default").missing == ("NOT_SET_HERE",)


def test_vs_code_asks_for_inputs_and_has_comments(home, project):
    write(
        project / ".vscode/mcp.json",
        """{
      // what is asked for
      "inputs": [
        {"type": "promptString", "id": "token", "description": "Token", "password": true},
        {"type": "pickString", "id": "level", "options": ["low", "high"]},
      ],
      "servers": {
        "github": {
          "type": "stdio", "command": "npx",
          "args": ["-y", "gh-mcp", "--level", "${input:level}", "${workspaceFolder}"],
          "env": {"GH_TOKEN": "${input:token}", "HOME_DIR": "${userHome}", "MODE": "${env:MODE}"},
        },
        "file": {"command": "uvx", "args": ["e-mcp"], "envFile": "${workspaceFolder}/.env"},
      },
    }""",
    )
    write(project / ".env", "# a comment\nexport PASSWORD='s3cret-value'\nPLAIN=1\n")
    write(home / ".config/Code/User/settings.json", {"mcp": {"servers": {"old": {"command": "uvx", "args": ["x"]}}}})
    found = read_client("vscode", project, {"MODE": "fast"})
    github = one(found, "github").plan
    assert github.arguments == ("--level", "low", str(project))
    assert github.variables == {"HOME_DIR": str(home), "MODE": "fast"}
    assert secrets(github) == [("token", "", "GH_TOKEN")]
    assert secrets(one(found, "file").plan) == [("password", "s3cret-value", "PASSWORD")]
    assert one(found, "file").plan.variables == {"PLAIN": "1"}
    assert one(found, "old").scope == "user"


def test_codex_has_toml_with_variables_by_name(home, project):
    write(home / ".codex/config.toml", """
model = "x"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]
cwd = "/srv"
env_vars = ["DOCS_API_KEY", "LANG"]
enabled_tools = ["search"]
disabled_tools = ["write"]
[mcp_servers.docs.env]
LEVEL = "2"
[mcp_servers.far]
url = "https://far.example/mcp"
bearer_token_env_var = "FAR_PAT"
enabled = false
[mcp_servers.far.env_http_headers]
X-Team = "TEAM"
""")  # fmt: skip
    found = read_client("codex", project, {"DOCS_API_KEY": "d-123", "LANG": "C", "FAR_PAT": "p-1", "TEAM": "red"})
    docs = one(found, "docs")
    assert docs.plan.variables == {"LEVEL": "2", "LANG": "C"}
    assert secrets(docs.plan) == [("docs_api_key", "d-123", "DOCS_API_KEY")]
    assert (docs.plan.folder, docs.only, docs.excluded, docs.is_enabled) == ("/srv", ("search",), ("write",), True)
    far = one(found, "far")
    assert far.plan.headers == {"X-Team": "red", "Authorization": "Bearer {far_pat}"}
    assert (secrets(far.plan), far.is_enabled) == ([("far_pat", "p-1", "")], False)


def test_gemini_has_variables_without_braces(home, project):
    write(home / ".gemini/settings.json", {"mcpServers": {
        "a": {"command": "uvx", "args": ["a-mcp", "$PLACE"], "env": {"API_KEY": "$A_KEY"}, "includeTools": ["x"]},
        "b": {"httpUrl": "https://b.example/mcp"}, "c": {"url": "https://c.example/sse"},
    }})  # fmt: skip
    found = read_client("gemini", project, {"PLACE": "/srv", "A_KEY": "k-12345"})
    assert one(found, "a").plan.arguments == ("/srv",)
    assert secrets(one(found, "a").plan) == [("a_key", "k-12345", "API_KEY")]
    assert one(found, "a").only == ("x",)
    assert [one(found, name).plan.transport for name in "bc"] == ["http", "sse"]


def test_zed_has_settings_with_comments_in_two_shapes(home, project):
    write(
        home / ".config/zed/settings.json",
        """{
      // of Zed
      "theme": "One",
      "context_servers": {
        "new": {"source": "custom", "command": "npx", "args": ["-y", "n-mcp"], "env": {}},
        "old": {"command": {"path": "uvx", "args": ["o-mcp"], "env": {"TOKEN": "t-12345"}}, "settings": {}},
        "by-extension": {"source": "extension", "settings": {"key": "x"}},
      },
    }""",
    )
    found = read_client("zed", project, {})
    assert one(found, "new").plan.requirements == ("n-mcp",)
    assert one(found, "old").plan.requirements == ("o-mcp",)
    assert secrets(one(found, "old").plan) == [("token", "t-12345", "TOKEN")]
    assert one(found, "by-extension").plan is None
    assert "npx -y NAME" in one(found, "by-extension").problem


def test_one_server_that_cannot_be_taken_over_hides_no_other(home, project):
    write(home / ".cursor/mcp.json", {"mcpServers": {
        "box": {"command": "docker", "args": ["run", "-i", "mcp/x"]},
        "odd": [], "off": {"command": "npx", "args": ["-y", "z-mcp"], "disabled": True},
    }})  # fmt: skip
    found = read_client("cursor", project, {})
    assert "in a container" in one(found, "box").problem
    assert "neither a command" in one(found, "odd").problem
    assert isinstance(one(found, "off").plan, Launch)
    assert not one(found, "off").is_enabled


def test_a_secret_is_in_no_text_of_a_plan(home, project):
    write(project / "x.json", {"mcpServers": {"a": {
        "command": "npx", "args": ["-y", "a-mcp", "--api-key", "hidden-1234", "--url", "https://u:hidden-pw@x.example"],
        "env": {"TOKEN": "hidden-5678", "AUTH": "Bearer ${SOME_TOKEN}"},
    }}})  # fmt: skip
    plan = read_client_file(project / "x.json", project, {"SOME_TOKEN": "hidden-env"})[0].plan
    assert "hidden" not in f"{plan!r} {json.dumps(plan.to_json())}"
    assert sorted(value for _, value, _ in secrets(plan)) == [
        "hidden-1234", "hidden-5678", "hidden-env", "https://u:hidden-pw@x.example",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "headers", "after", "found"),
    [
        ("https://x.example/mcp?apiKey=k-123&a=1", {}, ("https://x.example/mcp?apiKey={apikey}&a=1", {}),
         [("apikey", "k-123", "")]),
        ("https://u:pw@x.example/", {}, ("https://{login}@x.example/", {}), [("login", "u:pw", "")]),
        ("https://x.example/", {"Authorization": "Bearer k-123", "X-Api-Key": "<KEY>", "X-Team": "red"},
         ("https://x.example/",
          {"Authorization": "Bearer {authorization}", "X-Api-Key": "{x_api_key}", "X-Team": "red"}),
         [("authorization", "k-123", ""), ("x_api_key", "", "")]),
        ("https://x.example/{a}", {}, ("https://x.example/{a}", {}), []),
    ],
)  # fmt: skip
def test_secrets_of_an_address_and_its_headers_are_credentials(home, project, url, headers, after, found):
    write(project / "x.json", {"mcpServers": {"a": {"url": url, "headers": headers}}})
    plan = read_client_file(project / "x.json", project, {})[0].plan
    assert (plan.url, plan.headers) == after
    assert secrets(plan) == found


def test_two_values_under_one_name_stay_apart(home, project):
    write(project / "x.json", {"mcpServers": {"a": {
        "command": "npx", "args": ["a-mcp", "--token", "first-12345"], "env": {"TOKEN": "second-12345"},
    }}})  # fmt: skip
    plan = read_client_file(project / "x.json", project, {})[0].plan
    assert len({name for name, _, _ in secrets(plan)}) == 2


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "cannot be read as JSON"),
        ("{}", "has no servers"),
        ("", "has no servers"),
        ('{"mcpServers": 3}', "no servers"),
    ],
)
def test_a_file_without_servers_says_so(home, project, text, part):
    write(project / "x.json", text)
    with pytest.raises(LaunchRefused, match=part):
        read_client_file(project / "x.json", project)


def test_a_client_that_is_not_there_is_named_with_its_place(home, project):
    with pytest.raises(LaunchRefused, match="Cursor has no configuration") as caught:
        read_client("cursor", project)
    assert f"{home}/.cursor/mcp.json" in str(caught.value.hint)
    with pytest.raises(LaunchRefused, match="no client emacs"):
        read_client("emacs", project)
    write(home / ".codex/config.toml", "x = ")
    with pytest.raises(LaunchRefused, match="cannot be read as TOML"):
        read_client("codex", project)
    with pytest.raises(LaunchRefused, match="cannot be read: No such file"):
        read_client_file(project / "gone.json", project)


def test_the_files_on_macos_are_where_its_programs_keep_them(home, project, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    write(home / "Library/Application Support/Claude/claude_desktop_config.json", {"mcpServers": {
        "a": {"command": "npx", "args": ["a-mcp"]},
    }})  # fmt: skip
    assert [server.name for server in read_client("claude", project)] == ["a"]
