"""Which wrappers are installed, which of them are on, and which are broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.errors import CallInterrupted, FerruleError

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

ON, OFF, BROKEN = "on", "off", "broken"


class WrapperStatus(NamedTuple):
    """One wrapper.

    state: `on`, `off` or `broken`. is_on: whether the configuration switches it on. source: the distributions that
    offer it. error: why it is broken, None where it is not. unknown_hooks: hooks that this host does not know and never
    calls, where it was loaded.
    """

    name: str
    state: str
    is_on: bool
    source: str
    error: str | None
    unknown_hooks: tuple[str, ...] = ()

    def as_dict(self) -> JSONObject:
        """The status as JSON."""
        return {**self._asdict(), "unknown_hooks": list(self.unknown_hooks)}

    def describe(self) -> str:
        """Why it is broken, or what of it is not used."""
        unused = ", ".join(self.unknown_hooks)
        return self.error or (unused and f"This ferrule does not know its hook {unused}, and never calls it.")


def statuses(settings: Configuration, *, load: bool = False) -> list[WrapperStatus]:
    """Every wrapper that is installed or on, by name.

    load: import those that are on, each in a supervised child. Without it, only those are broken that no distribution
    offers, or more than one. Raises CallInterrupted.
    """
    claims, on = discovery.wrappers(), settings.wrappers()
    return [_examine(name, claims, is_on=name in on, load=load) for name in sorted({*claims, *on})]


def _examine(name: str, claims: dict[str, list[tuple[str, str]]], *, is_on: bool, load: bool) -> WrapperStatus:
    sources = sorted(source for _, source in claims.get(name, []))
    error: str | None = None
    unknown: tuple[str, ...] = ()
    if len(sources) > 1:
        error = f"It is claimed by {' and by '.join(sources)}, so none of them gets it."
    elif not sources:
        error = "No installed distribution offers it."
    elif load and is_on:
        error, unknown = _try_to_load(name, claims)
    state = ON if is_on else OFF
    return WrapperStatus(name, state if error is None else BROKEN, is_on, ", ".join(sources), error, unknown)


def _try_to_load(name: str, claims: dict[str, list[tuple[str, str]]]) -> tuple[str | None, tuple[str, ...]]:
    """Why it cannot be loaded, None where it can; and its hooks that are not known."""
    from ferrule.installed.supervised_work import run_supervised
    from ferrule.trust.load_policy import policy_for_code

    def load_wrapper(channel: Channel) -> None:
        from ferrule.wrappers.loader import load

        channel.result({"unknown_hooks": load(name, claims).unknown_hooks})

    try:
        found = run_supervised(load_wrapper, policy_for_code(name))
    except CallInterrupted:
        raise
    except FerruleError as error:
        return error.message.replace("The tool", "It", 1), ()
    unknown = found.get("unknown_hooks") if isinstance(found, dict) else None
    return None, tuple(map(str, unknown)) if isinstance(unknown, list) else ()
