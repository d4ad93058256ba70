"""What stands in a link, whichever form it is written in."""

from __future__ import annotations

from typing import NamedTuple


class LinkContent(NamedTuple):
    """The values of one link.

    facts: what it says of itself, as JSON. tool: by its own name. name: that of the link. watched: paths whose change
    makes the schema doubtful. folders: in which distributions are. config, off, lock, differing, clash: config.toml,
    ferrule.lock and their marks, see `Availability`. installation: by which a keeper is found. schema: as it is
    printed. gone, gone_text: what answers where Python is gone, on stdout and stderr. options, code, orders: for
    Python.
    """

    facts: str
    tool: str
    name: str
    python: str
    watched: tuple[str, ...]
    folders: tuple[str, ...]
    config: str
    off: str
    lock: str
    differing: str
    clash: str
    installation: str
    schema: str
    gone: str
    gone_text: str
    options: tuple[str, ...]
    code: str
    orders: str
