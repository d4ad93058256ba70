"""Which wrappers are installed, which of them are on, and which cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule import discovery
from ferrule.errors import CallInterrupted, FerruleError

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.supervision.channel import Channel

ON, OFF, BROKEN = "on", "off", "broken"


class WrapperStatus:
    """One wrapper. state: `on`, `off` or `broken`. source: who offers it. is_on: whether it is meant to be on.

    error: why it is broken, None where it is not.
    """

    def __init__(self, name: str, claims: list[tuple[str, str]], *, is_on: bool) -> None:
        self.name = name
        self.is_on = is_on
        self.state = ON if is_on else OFF
        self.source = ", ".join(sorted(source for _, source in claims))
        self.error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The status as JSON."""
        return {name: getattr(self, name) for name in ("name", "state", "is_on", "source", "error")}

    def fail(self, error: str) -> None:
        """It cannot be had."""
        self.state, self.error = BROKEN, error


def statuses(settings: Configuration, *, load: bool = False) -> list[WrapperStatus]:
    """Every wrapper that is installed or on, by name.

    load: import those that are on, each in a supervised child. Without it, broken are those that are on and that
    nobody, or more than one distribution, offers. Raises CallInterrupted.
    """
    claims, on = discovery.wrappers(), settings.wrappers()
    found = []
    for name in sorted({*claims, *on}):
        status = WrapperStatus(name, claims.get(name, []), is_on=name in on)
        _examine(status, claims, load=load)
        found.append(status)
    return found


def _examine(status: WrapperStatus, claims: dict[str, list[tuple[str, str]]], *, load: bool) -> None:
    offers = claims.get(status.name, [])
    if len(offers) > 1:
        status.fail(f"It is claimed by {' and by '.join(status.source.split(', '))}, so none of them gets it.")
    elif not offers:
        status.fail("No installed distribution offers it.")
    elif load and status.is_on:
        _load(status, claims)


def _load(status: WrapperStatus, claims: dict[str, list[tuple[str, str]]]) -> None:
    from ferrule.admin.inventory import supervised

    def ask(channel: Channel) -> None:
        from ferrule.wrappers.guard import load

        load(status.name, claims)
        channel.result({})

    try:
        supervised(ask)
    except CallInterrupted:
        raise
    except FerruleError as error:
        status.fail(error.message.replace("The tool", "It", 1))
