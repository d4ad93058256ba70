"""Where a service of papers is, and how often it may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Service(NamedTuple):
    """Where a service is, and how often it may be asked.

    Args:
        label: as people call it. endpoint: the URL that its paths are added to, without a slash at its end.
        variable: of the environment, for another endpoint. setting: the same in the tool's table of config.toml.
        credential: the name of its key among those that the tools declare; "" where it has none.
        pace: requests and seconds, which all processes of a user keep together. pace_with_key, pace_with_contact: the
            same with a key, or with an e-mail address, where that allows more.
        contact: the parameter for an e-mail address; "" where it has none.
        kinds: the identifiers that it knows, of `Identifier.kind`.
        hands_on: the hosts to which it may redirect; those of its own endpoint may be asked as well. None where no
            redirect is followed.
    """

    label: str
    endpoint: str
    variable: str
    setting: str
    pace: Sequence[tuple[int, float]] = ()
    pace_with_key: Sequence[tuple[int, float]] = ()
    pace_with_contact: Sequence[tuple[int, float]] = ()
    credential: str = ""
    contact: str = ""
    kinds: Sequence[str] = ()
    hands_on: Sequence[str] | None = None
