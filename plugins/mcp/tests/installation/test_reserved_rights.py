"""What `--yes` does not grant, however much a server wants it."""

from pathlib import Path

import pytest

from ferrule_mcp.commands.decisions import make_decide
from ferrule_mcp.installation.reserved_rights import find_reason
from ferrule_mcp.installation.rights import Right


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    return found


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("read", "~/.ssh"),
        ("read", "~/.ssh/id_ed25519"),
        ("read", "~/.gnupg/private-keys-v1.d"),
        ("read", "~/.aws/credentials"),
        ("read", "~/.mozilla/firefox/x.default/cookies.sqlite"),
        ("read", "~/.config/google-chrome/Default/Login Data"),
        ("read", "~/.config/ferrule/credentials"),
        ("read", "~/.local/share/keyrings/login.keyring"),
        ("read", "~"),  # all of these are in it
        ("read", "~/.config"),
        ("read", "/"),
        ("write", "/etc"),
        ("read", "/etc/shadow"),
        ("write", "/var/run/docker.sock"),
        ("read", "/run/user/1000/keyring/control"),
        ("read", "/proc/1/environ"),
        ("read", "/proc/*/environ"),
        ("read", "/proc/self/mem"),
        ("read", "/home/../etc/shadow"),
        ("write", "~/.bashrc"),
        ("write", "~/.config/autostart/x.desktop"),
        ("network", "*"),
        ("network", "*:443"),
        ("network", "*.example.com:443"),
        ("network", "public"),
        ("network", "private"),
        ("network", "loopback"),
        ("network", "169.254.169.254:80"),
        ("programs", "/bin/sh"),
        ("programs", "/usr/bin/bash"),
        ("programs", "/usr/bin/python3.12"),
        ("programs", "/usr/bin/env"),
        ("programs", "/usr/bin/sudo"),
        ("programs", "docker"),
    ],
)
def test_what_gives_all_away_is_granted_by_name_alone(key: str, entry: str, home: Path) -> None:
    right = Right(key, entry.replace("~", str(home)))
    assert find_reason(right)


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("read", "~/notes"),
        ("read", "~/.sshfs-notes"),
        ("read", "~/.config/notes/settings.json"),
        ("read", "~/.bashrc"),
        ("write", "/srv/data"),
        ("read", "/etc/hostname"),
        ("read", "/proc/cpuinfo"),
        ("write", "/dev/shm"),
        ("network", "api.example.com:443"),
        ("programs", "/usr/bin/git"),
        ("programs", "/usr/bin/pandoc"),
    ],
)
def test_what_gives_no_more_than_it_says_is_granted_by_yes(key: str, entry: str, home: Path) -> None:
    assert find_reason(Right(key, entry.replace("~", str(home)))) == ""


def test_a_link_to_a_reserved_place_is_one(home: Path) -> None:
    (home / ".ssh").mkdir()
    (home / "innocent").symlink_to(home / ".ssh")
    assert find_reason(Right("read", str(home / "innocent")))
    (home / "real").mkdir()
    (home / ".aws").symlink_to(home / "real")
    assert find_reason(Right("read", str(home / "real" / "credentials")))


def test_yes_says_in_a_line_what_it_leaves_out_and_how_it_is_granted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = make_decide("talk", grants_all=True)
    key, notes = Right("read", str(home / ".ssh/id_rsa")), Right("read", str(home / "notes"))
    assert decide([key, notes], "") == [notes]
    assert decide([key], "") == []
    said = capsys.readouterr().err
    assert f"--allow read={home}/.ssh/id_rsa does." in " ".join(said.split())
    assert said.count("may not read") == 1
    assert "may read" in said
