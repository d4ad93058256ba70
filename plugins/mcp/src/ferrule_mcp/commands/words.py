"""What the words after the name of a new server mean: a URL, a bundle, the entry of a registry, or a command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule_mcp.installation.request import Request, with_own_credentials
from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.plan import Launch, LaunchRefused, Remote
from ferrule_mcp.launch.secret_values import extract_remote_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BUNDLES = (".mcpb", ".dxt")


def read_words(
    name: str, words: Sequence[str], folder: str, answers: Mapping[str, str], registries: Sequence[str] = ()
) -> Request:
    """The request for a server.

    Args:
        name: its name in ferrule.
        words: a URL, a file, or a command with its arguments.
        folder: what paths are relative to; empty for the one that the admin is in.
        answers: to the questions of a bundle or of a registry's entry, by their names.
        registries: that such an entry may name for its packages.

    Raises LaunchRefused for what cannot become a server.
    """
    place = Path(folder or os.getcwd())
    first = words[0]
    is_entry = len(words) == 1 and first.endswith(".json")
    if registries and not is_entry:
        raise LaunchRefused("--registry is for the packages of a server.json.", hint="Leave it out.")
    if len(words) == 1 and first.startswith(("http://", "https://")):
        return make_request(name, extract_remote_secrets(Remote("http", first)))
    if len(words) == 1 and first.endswith(_BUNDLES):
        return _read_bundle(name, place / first, answers)
    if is_entry:
        from ferrule_mcp.launch.registry import read_entry

        entry = read_entry(place / first, registries)
        return make_request(name, entry.choices[0].plan(answers))
    if answers:
        raise LaunchRefused("--set answers what a bundle or a server.json asks for.", hint="Leave it out.")
    return make_request(name, parse_command(words, place))


def make_request(name: str, plan: Launch | Remote) -> Request:
    """The request for a server that was planned."""
    if isinstance(plan, Remote):
        return with_own_credentials(Request(name, url=plan.url, headers=plan.headers), plan.secrets)
    return with_own_credentials(Request(name, source=plan), plan.secrets)


def _read_bundle(name: str, path: Path, answers: Mapping[str, str]) -> Request:
    from ferrule_mcp.launch.bundles import read_bundle

    filled = read_bundle(path).fill(answers)
    secrets = {setting.name for setting in filled.bundle.settings if setting.is_secret}
    kept = {key: value for key, value in answers.items() if key not in secrets}
    request = Request(name, source=filled, origin={"bundle": str(path.resolve()), "answers": kept})
    return with_own_credentials(request, filled.filled.secrets.values())
