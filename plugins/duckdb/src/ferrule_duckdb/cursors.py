"""Cursors of a registered connection have the functions, too.

A cursor is a connection of its own, and the macros belong to a connection. DuckDB tells nobody of a new cursor, so
there is a method around the class's own `cursor` and `duplicate`, which calls it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MARK = "ferrule_duckdb_original"


class Parent(Protocol):
    """What is told of new cursors."""

    def on_cursor(self, connection: DuckDBPyConnection, cursor: DuckDBPyConnection) -> None:
        """The connection has a new cursor."""


_parents: weakref.WeakSet[Parent] = weakref.WeakSet()


def follow(parent: Parent, connection: DuckDBPyConnection) -> None:
    """Tell the parent of each new cursor of a connection of this class, for as long as the parent lives."""
    _parents.add(parent)
    kind = type(connection)
    for name in ("cursor", "duplicate"):
        if not hasattr(getattr(kind, name), _MARK):
            _wrap(kind, name)


def bare_cursor(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    """A cursor without the functions."""
    method = type(connection).cursor
    cursor: DuckDBPyConnection = getattr(method, _MARK, method)(connection)
    return cursor


def _wrap(kind: type[DuckDBPyConnection], name: str) -> None:
    original = getattr(kind, name)

    def cursor(self: DuckDBPyConnection) -> DuckDBPyConnection:
        """Create a duplicate of the connection, with the functions of ferrule_duckdb where this one has them."""
        made: DuckDBPyConnection = original(self)
        for one in list(_parents):
            one.on_cursor(self, made)
        return made

    cursor.__name__ = name
    setattr(cursor, _MARK, original)
    setattr(kind, name, cursor)
