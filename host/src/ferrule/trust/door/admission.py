"""The one door for a tool: may it run here and now, and with what. Everything that runs or offers a tool asks here.

`admit(tool, settings)` decides nothing yet: each part of the answer is worked out when it is asked for, since who only
lists tools wants less than who calls one.
"""

from __future__ import annotations

import os

from ferrule.trust.declaration import Permissions
from ferrule.trust.policy import policy_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.text.json_types import JSONObject


class Grant:
    """What an accepted tool is given, in the words of its declaration and of the admin: nothing of it is resolved.

    Args:
        permissions: see `granted`.
        by_admin: entries of `read` and `write` that the admin has written.
        given: variables of its credentials.
        taken: variables that are credentials of others.
    """

    __slots__ = ("by_admin", "given", "permissions", "taken")

    def __init__(
        self,
        permissions: Permissions,
        by_admin: Mapping[str, Sequence[str]],
        given: Sequence[str],
        taken: Sequence[str],
    ) -> None:
        self.permissions = permissions
        self.by_admin = by_admin
        self.given = given
        self.taken = taken

    def as_dict(self) -> JSONObject:
        """The arguments of `from_dict`, as JSON."""
        by_admin = {key: list(entries) for key, entries in self.by_admin.items()}
        permissions = self.permissions.as_dict()
        return {"permissions": permissions, "by_admin": by_admin, "given": list(self.given), "taken": list(self.taken)}

    @classmethod
    def from_dict(cls, facts: JSONObject) -> Grant:
        """The same again."""
        return cls(Permissions(**facts["permissions"]), facts["by_admin"], facts["given"], facts["taken"])


class Admission:
    """The answer for one tool and one configuration. grant: where it is known already, so that the tool is accepted."""

    def __init__(self, tool: InstalledTool, settings: Configuration, grant: Grant | None = None) -> None:
        self.tool = tool
        self.settings = settings
        self._grant = grant

    @property
    def is_new_version(self) -> bool:
        """Whether another version of the tool was accepted than the one that is installed."""
        from ferrule.trust import accepted_version

        return accepted_version.is_of_another_version(self.tool)

    def find_lock_refusal(self) -> FerruleError | None:
        """Why ferrule.lock keeps the tool out: ToolDiffers or LockUnusable; None where it does not."""
        if not self.settings.is_locked:
            return None
        from ferrule.trust.lock import gate

        return gate.refusal(self.tool, self.settings)

    def find_schema_refusal(self, schema: JSONObject) -> FerruleError | None:
        """The same for a schema that the tool has computed."""
        if not self.settings.is_locked:
            return None
        from ferrule.trust.lock import gate

        return gate.schema_refusal(self.tool, schema, self.settings)

    def find_held(self) -> FerruleError | None:
        """Why the tool is held: PermissionsHeld, or ConfigurationMalformed; None where it may run."""
        from ferrule.errors import ConfigurationMalformed
        from ferrule.trust import grants, records

        try:
            grants.require_readable(self.tool.name, self.settings)
            return records.find_held(self.tool, self.settings)
        except ConfigurationMalformed as error:
            return error

    def accept(self) -> Grant:
        """What the tool is given. What it asks for is recorded where nothing is.

        Raises PermissionsHeld where it asks for more than was accepted, ConfigurationMalformed where the admin's tables
        cannot be read, and ToolUnavailable where its name is none.
        """
        if self._grant is None:
            self._grant = _accept(self.tool, self.settings)
        return self._grant

    def policy(self, environ: Mapping[str, str] | None = None) -> Policy:
        """The policy of one call. environ: the caller's environment, `os.environ` by default.

        Raises as `accept`, PermissionsHeld also where this system cannot hold the tool and the admin refuses that, and
        ProxyUnusable where the environment names a proxy to which there is no relay.
        """
        grant = self.accept()
        environ = os.environ if environ is None else environ
        policy = policy_of(
            self.tool.name, grant.permissions, self.settings, environ, grant.taken, grant.by_admin, grant.given
        )
        command = self.tool.grant_command
        return policy.replaced(granted_by=command) if command else policy


def admit(tool: InstalledTool, settings: Configuration) -> Admission:
    """The answer for an installed tool: ask it for `find_lock_refusal`, `find_held`, `accept` or `policy`."""
    return Admission(tool, settings)


def find(name: str, settings: Configuration) -> InstalledTool:
    """The one tool that has this name and may run.

    Raises ToolUnknown, ToolNameClash, ToolDisabled, and ToolDiffers or LockUnusable where tools are locked.
    """
    from ferrule import discovery

    tool = discovery.find(name, settings)
    refusal = admit(tool, settings).find_lock_refusal()
    if refusal:
        raise refusal
    return tool


def policy_for(tool: InstalledTool, settings: Configuration, environ: Mapping[str, str] | None = None) -> Policy:
    """See `Admission.policy`."""
    return admit(tool, settings).policy(environ)


def _accept(tool: InstalledTool, settings: Configuration) -> Grant:
    from ferrule.text.names import is_tool_name
    from ferrule.trust import records
    from ferrule.trust.credentials.claims import given_variables, variables_of_others
    from ferrule.trust.grants import entries_of_admin, granted

    if not is_tool_name(tool.name):
        from ferrule.errors import no_tool_name

        raise no_tool_name(tool.name, tool.source)
    records.require_accepted(tool, settings)
    permissions = granted(tool, settings)
    taken = sorted(variables_of_others(tool)) if permissions.environment else ()
    return Grant(permissions, entries_of_admin(tool.name, settings), given_variables(tool), taken)
