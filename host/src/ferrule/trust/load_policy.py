"""Policies for plugin code that makes no call: it is imported, and asked what it is."""

from __future__ import annotations

import os

from ferrule.trust.declaration import Permissions, nothing
from ferrule.trust.grants import choice
from ferrule.trust.resolution.environment import environment

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement import Policy
    from ferrule.discovery import InstalledTool

_FILE_MIB = 64


def policy_for_loading(tool: InstalledTool, settings: Configuration | None = None, *, has_keys: bool = True) -> Policy:
    """For loading a tool: its own variables, and neither network, files, programs nor processes.

    settings: the configuration, which is read where it is not given. has_keys: whether the variables of its credentials
    are among them. Raises ConfigurationMalformed.
    """
    from ferrule.config import configuration
    from ferrule.trust.credentials.claims import given_variables
    from ferrule.trust.grants import granted

    settings = configuration.read() if settings is None else settings
    variables = (*granted(tool, settings).environment, *(given_variables(tool) if has_keys else ()))
    return policy_for_code(tool.name, variables=variables, settings=settings)


def policy_for_code(
    name: str,
    *,
    variables: Sequence[str] = (),
    read: Sequence[str] = (),
    write: Sequence[str] = (),
    settings: Configuration | None = None,
    environ: Mapping[str, str] | None = None,
) -> Policy:
    """For code that gets nothing but what is named here.

    Args:
        name: of what it belongs to, for messages.
    """
    from ferrule.config import configuration
    from ferrule.confinement.policy import STANDARD, Policy

    settings = configuration.read() if settings is None else settings
    permissions = Permissions(network=(), environment=variables) if variables else nothing()
    return Policy(
        tool=name,
        read=[os.path.realpath(path) for path in read],
        write=[os.path.realpath(path) for path in write],
        environment=environment(permissions, os.environ if environ is None else environ),
        file_mib=_FILE_MIB,
        isolation=choice(settings, "isolation") or STANDARD,
    )
