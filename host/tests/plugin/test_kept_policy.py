"""A policy is kept beside the answer for its tool, and never another one than would be found anew."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule.confinement.policy import Policy
from ferrule.errors import PermissionsHeld
from ferrule.plugin.admission.admitted_tool import AdmittedTool
from ferrule.trust.door import admission, kept_admission
from ferrule_testkit.admissions import SETTINGS, Site, keep_answer, make_site, settle, write

ENDPOINT = "WEATHER_ENDPOINT"
DECLARED: dict[str, Any] = {
    "network": ["public", f"variable:{ENDPOINT}", "setting:endpoint"],
    "environment": ["WEATHER_*"],
    "state": ["turns"],
    "processes": 2,
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    for name in (*kept_admission._WAYS_OUT, *kept_admission._WRAPPERS, "FERRULE_REDIS", ENDPOINT):
        monkeypatch.delenv(name, raising=False)
    made = make_site(tmp_path, monkeypatch)
    declare(made, DECLARED)
    return made


@pytest.fixture
def kept(site: Site) -> Site:
    """The same, where the policy for this environment is kept."""
    keep_answer(site)
    find_anew()
    return site


def declare(site: Site, permissions: dict[str, Any]) -> None:
    write(site.module / "tool.json", json.dumps({"permissions": permissions, "credentials": []}))


def find_anew() -> Policy:
    """The policy of a call, as it is worked out; it is kept where it may be."""
    admitted = AdmittedTool("weather")
    granted = admitted._part("grant")
    assert admitted.is_kept
    return admitted._resolve(granted)


def find_kept() -> Policy | None:
    facts = kept_admission.read("weather")
    return kept_admission.find_policy(facts, os.environ) if facts else None


def content(policy: Policy) -> dict[str, Any]:
    return {slot: getattr(policy, slot) for slot in policy.__slots__}


def link_state_elsewhere(_patch: pytest.MonkeyPatch, site: Site) -> None:
    """Move the state folder, and leave a link in its place: each file in it is as it was."""
    moved = site.state.rename(site.state.with_name("moved"))
    site.state.symlink_to(moved)


def link_own_folder(_patch: pytest.MonkeyPatch, site: Site) -> None:
    own = site.state / "tools" / "weather"
    own.rmdir()
    own.symlink_to(site.module)


SAME: dict[str, Callable[[pytest.MonkeyPatch, Site], object]] = {
    "nothing": lambda patch, site: None,
    "another home": lambda patch, site: patch.setenv("HOME", "/elsewhere"),
    "another PATH": lambda patch, site: patch.setenv("PATH", "/elsewhere"),
    "another folder": lambda patch, site: patch.chdir(site.module),
    "another value": lambda patch, site: patch.setenv("SHELL", "/bin/false"),
    "other arguments": lambda patch, site: patch.setattr(sys, "argv", ["another", "--write=/"]),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_a_kept_policy_is_the_one_that_would_be_found(
    change: Callable[[pytest.MonkeyPatch, Site], object], site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "PATH", "SHELL"):
        monkeypatch.setenv(name, os.environ.get(name, "/"))
    keep_answer(site)
    find_anew()
    change(monkeypatch, site)
    found = find_kept()
    assert found is not None
    assert content(found) == content(find_anew())


NARROWER: dict[str, Callable[[pytest.MonkeyPatch, Site], object]] = {
    "a variable more": lambda patch, site: patch.setenv("WEATHER_MORE", "1"),
    "a variable less": lambda patch, site: patch.delenv("PATH"),
    "what a network is read from": lambda patch, site: patch.setenv(ENDPOINT, "https://else.example"),
    "wrappers": lambda patch, site: patch.setenv("FERRULE_WRAPPERS", "cache"),
    "wrappers by default": lambda patch, site: patch.setenv("FERRULE_WRAPPERS_DEFAULT", "cache"),
    "a Redis": lambda patch, site: patch.setenv("FERRULE_REDIS", "redis://localhost"),
    "a relay": lambda patch, site: patch.setenv("FERRULE_HTTP_RELAY", "http://localhost:1"),
    "a proxy": lambda patch, site: patch.setenv("HTTPS_PROXY", "http://localhost:1"),
    "a proxy in small letters": lambda patch, site: patch.setenv("all_proxy", "http://localhost:1"),
    "another user": lambda patch, site: patch.setattr(os, "geteuid", lambda: os.getuid() + 1),
    "another host": lambda patch, site: patch.setattr(kept_admission, "__version__", "99.0"),
    "another path of modules": lambda patch, site: patch.setattr(sys, "path", [*sys.path, "/more"]),
    "config.toml": lambda patch, site: write(site.config, SETTINGS + 'endpoint = "https://else.example"\n'),
    "the declaration": lambda patch, site: declare(site, {"network": []}),
    "the declaration removed": lambda patch, site: (site.module / "tool.json").unlink(),
    "what was accepted": lambda patch, site: site.record("permissions").unlink(),
    "its credentials": lambda patch, site: write(site.record("credentials"), "{ }"),
    "the state folder moved": link_state_elsewhere,
    "an own folder that is a link": link_own_folder,
    "an own folder removed": lambda patch, site: (site.state / "turns").rmdir(),
}


@pytest.mark.parametrize("change", NARROWER.values(), ids=NARROWER)
def test_a_policy_does_not_count_where_anything_that_decides_has_changed(
    change: Callable[[pytest.MonkeyPatch, Site], object], site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.environ.get("PATH", "/"))
    keep_answer(site)
    find_anew()
    assert find_kept() is not None
    change(monkeypatch, site)
    assert find_kept() is None


def test_another_value_of_a_variable_that_names_a_network_is_another_policy(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_answer(site)
    networks = []
    for url in ("https://one.example", "https://two.example"):
        monkeypatch.setenv(ENDPOINT, url)
        assert find_kept() is None
        find_anew()
    for url in ("https://one.example", "https://two.example"):
        monkeypatch.setenv(ENDPOINT, url)
        found = find_kept()
        assert found is not None
        networks.append(found.network)
        assert found.environment is not None
        assert found.environment[ENDPOINT] == url
    assert networks == [("public", "one.example:443"), ("public", "two.example:443")]


def test_no_value_of_the_environment_is_kept(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_PLACE", "a value of its own")
    monkeypatch.setenv(ENDPOINT, "https://one.example/a-path-of-its-own")
    keep_answer(site)
    find_anew()
    found, text = find_kept(), site.kept().read_text()
    assert found is not None
    assert found.environment is not None
    assert found.environment["WEATHER_PLACE"] == "a value of its own"
    assert "WEATHER_PLACE" in text
    assert "of its own" not in text
    assert "of-its-own" not in text


@pytest.mark.parametrize(
    ("permissions", "environment"),
    [
        ({"read": ["/opt"]}, {}),
        ({"write": ["/opt/weather"]}, {}),
        ({"programs": ["git"]}, {}),
        ({"network": ["variable:WEATHER_TOKEN"]}, {"WEATHER_TOKEN": "https://one.example"}),
        ({"network": [f"variable:{ENDPOINT}"]}, {ENDPOINT: "https://user:word@one.example"}),
        ({"network": ["public"]}, {"HTTP_PROXY": "http://localhost:1"}),
        ({"network": ["public"]}, {"FERRULE_HTTP_RELAY": "http://localhost:1"}),
        ({}, {"FERRULE_REDIS": "redis://localhost"}),
    ],
    ids=str,
)
def test_what_the_disk_decides_and_what_may_be_secret_is_not_kept(
    permissions: dict[str, Any], environment: dict[str, str], site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(site, permissions)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    keep_answer(site)
    find_anew()
    assert kept_admission.POLICIES not in (kept_admission.read("weather") or {})


def test_a_policy_without_all_of_its_folders_is_not_kept(site: Site) -> None:
    write(site.state / "turns")  # a file in the place of the folder
    keep_answer(site)
    find_anew()
    assert find_kept() is None


def test_nothing_is_kept_beside_an_answer_that_counts_no_more(kept: Site) -> None:
    admitted = AdmittedTool("weather")
    granted = admitted._part("grant")
    before = kept.kept().read_text()
    write(kept.config, SETTINGS + "memory = 5\n")
    os.environ["WEATHER_NEW"] = "1"
    try:
        admitted._resolve(granted)
    finally:
        del os.environ["WEATHER_NEW"]
    assert kept.kept().read_text() == before


def test_too_many_environments_leave_the_latest(kept: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(kept_admission._MOST + 1):
        monkeypatch.setenv(ENDPOINT, f"https://host{number}.example")
        find_anew()
    assert find_kept() is not None
    monkeypatch.setenv(ENDPOINT, "https://host0.example")
    assert find_kept() is None
    facts = kept_admission.read("weather")
    assert facts is not None
    assert len(facts[kept_admission.POLICIES]) == kept_admission._MOST


def test_what_the_system_cannot_hold_is_refused_with_a_kept_policy_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site.config, SETTINGS + '[permissions]\nunenforced = "refuse"\n')
    monkeypatch.setattr("ferrule.trust.enforcement.unenforced", lambda **_kinds: [])
    keep_answer(site)
    find_anew()
    assert find_kept() is not None
    monkeypatch.setattr("ferrule.trust.enforcement.unenforced", lambda **_kinds: ["Paths are not held."])
    with pytest.raises(PermissionsHeld):
        find_kept()


@pytest.mark.process
def test_a_call_with_a_kept_policy_resolves_nothing(kept: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = content(find_anew())
    monkeypatch.delattr(admission.Admission, "policy")
    settle()
    assert content(AdmittedTool("weather").policy()) == expected
