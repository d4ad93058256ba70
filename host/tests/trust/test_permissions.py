"""What a tool may touch: how it is declared, said, compared, and resolved on one machine."""

import json
import os
from pathlib import Path

import pytest

from ferrule.config.configuration import Configuration
from ferrule.discovery import InstalledTool
from ferrule.trust import Permissions, declared, describe, excess, granted, parse
from ferrule.trust.declaration import MalformedPermissions, nothing
from ferrule.trust.description import clauses
from ferrule.trust.resolution.environment import environment
from ferrule.trust.resolution.resolver import Resolution, network_of, without_protected


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "permitted").mkdir()
    (tmp_path / "permitted" / "__init__.py").write_text("raise RuntimeError('imported')")
    return tmp_path


TOOL = InstalledTool("weather", "permitted", "ferrule-weather", "1.0", "")


def settings(content: dict[str, object] | None = None, environ: dict[str, str] | None = None) -> Configuration:
    return Configuration("/etc/ferrule/config.toml", content or {}, environ or {})


def resolve(home: Path, table: dict[str, object] | None = None, **environ: str) -> Resolution:
    return Resolution(table or {}, {"HOME": str(home), **environ})


def test_a_tool_that_declares_nothing_has_no_network(site: Path) -> None:
    assert declared(TOOL) == Permissions()
    assert describe(declared(TOOL)) == ["no network"]


def test_what_a_declaration_needs_besides_counts_as_asked_for(site: Path) -> None:
    content = {
        "permissions": {"network": [], "environment": ["WEATHER_*"]},
        "programs": [{"names": ["gdalinfo"], "variable": "GDAL", "setting": "gdal"}],
        "settings": [{"variable": "STATION"}],
    }
    (site / "permitted" / "tool.json").write_text(json.dumps(content))
    found = declared(TOOL)
    assert found.programs == ("setting:gdal", "variable:GDAL", "gdalinfo")
    assert found.environment == ("WEATHER_*", "GDAL", "STATION")
    assert found.network == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"permissions": {"read": "~"}}', '{"permissions": {"network": ["*"]}}'])
def test_a_tool_whose_declaration_cannot_be_read_gets_nothing_at_all(site: Path, text: str) -> None:
    (site / "permitted" / "tool.json").write_text(text)
    assert declared(TOOL) == nothing()
    assert describe(nothing()) == ["no network"]
    assert clauses(nothing()) == "has no network"
    assert clauses(Permissions(network=(), read=["."], tools=["a_*"])) == (
        "reads the folder that it is called in; has `a_*` run, each by its own permissions; has no network of its own"
    )


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("network", "example.com"),
        ("network", "https://example.com:443"),
        ("network", "example.com:0"),
        ("network", "example.com:65536"),
        ("network", "*:443"),
        ("network", "a*.example.com:443"),
        ("network", "setting:"),
        ("read", "notes"),
        ("read", "~other"),
        ("read", "~/.*"),
        ("read", "/a/../b"),
        ("read", "/a\nb"),
        ("write", ""),
        ("programs", "bin/git"),
        ("environment", "*"),
        ("environment", "A B"),
        ("environment", "variable:HOME"),
        ("state", "../x"),
        ("state", "permissions"),
        ("tools", "*"),
        ("read", "config:../ferrule"),
    ],
)
def test_an_entry_that_means_nothing_is_refused(key: str, entry: str) -> None:
    with pytest.raises(MalformedPermissions, match=key):
        parse({key: [entry]})


def test_a_variable_that_may_be_a_secret_is_none_that_a_tool_asks_for_by_itself(site: Path) -> None:
    content: dict[str, object] = {"permissions": {"environment": ["BRAVE_API_KEY"]}}
    (site / "permitted" / "tool.json").write_text(json.dumps(content))
    assert declared(TOOL) == nothing()
    content = {"permissions": {"environment": ["BRAVE_*"]}, "settings": [{"variable": "SOME_TOKEN"}]}
    (site / "permitted" / "tool.json").write_text(json.dumps(content))
    environ = {"BRAVE_API_KEY": "k", "BRAVE_PLACE": "p", "SOME_TOKEN": "t", "OTHER": "o", "LANG": "C"}
    assert environment(declared(TOOL), environ) == {"BRAVE_PLACE": "p", "LANG": "C"}
    by_admin = granted(TOOL, settings({"tools": {"weather": {"permissions": {"environment": ["SOME_TOKEN"]}}}}))
    assert environment(by_admin, environ) == {"SOME_TOKEN": "t", "LANG": "C"}


def test_permissions_are_said_in_words() -> None:
    permissions = Permissions([], ["~/*"], ["~/notes", "setting:folder"], ["opennotes"], ["OPENNOTES_*"], 4, ["shared"])
    assert describe(permissions) == [
        "reads ~ but no hidden folder",
        "writes ~/notes and what the setting folder names",
        "runs `opennotes`",
        "sees the variables OPENNOTES_*",
        "shares the state of shared",
        "makes 4 processes of its own at most",
        "no network",
    ]


@pytest.mark.parametrize(
    ("key", "allowed", "asked", "is_covered"),
    [
        ("network", "public", "api.example.com:443", True),
        ("network", "public", "10.0.0.1:443", False),
        ("network", "public", "[::1]:443", False),
        ("network", "public", "printer:80", False),
        ("network", "public", "printer.local:80", False),
        ("network", "public", "*.example.com:443", True),
        ("network", "api.example.com:443", "public", False),
        ("network", "*.example.com:443", "api.example.com:443", True),
        ("network", "*.example.com:443", "example.com:443", False),
        ("network", "*.example.com:443", "api.example.com:80", False),
        ("network", "api.example.com:*", "api.example.com:80", True),
        ("network", "*.example.com:443", "badexample.com:443", False),
        ("read", "~", "~/.ssh", True),
        ("read", "~/*", "~/notes/a", True),
        ("read", "~/*", "~/.ssh", False),
        ("read", "~/*", "~", False),
        ("read", "~/notes", "~/notes2", False),
        ("read", "/", "/etc", True),
        ("read", "/srv", "setting:folder", False),
        ("environment", "OPENNOTES_*", "OPENNOTES_X", True),
        ("environment", "OPENNOTES_X", "OPENNOTES_*", False),
        ("programs", "git", "git", True),
        ("programs", "git", "/usr/bin/git", False),
        ("state", "websearch", "artifacts", False),
    ],
)
def test_an_entry_covers_what_is_within_it(key: str, allowed: str, asked: str, is_covered: bool) -> None:
    more = excess(nothing().replace({key: (asked,)}), nothing().replace({key: (allowed,)}))
    assert more == ({} if is_covered else {key: [asked]})


def test_what_may_be_written_may_be_read_and_more_processes_are_more() -> None:
    assert excess(Permissions(read=["~/notes/a"], processes=2), Permissions(write=["~/notes"], processes=2)) == {}
    assert excess(Permissions(write=["~/notes"], processes=3), Permissions(read=["~/notes"])) == {
        "write": ["~/notes"],
        "processes": 3,
    }


def test_the_admin_replaces_single_keys_and_a_table_that_cannot_be_read_stops_the_tool(site: Path) -> None:
    (site / "permitted" / "tool.json").write_text('{"permissions": {"network": ["public"], "read": ["~/notes"]}}')
    changed = granted(TOOL, settings({"tools": {"weather": {"permissions": {"network": []}}}}))
    assert (changed.network, changed.read) == ((), ("~/notes",))
    for table in ([], {"network": "public"}, {"netwrok": []}):
        with pytest.raises(Exception, match=r"\[tools\.weather\.permissions\] in /etc/ferrule/config\.toml"):
            granted(TOOL, settings({"tools": {"weather": {"permissions": table}}}))


def test_the_home_without_what_is_hidden_in_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in ("notes", "music", ".ssh", ".config"):
        (home / folder).mkdir(parents=True)
    (tmp_path / "disk").mkdir()
    for name, target in (("keys", ".ssh"), ("all", "."), ("whole", "/"), ("disk", "../disk"), ("gone", "nowhere")):
        (home / name).symlink_to(target)
    found = resolve(home).paths(["~/*"])
    assert found == [str(tmp_path / "disk"), str(home / "nowhere"), str(home / "music"), str(home / "notes")]


def test_paths_are_absolute_and_what_settings_and_variables_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("/usr")
    here = resolve(tmp_path, {"folder": "~/a", "more": ["/srv/b", 5, ""]}, WHERE="c")
    listed = ["~", ".", "./d", "/usr", "setting:folder", "setting:more", "setting:none", "variable:WHERE", "~/link"]
    assert resolve(tmp_path, FERRULE_CONFIG="/srv/x.toml").paths(["config:lenses"]) == ["/srv/lenses"]
    moved = resolve(tmp_path, XDG_CONFIG_HOME="/srv/config", XDG_CACHE_HOME="relative")
    assert moved.paths(["~/.config/notes", "~/.cache/notes"]) == ["/srv/config/notes", f"{tmp_path}/.cache/notes"]
    assert here.paths(listed) == [
        str(tmp_path), str(tmp_path / "d"), "/usr", str(tmp_path / "a"), "/srv/b", str(tmp_path / "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "network"),
    [
        ("https://search.example/path?q=1", "search.example:443"),
        ("http://user:key@127.0.0.1:8888/", "127.0.0.1:8888"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://[::1]", "[::1]:80"),
        ("redis://cache.example:6379/0", "cache.example:6379"),
        ("loopback", "loopback"),
        ("api.example.com:443", "api.example.com:443"),
        ("everything", None),
        ("http://*.example.com:80", None),
        ("http://", None),
        ("setting:x", None),
    ],
)
def test_a_setting_names_a_network_by_a_word_or_a_url(named: str, network: str | None) -> None:
    assert network_of(named) == network


def test_networks_that_the_admin_opens_for_a_tool(tmp_path: Path) -> None:
    here = resolve(tmp_path, {"allow": ["loopback", "private"], "url": "http://10.1.2.3:81/"}, ALLOW="loopback, x")
    listed = ["public", "setting:allow", "variable:ALLOW", "setting:url", "variable:NONE"]
    assert here.networks(listed) == ["public", "loopback", "private", "10.1.2.3:81"]


def test_a_program_is_found_in_absolute_folders_of_path_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, mode in (("here", 0o700), ("bin/notes", 0o700), ("bin/plain", 0o600), ("more/notes", 0o700)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(mode)
    path = os.pathsep.join(["", ".", str(tmp_path / "bin"), "more", str(tmp_path / "more")])
    here = resolve(tmp_path, {"cli": str(tmp_path / "here")}, PATH=path, OTHER="notes")
    assert here.programs(["../bin/notes"]) == []
    both = [str(tmp_path / "bin" / "notes"), str(tmp_path / "more" / "notes")]
    assert here.programs(["notes"]) == here.programs(["variable:OTHER"]) == both
    assert here.programs(["setting:cli"]) == [str(tmp_path / "here")]


def test_a_program_that_is_missing_stands_for_itself_where_it_is_looked_for_first(tmp_path: Path) -> None:
    here = resolve(tmp_path, {"cli": "/nowhere/cli"}, PATH=os.pathsep.join([".", "/nowhere/a", "/nowhere/b"]))
    assert here.programs(["notes", "setting:cli"]) == ["/nowhere/a/notes", "/nowhere/cli"]
    assert resolve(tmp_path, {}, PATH=".").programs(["notes"]) == []


def test_what_is_protected_stays_out_of_every_folder_that_is_granted(tmp_path: Path) -> None:
    for name in ("a/keys/file", "a/other/file", "b/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    protected = [str(tmp_path / "a/keys")]
    assert without_protected([str(tmp_path / "b")], protected) == [str(tmp_path / "b")]
    assert without_protected([str(tmp_path / "a/keys/file"), str(tmp_path / "a/keys")], protected) == []
    assert without_protected([str(tmp_path)], protected) == [str(tmp_path / "a/other"), str(tmp_path / "b")]
