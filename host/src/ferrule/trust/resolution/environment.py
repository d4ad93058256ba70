"""The variables that a tool's process gets: harmless ones, those that it declares, and those of the host's own code."""

from __future__ import annotations

from ferrule.trust.entries import may_be_secret

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ferrule.trust.declaration import Permissions

HARMLESS = (
    "HOME", "LANG", "LANGUAGE", "LC_*", "LOGNAME", "NO_COLOR", "PATH", "SHELL", "SOURCE_DATE_EPOCH", "TERM", "TMPDIR",
    "TZ", "TZDIR", "USER", "XDG_*",
)  # fmt: skip
"""What any program may know of the user and the machine."""

HOST = ("IKIGAI_AGENT_ID", "IKIGAI_CONFIG_DIR")
"""What the host's own code in that process reads beside the variables FERRULE_* that hold no secrets."""

HOST_SECRETS = ("FERRULE_REDIS", "FERRULE_SERVE_TOKEN")
"""Secrets of the host itself, which a tool sees only where it declares them."""

OF_NETWORK = ("FERRULE_HTTP_RELAY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE", "no_proxy")
"""How the network is reached, for a tool that has one."""

PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "http_proxy", "https_proxy")
"""What names a proxy, often with a password. No tool gets it: in its place, one with a network gets a relay to it."""

NEVER_GIVEN = (*HOST_SECRETS, *PROXIES)
"""What is no tool's credential, whoever accepts it."""

_INTERPRETER = ("PYTHON*", "PYTEST_*", "COVERAGE_*", "VIRTUAL_ENV")  # which the processes that it forks go by


def is_harmless(name: str) -> bool:
    """Whether this is one of the variables that every tool gets."""
    return name in HARMLESS or any(one[-1] == "*" and name.startswith(one[:-1]) for one in HARMLESS)


def environment(
    permissions: Permissions, environ: Mapping[str, str], further: Iterable[str] = (), without: Collection[str] = ()
) -> dict[str, str]:
    """The part of an environment that a tool with these permissions gets.

    Args:
        further: names of what it gets beside.
        without: names of what it does not get, even where it declares them, as it never gets the real PROXIES. No other
            value is read: what this process has decoded is in its memory, and so in that of a child that it forks.
    """
    without = {*without, *PROXIES}.difference(further)
    usual = (*HARMLESS, *HOST, *_INTERPRETER, *(OF_NETWORK if permissions.network else ()))
    declared = permissions.environment
    exact = {*usual, *further, *declared}.difference(without)
    # An asterisk stands for no secret: who needs that names it.
    usual_beginnings = ("FERRULE_", *(one[:-1] for one in usual if one[-1] == "*"))
    begun = _find_begun([one[:-1] for one in declared if one[-1] == "*"], environ) if declared else set()
    return {
        name: environ[name]
        for name in environ
        if name in exact
        or (name.startswith(usual_beginnings) and not is_host_secret(name))
        or (name in begun and name not in without and not is_host_secret(name))
    }


def _find_begun(beginnings: Collection[str], names: Iterable[str]) -> set[str]:
    """The names with one of these beginnings. What other programs go by is meant by none but a beginning of theirs.

    Only the admin names such a one.
    """
    from ferrule.trust.foreign_variables import owner_of

    own = tuple(one for one in beginnings if not owner_of(f"{one}*"))
    foreign = tuple(one for one in beginnings if owner_of(f"{one}*"))
    return {name for name in names if name.startswith(foreign) or (name.startswith(own) and not owner_of(name))}


def is_host_secret(variable: str) -> bool:
    """Whether a variable of the host's is kept from tools that do not declare it."""
    return variable in HOST_SECRETS or may_be_secret(variable)
