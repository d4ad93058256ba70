"""Options that several subcommands have, and what their values mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import click

from ferrule_mcp.installation.rights import Right, parse_right
from ferrule_mcp.launch.secret_values import credential_name, may_hold_secret

_NAMED = re.compile(r"\{([a-z][a-z0-9_]*)\}")
seconds_option = click.option(
    "--seconds", type=click.FloatRange(1, 3600), default=120.0, show_default=True, metavar="N",
    help="How long its first start may take.",
)  # fmt: skip
allow_option = click.option(
    "--allow", "allowed", multiple=True, metavar="KIND=ENTRY",
    help="Grant it a permission: network=HOST:PORT, read=PATH, write=PATH, programs=NAME, environment=NAME.",
)  # fmt: skip
yes_option = click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Grant what its start wants, without a question; not keys, shells and the like, which --allow names.",
)
keep_option = click.option(
    "--keep/--no-keep", "keep", default=None,
    help="Let it go on between calls, see `ferrule mcp keep`; by default where its tools seem to need that.",
)  # fmt: skip
registry_option = click.option(
    "--registry",
    "registries",
    multiple=True,
    metavar="URL",
    help="Say that packages in the registry at URL, which a server.json names, are those that are fetched here.",
)
scripts_option = click.option(
    "--allow-scripts", "scripts", multiple=True, metavar="PACKAGE", help="Let the install scripts of PACKAGE run."
)


def read_rights(texts: Iterable[str]) -> list[Right]:
    """The values of `--allow`. Raises click.BadParameter."""
    try:
        return [parse_right(one) for one in texts]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--allow'") from None


def read_pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` by name. Raises click.BadParameter."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=repr(option))
        pairs[name] = value
    return pairs


def part_secrets(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Variables or headers, and the values of those that are secrets, in whose place `{NAME}` stands then.

    A text that has `{NAME}` itself names a credential that is set later.
    """
    plain, values = {}, {}
    for name, text in texts.items():
        if may_hold_secret(name, text) and not _NAMED.search(text):
            values[credential_name(name)] = text
            plain[name] = "{" + credential_name(name) + "}"
        else:
            values.update(dict.fromkeys(_NAMED.findall(text), ""))
            plain[name] = text
    return plain, values


def join_credentials(*found: Mapping[str, str]) -> dict[str, str]:
    """All of them by name; one that is only named, and has no value yet, takes no value from another."""
    joined: dict[str, str] = {}
    for values in found:
        joined.update({name: value or joined.get(name, "") for name, value in values.items()})
    return joined
