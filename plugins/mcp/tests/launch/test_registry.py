"""Entries of a registry, in the shapes that its schema has had."""

from __future__ import annotations

import json

import pytest

from ferrule_mcp.launch.plan import NPM, PYPI, LaunchRefused, Remote
from ferrule_mcp.launch.registry import name_of, read_entry

NEW = {
    "name": "io.github.ann/Brave-Search",
    "description": "Searches.",
    "version": "1.0.2",
    "packages": [
        {
            "registryType": "npm",
            "identifier": "@ann/brave-mcp",
            "version": "1.0.2",
            "runtimeHint": "npx",
            "transport": {"type": "stdio"},
            "runtimeArguments": [{"type": "named", "name": "--yes"}],
            "packageArguments": [
                {"type": "named", "name": "--mode", "value": "stdio"},
                {"type": "named", "name": "--quiet"},
                {"type": "named", "name": "--level", "default": "info", "choices": ["info", "debug"]},
                {"type": "positional", "valueHint": "folder", "isRepeated": True, "description": "What it may see"},
                {
                    "type": "named",
                    "name": "--region",
                    "value": "{region}-1",
                    "variables": {"region": {"default": "eu"}},
                },
            ],
            "environmentVariables": [
                {"name": "BRAVE_API_KEY", "isRequired": True, "isSecret": True, "description": "Your key"},
                {"name": "LIMIT", "default": 10},
                {"name": "UNUSED"},
            ],
        },
        {"registryType": "oci", "identifier": "docker.example/ann/brave:1", "transport": {"type": "stdio"}},
    ],
    "remotes": [
        {
            "type": "streamable-http",
            "url": "https://{tenant}.example/mcp",
            "variables": {"tenant": {"description": "Yours", "isRequired": True}},
            "headers": [
                {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}}
            ],
        },
        {"type": "carrier-pigeon", "url": "https://x.example"},
    ],
}


def test_a_package_of_npm_becomes_its_command():
    entry = read_entry(NEW)
    assert (entry.name, entry.version, name_of(entry)) == ("io.github.ann/Brave-Search", "1.0.2", "brave_search")
    assert [one.kind for one in entry.choices] == ["npm", "http"]
    assert "container" in entry.refused[0]
    launch = entry.choices[0].plan({"folder": ["/a", "/b"], "BRAVE_API_KEY": "k-1234567"})
    assert (launch.ecosystem, launch.requirements) == (NPM, ("@ann/brave-mcp@1.0.2",))
    assert launch.arguments == ("--mode", "stdio", "--quiet", "--level", "info", "/a", "/b", "--region", "eu-1")
    assert launch.variables == {"LIMIT": "10"}
    assert [tuple(one) for one in launch.secrets] == [("brave_api_key", "k-1234567", "BRAVE_API_KEY")]


def test_an_answer_has_to_be_one_of_the_choices():
    with pytest.raises(LaunchRefused, match="'loud' is no value") as caught:
        read_entry(NEW).choices[0].plan({"level": "loud"})
    assert caught.value.hint == "It is one of: info, debug."


def test_an_address_gets_its_variables_and_its_secret_headers():
    choice = read_entry(NEW).choices[1]
    with pytest.raises(LaunchRefused, match="needs settings: tenant: Yours"):
        choice.plan({})
    remote = choice.plan({"tenant": "ann", "token": "t-1"})
    assert isinstance(remote, Remote)
    assert (remote.transport, remote.url) == ("http", "https://ann.example/mcp")
    assert remote.headers == {"Authorization": "Bearer {token}"}
    assert [tuple(one) for one in remote.secrets] == [("token", "t-1", "")]


def test_an_older_entry_as_an_api_gives_it_is_read_too(tmp_path):
    old = {
        "server": {
            "name": "io.github.ann/git",
            "packages": [
                {
                    "registry_type": "pypi",
                    "identifier": "mcp-server-git",
                    "version": "2026.1",
                    "package_arguments": [{"type": "positional", "value_hint": "repo_path", "is_required": True}],
                    "environment_variables": [{"name": "GIT_TOKEN", "is_secret": True}, {"name": "TZ", "value": "UTC"}],
                }
            ],
        },
        "_meta": {},
    }
    (tmp_path / "server.json").write_text(json.dumps(old))
    choice = read_entry(tmp_path / "server.json").choices[0]
    with pytest.raises(LaunchRefused, match="repo_path"):
        choice.plan({})
    launch = choice.plan({"repo_path": "/srv/repo"})
    assert (launch.ecosystem, launch.requirements, launch.arguments) == (
        PYPI,
        ("mcp-server-git==2026.1",),
        ("/srv/repo",),
    )
    assert launch.variables == {"TZ": "UTC"}
    assert [tuple(one) for one in launch.secrets] == [("git_token", "", "GIT_TOKEN")]


def test_a_secret_argument_stands_in_braces_and_an_optional_one_is_left_out():
    package = {
        "registryType": "npm",
        "identifier": "a-mcp",
        "packageArguments": [
            {"type": "named", "name": "--api-key", "isSecret": True, "isRequired": True},
            {"type": "named", "name": "--other-key", "isSecret": True},
        ],
    }
    launch = read_entry({"name": "x/a", "packages": [package]}).choices[0].plan({"api-key": "k-123456"})
    assert launch.arguments == ("--api-key", "{api_key}")
    assert [tuple(one) for one in launch.secrets] == [("api_key", "k-123456", "")]


@pytest.mark.parametrize(
    ("package", "part"),
    [
        ({"registryType": "oci", "identifier": "a"}, "container"),
        ({"registryType": "nuget", "identifier": "a"}, "NET"),
        ({"registryType": "mcpb", "identifier": "https://x.example/a.mcpb"}, "fetch the file"),
        ({"registryType": "crates", "identifier": "a"}, "not known here"),
        ({"registryType": "npm", "identifier": "a", "transport": {"type": "sse"}}, "opens itself"),
        ({"registryType": "npm", "identifier": "--evil"}, "no name"),
    ],
)
def test_a_way_that_cannot_be_taken_is_explained(package, part):
    with pytest.raises(LaunchRefused, match=part):
        read_entry({"name": "x/a", "packages": [package]})


def with_registry(address, **facts):
    """An entry whose one package names a registry for itself."""
    package = {"registryType": "npm", "identifier": "@ann/mcp", "version": "1.0.0", "registryBaseUrl": address, **facts}
    return {"name": "io.github.ann/mcp", "packages": [package]}


@pytest.mark.parametrize("kind", ["npm", "pypi"])
@pytest.mark.parametrize("key", ["registryBaseUrl", "registry_base_url"])
def test_a_package_of_another_registry_is_fetched_from_no_other_one(kind, key):
    entry = with_registry("", registryType=kind, identifier="mcp", **{key: "https://packages.example/own/"})
    with pytest.raises(LaunchRefused) as refused:
        read_entry(entry)
    assert "mcp is a package in the registry https://packages.example/own, and" in refused.value.message
    assert refused.value.hint == (
        "Where packages are fetched from that registry here, add --registry https://packages.example/own."
    )
    for said in ("https://packages.example/own", "https://packages.example/own/"):
        (choice,) = read_entry(entry, [said]).choices
        assert choice.kind == kind
    with pytest.raises(LaunchRefused):
        read_entry(entry, ["https://packages.example"])


@pytest.mark.parametrize("address", ["https://ann:secret@packages.example", "https://ann:secret@packages.example]["])
def test_the_password_of_a_registry_is_not_shown(address):
    with pytest.raises(LaunchRefused) as refused:
        read_entry(with_registry(address))
    assert "secret" not in refused.value.message + str(refused.value.hint)


def test_another_way_is_taken_where_a_package_is_of_another_registry():
    entry = {**with_registry(["no", "text"]), "remotes": NEW["remotes"]}
    found = read_entry(entry)
    assert [one.kind for one in found.choices] == ["http"]
    assert len(found.refused) == 1


def test_what_is_no_entry_is_refused(tmp_path):
    for text in ("[]", "{", '{"name": "x"}', '{"packages": 3}'):
        (tmp_path / "server.json").write_text(text)
        with pytest.raises(LaunchRefused, match=r"no server\.json"):
            read_entry(tmp_path / "server.json")
    with pytest.raises(LaunchRefused, match="cannot be read"):
        read_entry(tmp_path / "gone.json")
