"""Command lines as READMEs and configurations of clients have them."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.plan import FILE, MODULE, NONE, NPM, PROGRAM, PYPI, SCRIPT, Launch, LaunchRefused, fill_secrets

NPX = {
    "npx -y @modelcontextprotocol/server-everything": ("@modelcontextprotocol/server-everything", "", ()),
    "npx -y @modelcontextprotocol/server-filesystem /srv /tmp": (
        "@modelcontextprotocol/server-filesystem", "", ("/srv", "/tmp"),
    ),
    "npx --yes @playwright/mcp@latest --headless": ("@playwright/mcp@latest", "", ("--headless",)),
    "npx @upstash/context7-mcp@1.0.14": ("@upstash/context7-mcp@1.0.14", "", ()),
    "npx -y -- firecrawl-mcp": ("firecrawl-mcp", "", ()),
    "npx -y --package=@scope/pkg the-bin --port 1": ("@scope/pkg", "the-bin", ("--port", "1")),
    "npx -p some-mcp@2.x -c 'some-mcp --stdio'": ("some-mcp@2.x", "some-mcp", ("--stdio",)),
    "npx -y tsx@4 -y": ("tsx@4", "", ("-y",)),
    "npx -y alias@npm:real@2": ("alias@npm:real@2", "", ()),
    "npx -y github:owner/repo": ("github:owner/repo", "", ()),
    "npx -y owner/repo#v1": ("owner/repo#v1", "", ()),
    "npm exec -y -- repomix --mcp": ("repomix", "", ("--mcp",)),
    "npm x --package=foo -- bar --baz": ("foo", "bar", ("--baz",)),
    "bunx --bun mcp-mermaid": ("mcp-mermaid", "", ()),
    "bun x mcp-mermaid": ("mcp-mermaid", "", ()),
    "pnpm dlx mcp-mermaid@0.4.1": ("mcp-mermaid@0.4.1", "", ()),
    "pnpx mcp-mermaid": ("mcp-mermaid", "", ()),
    "yarn dlx -p mcp-mermaid mermaid": ("mcp-mermaid", "mermaid", ()),
    "cmd /c npx -y mcp-mermaid": ("mcp-mermaid", "", ()),
    "npx.cmd -y mcp-mermaid": ("mcp-mermaid", "", ()),
    "bash -c 'npx -y mcp-mermaid --stdio'": ("mcp-mermaid", "", ("--stdio",)),
    "/usr/local/bin/npx -y mcp-mermaid": ("mcp-mermaid", "", ()),
}  # fmt: skip
UVX = {
    "uvx mcp-server-git": (("mcp-server-git",), "mcp-server-git", ()),
    "uvx mcp-server-git --repository /srv/repo": (("mcp-server-git",), "mcp-server-git", ("--repository", "/srv/repo")),
    "uvx mcp-server-time@latest": (("mcp-server-time",), "mcp-server-time", ()),
    "uvx awslabs.aws-documentation-mcp-server@1.2.3": (
        ("awslabs.aws-documentation-mcp-server==1.2.3",), "awslabs.aws-documentation-mcp-server", (),
    ),
    "uvx --from git+https://github.com/oraios/serena serena start-mcp-server": (
        ("git+https://github.com/oraios/serena",), "serena", ("start-mcp-server",),
    ),
    "uvx --from mcp-server-sqlite --with 'mcp<2' mcp-server-sqlite --db-path /srv/a.db": (
        ("mcp-server-sqlite", "mcp<2"), "mcp-server-sqlite", ("--db-path", "/srv/a.db"),
    ),
    "uvx --with 'mcp<2,tzdata' mcp-server-time": (("mcp-server-time", "mcp<2", "tzdata"), "mcp-server-time", ()),
    "uvx 'markitdown-mcp[all]==0.0.1a7'": (("markitdown-mcp[all]==0.0.1a7",), "markitdown-mcp", ()),
    "uv tool run mcp-server-git": (("mcp-server-git",), "mcp-server-git", ()),
    "uvx -q --isolated mcp-server-git -v": (("mcp-server-git",), "mcp-server-git", ("-v",)),
    "pipx run mcp-server-git": (("mcp-server-git",), "mcp-server-git", ()),
    "pipx run --spec mcp-server-git==2026.1 mcp-server-git -v": (
        ("mcp-server-git==2026.1",), "mcp-server-git", ("-v",),
    ),
    "uv run --with mcp[cli] mcp run": (("mcp[cli]",), "mcp", ("run",)),
    "uv run --no-project --with fastmcp fastmcp run x": (("fastmcp",), "fastmcp", ("run", "x")),
}  # fmt: skip


def parse(text: str, folder: object = "/nowhere") -> Launch:
    import shlex

    return parse_command(shlex.split(text), str(folder))


@pytest.mark.parametrize("text", NPX)
def test_a_command_of_npm_is_a_package_a_script_and_arguments(text):
    found = parse(text)
    assert (found.ecosystem, found.kind) == (NPM, SCRIPT)
    assert (found.requirements[0], found.executable, found.arguments) == NPX[text]


@pytest.mark.parametrize("text", UVX)
def test_a_command_of_uv_and_pipx_is_requirements_a_script_and_arguments(text):
    found = parse(text)
    assert (found.ecosystem, found.kind) == (PYPI, SCRIPT)
    assert (found.requirements, found.executable, found.arguments) == UVX[text]


def test_a_version_of_python_and_an_index_are_kept_for_the_installer():
    found = parse("uvx --python 3.12 --index https://i.example/simple --default-index https://d.example/simple a-mcp")
    assert found.python == "3.12"
    assert found.options == (
        "--extra-index-url", "https://i.example/simple", "--index-url", "https://d.example/simple",
    )  # fmt: skip
    named = parse("uvx --index own=https://i.example/simple --prerelease allow a-mcp")
    assert named.options == ("--extra-index-url", "https://i.example/simple", "--pre")
    assert parse("npx --registry https://r.example/ a-mcp").options == ("--registry=https://r.example/",)


@pytest.mark.parametrize(
    "text",
    [
        "uvx --index-url https://ann:pass@i.example/simple a-mcp",
        "uvx --from git+https://ghp_token@github.com/a/b b",
        "npx --registry=https://tok@r.example/ a-mcp",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(text):
    with pytest.raises(LaunchRefused) as caught:
        parse(text)
    assert "ghp_token" not in str(caught.value.facts())
    assert "ann" not in str(caught.value.facts())


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_file_for_node_is_absolute_and_its_flags_stay(tmp_path):
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "index.js").write_text("")
    (tmp_path / "data.json").write_text("{}")
    found = parse("node --no-warnings --max-old-space-size=512 build/index.js --config data.json ../x word", tmp_path)
    assert (found.ecosystem, found.kind) == (NONE, FILE)
    assert found.executable == f"{tmp_path}/build/index.js"
    assert found.flags == ("--no-warnings", "--max-old-space-size=512")
    assert found.arguments == ("--config", f"{tmp_path}/data.json", f"{tmp_path.parent}/x", "word")
    assert os.path.isabs(found.interpreter)
    assert parse("node build", tmp_path).executable == f"{tmp_path}/build/index.js"
    assert parse("node build/index", tmp_path).executable == f"{tmp_path}/build/index.js"


def test_python_with_a_module_and_with_a_file(tmp_path):
    (tmp_path / "server.py").write_text("")
    module = parse(f"{sys.executable} -u -m mcp_server_git --repository .", tmp_path)
    assert (module.ecosystem, module.kind, module.executable) == (NONE, MODULE, "mcp_server_git")
    assert (module.interpreter, module.flags) == (sys.executable, ("-u",))
    assert module.arguments == ("--repository", str(tmp_path))
    file = parse("python -X dev ./server.py --x=./y", tmp_path)
    assert (file.kind, file.executable, file.flags) == (FILE, f"{tmp_path}/server.py", ("-X", "dev"))
    assert file.arguments == (f"--x={tmp_path}/y",)
    assert parse("python -mfoo a").executable == "foo"


def test_a_path_is_a_program_that_is_run_as_it_is(tmp_path):
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = parse("./server --stdio", tmp_path)
    assert (found.ecosystem, found.kind, found.executable) == (NONE, PROGRAM, str(program))
    program.chmod(0o644)
    with pytest.raises(LaunchRefused, match="no executable file"):
        parse("./server", tmp_path)


def test_uv_run_reads_a_script_and_a_project_without_running_either(tmp_path):
    script = tmp_path / "server.py"
    script.write_text('# /// script\n# dependencies = [\n#   "mcp<2",\n#   "httpx",\n# ]\n# ///\nraise SystemExit\n')
    found = parse("uv run server.py --port 1", tmp_path)
    assert (found.kind, found.executable, found.requirements) == (FILE, str(script), ("mcp<2", "httpx"))
    assert parse("uv run --script server.py", tmp_path).requirements == ("mcp<2", "httpx")
    assert parse("pipx run server.py", tmp_path).requirements == ("mcp<2", "httpx")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["mcp"]\n'
        '[project.optional-dependencies]\nweb = ["httpx"]\n'
    )
    plain = parse(f"uv --directory {tmp_path} run --extra web python -u server.py")
    assert (plain.requirements, plain.kind, plain.flags) == (("mcp", "httpx"), FILE, ("-u",))
    built = tmp_path / "pyproject.toml"
    built.write_text(built.read_text() + '[build-system]\nrequires = ["hatchling"]\n')
    found = parse(f"uv --directory {tmp_path} run x-server a")
    assert (found.requirements, found.executable, found.arguments) == ((str(tmp_path),), "x-server", ("a",))
    assert parse(f"uv run --project {tmp_path} -m x.server a").executable == "x.server"


@pytest.mark.parametrize(
    ("text", "part", "hint"),
    [
        ("docker run -i --rm mcp/git", "in a container", "npx -y NAME"),
        ("podman run x", "in a container", "uvx NAME"),
        ("deno run -A npm:x", "deno fetches", "npx"),
        ("bash -c 'cd /x && npx -y y'", "needs a shell", "executable file"),
        ("npx -p a -c 'a | b'", "needs a shell", "executable file"),
        ("npm start", "script of a project", "package.json"),
        ("uv pip install x", "uv run", "uvx NAME"),
        ("pipx install x", "pipx run", "pipx run NAME"),
        ("npx -y", "nothing to run", "npx -y NAME"),
        ("uvx", "nothing to run", "uvx NAME"),
        ("npx --unheard-of x", "--unheard-of is no option of npx", "after the name"),
        ("uvx --from", "--from of uvx has no value", "Complete"),
        ("python -c 'import x'", "Code in the command line", "file"),
        ("node -e 1", "Code in the command line", "file"),
        ("node missing.js", "There is no file /nowhere/missing.js", "Build"),
        ("no-such-program-here --x", "not on PATH", "Install it"),
        ("uvx 'not a name!'", "no name of a package", "NAME==VERSION"),
        ("npx 'not a name!'", "no name of a package", "NAME@VERSION"),
        ("pipx run https://x.example/y.py", "address", "Save it"),
        ("", "no command", "npx -y NAME"),
    ],
)
def test_what_cannot_be_held_is_refused_with_what_to_write_instead(text, part, hint):
    with pytest.raises(LaunchRefused) as caught:
        parse(text)
    assert part in caught.value.message
    assert hint in str(caught.value.hint)


def test_variables_before_the_command_are_its_environment():
    found = parse("env DEBUG=mcp:* npx -y a-mcp")
    assert (found.variables, found.executable, found.requirements) == ({"DEBUG": "mcp:*"}, "", ("a-mcp",))
    assert parse("LOG=1 uvx a-mcp").variables == {"LOG": "1"}
    assert parse("sh -c 'LOG=1 uvx a-mcp'").variables == {"LOG": "1"}


@pytest.mark.parametrize(
    ("text", "arguments", "secret"),
    [
        ("npx a-mcp --api-key abcdef123456", ("--api-key", "{api_key}"), ("api_key", "abcdef123456", "")),
        ("npx a-mcp --api-key=abcdef123456", ("--api-key={api_key}",), ("api_key", "abcdef123456", "")),
        ("npx a-mcp API_KEY=abcdef123456", ("API_KEY={api_key}",), ("api_key", "abcdef123456", "")),
        ("npx a-mcp --token '<your token>'", ("--token", "{token}"), ("token", "", "")),
        ("npx a-mcp postgres://ann:pw@h/db", ("{url}",), ("url", "postgres://ann:pw@h/db", "")),
        ("npx a-mcp --dsn postgres://ann:pw@h/db", ("--dsn", "{dsn}"), ("dsn", "postgres://ann:pw@h/db", "")),
        ("npx a-mcp https://x.example/?api_key=q1w2e3&b=2", ("https://x.example/?api_key={api_key}&b=2",),
         ("api_key", "q1w2e3", "")),
        ("npx a-mcp --header 'Authorization: Bearer abc'", ("--header", "Authorization: Bearer {authorization}"),
         ("authorization", "abc", "")),
        ("npx a-mcp '--header=Authorization: Bearer abc'", ("--header=Authorization: Bearer {authorization}",),
         ("authorization", "abc", "")),
        ("npx a-mcp --url=https://u:pw@x.example", ("--url={url}",), ("url", "https://u:pw@x.example", "")),
        ("npx a-mcp '--x={y}=Token: abcdefgh1234'", ("--x={y}=Token: abcdefgh1234",), None),
        ("npx a-mcp ghp_abcdefghijklmnopqrstuvwxyz0123456789", ("{token}",),
         ("token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "")),
        ("BRAVE_API_KEY=k123456789 npx a-mcp", (), ("brave_api_key", "k123456789", "BRAVE_API_KEY")),
        ("API_KEY=YOUR_API_KEY npx a-mcp", (), ("api_key", "", "API_KEY")),
    ],
)  # fmt: skip
def test_a_secret_becomes_a_credential_and_is_shown_nowhere(text, arguments, secret):
    found = parse(text)
    assert found.arguments == arguments
    assert [tuple(one) for one in found.secrets] == ([] if secret is None else [secret])
    assert not found.variables
    if secret and secret[1]:
        assert secret[1] not in f"{found!r}{json.dumps(found.to_json())}"
        assert fill_secrets(found.arguments, {secret[0]: secret[1]}) == [
            word.replace("{" + secret[0] + "}", secret[1]) for word in arguments
        ]


@pytest.mark.parametrize(
    "text",
    [
        "npx a-mcp --no-auth server", "npx a-mcp --max-tokens 4096", "npx a-mcp --key /etc/ssl/key.pem",
        "npx a-mcp --auth-mode oauth", "GIT_AUTHOR_EMAIL=a@example.com npx a-mcp", "USE_KEYRING=true npx a-mcp",
        "npx a-mcp '{\"a\": {\"b\": 1}}'", "AUTH_URL=https://x.example npx a-mcp", "npx a-mcp https://x.example/?q=1",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_secret_stays(text):
    assert parse(text).secrets == ()


def test_two_secrets_of_one_name_are_two_credentials():
    found = parse("npx a-mcp --token abcdef123456 --token ghijkl123456")
    assert found.arguments == ("--token", "{token}", "--token", "{token_2}")
    assert [one.name for one in found.secrets] == ["token", "token_2"]


def test_only_the_names_of_credentials_are_filled_in():
    assert fill_secrets(["{a}{b}", '{"a": {a}}', "{a", "{}"], {"a": "{b}", "b": "2"}) == [
        "{b}2", '{"a": {b}}', "{a", "{}",
    ]  # fmt: skip


def test_a_plan_comes_back_from_its_record_without_values_of_secrets():
    found = parse("KEY=abc123456789 uvx --python 3.12 --with 'mcp<2' a-mcp --x")
    again = Launch.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found._replace(secrets=tuple(one._replace(value="") for one in found.secrets))
    with pytest.raises(LaunchRefused):
        Launch.from_json({"ecosystem": "npm"})


def test_a_bridge_to_an_address_is_named():
    assert "ferrule mcp add NAME URL" in " ".join(parse("npx mcp-remote https://x.example/mcp").notes)
