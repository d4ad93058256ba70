"""How a store fails."""

from __future__ import annotations


class StorageError(Exception):
    """A store cannot be used now. The message says which store and why; it holds no path, password or stored value.

    reason: the same without the name of the store.
    """

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = message if reason is None else reason


def unusable(name: str, error: OSError) -> StorageError:
    """The error of a folder that cannot be used: its name, and what the system says without the path."""
    reason = error.strerror or type(error).__name__
    return StorageError(f"{name} cannot be used: {reason}", reason)
