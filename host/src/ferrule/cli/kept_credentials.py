"""Public through `ferrule.cli`: what a command of a distribution writes into the credentials file, such as a login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.config.configuration import credentials_path
from ferrule.trust.credentials import credentials_writer

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


def store_credential(key: str, value: str | JSONObject) -> None:
    """Set a dotted key of the credentials file, and keep all else in it. Its mode is 0600.

    value: a text, or a token of OAuth, which the host renews. Raises CredentialsMalformed where the file that is there
    cannot be read, or a part of the key is taken by something that is no object; FerruleError where it is locked.
    """
    credentials_writer.store(credentials_path(), key, value)


def remove_credential(key: str) -> bool:
    """Take a dotted key out of the credentials file; False where it was not there. Raises as `store_credential`."""
    return credentials_writer.remove(credentials_path(), key)
