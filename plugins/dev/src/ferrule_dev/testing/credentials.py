"""Values of credentials for a test: no key of the machine reaches it, but where exchanges are recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.config import CredentialsFile, credentials_path
from ferrule_dev.testing.tool import declared_credentials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrule import Credential


def no_key_of(credential: Credential) -> str:
    """A value that can be sent, and is nobody's key."""
    return f"no-key-of-anybody-{credential.name}"


def choose_values(tool: str, values: Mapping[str, str]) -> list[tuple[Credential, str]]:
    """Each credential that a tool declares, with the given value or one that is nobody's.

    values: by the credentials' names. Raises AssertionError for a name that the tool does not declare.
    """
    declared = declared_credentials(tool)
    names = [one.name for one in declared]
    if unknown := sorted(set(values) - set(names)):
        raise AssertionError(
            f"{tool} declares no credential {', '.join(unknown)}; its credentials are: {', '.join(names) or 'none'}"
        )
    return [(one, values.get(one.name, no_key_of(one))) for one in declared]


def values_for_test(
    declared: Iterable[Credential], original: Mapping[str, str], is_recording: bool | None
) -> dict[str, str | None]:
    """The variables to set for a test, None for those to unset. What the test itself has set stays.

    original: the user's own environment. is_recording: None where the test has no recorded exchanges. A recording gets
    the user's keys, from the environment or the credentials file; a replay gets values that are nobody's.
    """
    chosen: dict[str, str | None] = {}
    file = CredentialsFile(credentials_path(original)) if is_recording else None
    for one in declared:
        if os.environ.get(one.environment) != original.get(one.environment):
            continue
        if is_recording:
            found = next(one.values(original, file), None)
            chosen[one.environment] = found.value if found else None
        else:
            chosen[one.environment] = None if is_recording is None else no_key_of(one)
    return chosen
