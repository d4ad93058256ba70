"""What no server is granted by `--yes` alone: where keys are, and what can do anything that the user can."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule_mcp.installation.rights import Right

_KEYS, _BROWSER, _CONTROL, _START, _OTHERS = (
    "it has keys and passwords",
    "it has what a browser keeps, such as logins",
    "who can use it has all rights of its owner",
    "what stands there is run when the user logs in or works",
    "it is of other processes",
)
_OF_HOME = {
    _KEYS: (
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/op",
        ".config/ferrule", ".local/share/ferrule", ".local/state/ferrule", ".local/share/keyrings", ".password-store",
        ".netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".vault-token", ".terraform.d",
        ".cargo/credentials.toml", ".config/git/credentials", ".config/rclone", ".config/keepassxc",
        ".config/1Password", ".config/Bitwarden", ".local/share/kwalletd", ".bash_history", ".zsh_history",
        ".python_history", ".claude", ".codex", ".gemini", ".cursor", "Library/Keychains",
    ),
    _BROWSER: (
        ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
        ".config/microsoft-edge", ".config/opera", ".config/vivaldi", "snap/firefox", "snap/chromium",
        ".var/app", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
    ),
    _START: (
        ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".config/fish",
        ".config/autostart", ".config/systemd", ".local/bin", ".gitconfig", ".config/git/config", ".pam_environment",
    ),
}  # fmt: skip
_OF_SYSTEM = {
    _KEYS: (
        "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private",
        "/etc/kubernetes", "/var/run/secrets", "/run/secrets", "/var/lib/sss",
    ),
    _CONTROL: (
        "/var/run/docker.sock", "/run/docker.sock", "/run/containerd", "/run/podman", "/run/user", "/run/dbus",
        "/run/systemd", "/dev/mem", "/dev/kmem", "/dev/kvm",
    ),
    _START: ("/etc/cron.d", "/etc/crontab", "/var/spool/cron", "/etc/profile", "/etc/profile.d", "/etc/systemd"),
}  # fmt: skip
_OF_WRITING = (_START,)  # reading these gives nothing away
_PROCESS = re.compile(r"/proc/(?:[^/]*\d[^/]*|self|thread-self|\*)(?:/|$)")
_ANY_NETWORK = {
    "public": "it is every host",
    "private": "it is every host of the local network",
    "loopback": "it is every service of this machine",
}
_METADATA = ("169.254.169.254", "metadata.google.internal", "fd00:ec2::254", "100.100.100.200")
_PROGRAMS = re.compile(
    r"(?:ba|da|z|fi|k|mk|c|tc|a|pw)?sh|busybox|toybox|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|"
    r"ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh[\d.]*|[gmn]?awk|env|xargs|find|nohup|setsid|script|expect|"
    r"sudo|su|doas|pkexec|ssh|docker|podman|nsenter|systemctl|systemd-run|at|crontab|osascript|gdb|make|"
    r"npm|npx|pnpm|yarn|bunx|uv|uvx|pip[\d.]*|pipx|vim?|emacs|ed|tmux|screen"
)


def find_reason(right: Right) -> str:
    """Why a right is granted by name alone; empty for one that `--yes` grants."""
    if right.key == "network":
        return _judge_network(right.entry)
    if right.key == "programs":
        is_any = _PROGRAMS.fullmatch(os.path.basename(right.entry)) or "*" in right.entry
        return "it runs any command" if is_any else ""
    if right.key in ("read", "write"):
        return _judge_path(right.entry, is_written=right.key == "write")
    return ""


def _judge_network(entry: str) -> str:
    host = entry.rpartition(":")[0].strip("[]").lower() or entry
    if "*" in entry:
        return "it is more than one host"
    if host in _METADATA:
        return "it hands out keys of this machine"
    return _ANY_NETWORK.get(entry, "")


def _judge_path(entry: str, *, is_written: bool) -> str:
    """Why a file or folder is reserved: it is one of these, is in one, or has one in it."""
    path = os.path.normpath(os.path.expanduser(entry))
    both = dict.fromkeys((path, os.path.realpath(path)))
    if any(_PROCESS.match(one) for one in both) or path == "/proc":
        return _OTHERS
    for reason, places in _list_places():
        if reason in _OF_WRITING and not is_written:
            continue
        if any(_overlap(one, place) for one in both for place in dict.fromkeys((places, os.path.realpath(places)))):
            return reason
    return ""


def _list_places() -> Iterator[tuple[str, str]]:
    for reason, names in _OF_HOME.items():
        yield from ((reason, os.path.join(os.path.expanduser("~"), name)) for name in names)
    for reason, paths in _OF_SYSTEM.items():
        yield from ((reason, path) for path in paths)


def _overlap(path: str, place: str) -> bool:
    one, other = PurePath(path), PurePath(place)
    return one.is_relative_to(other) or other.is_relative_to(one)
