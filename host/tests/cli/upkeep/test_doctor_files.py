"""`ferrule doctor` on files that ferrule goes by: metadata, the state folder, what other users may change."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


def told(machine: Machine) -> dict[tuple[str, str], str]:
    """The messages, by their ids and subjects."""
    done = machine.ferrule("doctor", "--json")
    assert "findings" in done.document, done.out + done.err
    found = done.document["findings"]
    return {(one["id"], one["subject"]): f"{one['severity']}: {one['message']} {one.get('fix')}" for one in found}


def metadata_of(machine: Machine, name: str) -> Path:
    return next(machine.site.glob(f"dist_{name}-*.dist-info"))


def configure(machine: Machine, text: str) -> Path:
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_metadata_that_cannot_be_read_is_told_with_its_distribution(machine: Machine) -> None:
    broken = {
        "alpha": ("METADATA", None, "is missing"),
        "beta": ("METADATA", b"\xff\xfe\x00 nothing", "says no name"),
        "gamma": ("entry_points.txt", b"\xff\xfe[ferrule.tools]\ngamma = module_gamma", "is not UTF-8"),
        "delta": ("entry_points.txt", b"[ferrule.tools]\ndelta module_delta\n", "cannot be read in line 2"),
        "epsilon": ("entry_points.txt", None, "is no file"),
    }
    machine.install("well", properties={})
    expected = {}
    for name, (file, content, why) in broken.items():
        machine.install(name, properties={})
        path = metadata_of(machine, name) / file
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        elif file == "entry_points.txt":
            path.mkdir()
        expected["metadata-broken", str(path)] = why
    found = told(machine)
    assert {key: text for key, text in found.items() if key[0] == "metadata-broken"}.keys() == expected.keys()
    for key, why in expected.items():
        severity = "warning" if key[1].endswith("METADATA") else "error"
        assert found[key].startswith(f"{severity}: It {why}, so ")
        assert f"Install dist-{Path(key[1]).parent.name[5:].partition('-')[0]} again." in found[key]


@pytest.mark.slow
def test_what_other_users_may_change_is_told(machine: Machine) -> None:
    machine.install("alpha", properties={})
    config = configure(machine, "")
    machine.ferrule("link", "alpha")
    machine.ferrule("lock")
    lock = config.with_name("ferrule.lock")
    link = machine.tools / "alpha-tool"
    assert not [key for key in told(machine) if key[0].endswith("-unsafe")]
    for path in (config, lock, link):
        path.chmod(path.stat().st_mode | 0o002)
    found = told(machine)
    for key in (("configuration-unsafe", config), ("configuration-unsafe", lock), ("link-unsafe", link)):
        assert f"chmod o-w {key[1]}" in found[key[0], str(key[1])]
    machine.tools.chmod(0o777)
    assert f"chmod o-w {machine.tools}" in told(machine)["folder-unsafe", str(machine.tools)]


@pytest.mark.slow
def test_an_edited_link_is_told_and_linked_anew(machine: Machine) -> None:
    machine.install("alpha", properties={"note": {"type": "string", "description": "The caller's"}})
    machine.install("beta", properties={})
    machine.ferrule("link", "beta", "--as", "gamma")
    machine.ferrule("link", "alpha")
    link = machine.tools / "alpha-tool"
    assert not [key for key in told(machine) if key[0].startswith("link-")]
    link.write_text(link.read_text().replace("Does something.", "Does something else.", 1))
    assert "`ferrule link` writes it" in told(machine)["link-edited", str(link)]
    machine.ferrule("link", "alpha")
    assert not [key for key in told(machine) if key[0].startswith("link-")]


def test_a_state_folder_that_is_a_file_and_a_journal_that_cannot_be_made_are_told(machine: Machine) -> None:
    machine.install("alpha", properties={})
    config = configure(machine, '[journal]\nenabled = true\npath = "/proc/nothing/calls.jsonl"\n')
    state = machine.home / ".local" / "state" / "ferrule"
    shutil.rmtree(state, ignore_errors=True)
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text("")
    found = told(machine)
    assert found["state-folder-unusable", str(state)].startswith("error: It is no folder")
    assert "cannot be written" in found["journal-unwritable", "/proc/nothing/calls.jsonl"]
    assert config.exists()


def test_values_that_mean_nothing_are_told(machine: Machine) -> None:
    path = machine.install("alpha", properties={})
    declared = {"permissions": {"network": ["public", "setting:allow"]}, "settings": {}}
    path.with_suffix(".tool.json").write_text(json.dumps({"permissions": declared["permissions"]}))
    configure(machine, '[tools.alpha]\nmemory = 1\nallow = ["looopback", "api.example.com:443"]\n')
    config = machine.home / ".config" / "ferrule" / "config.toml"
    done = machine.ferrule("doctor", "--json")
    assert "findings" in done.document, done.out + done.err
    found = done.document["findings"]
    messages = [one["message"] for one in found if one["subject"] == str(config)]
    assert any("`memory` in [tools.alpha] is less than any call needs" in one for one in messages)
    assert any("has 'looopback', which names no network" in one for one in messages)
    assert not any("api.example.com" in one for one in messages)
