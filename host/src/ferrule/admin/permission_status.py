"""What each tool may touch, for the admin: as it declares it, as it is granted, and what of it this system holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ConfigurationMalformed
from ferrule.plugin import declared_credentials
from ferrule.plugin.declaration import MalformedDeclaration, read_declaration
from ferrule.trust import coverage, declaration, description, enforcement, grants, records
from ferrule.trust.credentials import claims as credential_claims
from ferrule.trust.credentials import declared_keys
from ferrule.trust.foreign_variables import owner_of
from ferrule.trust.places import places
from ferrule.trust.resolution import resolver as resolution

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.credentials.claims import Claim
    from ferrule.trust.declaration import Permissions

AS_DECLARED, WIDENED, NARROWED, HELD, MALFORMED = "as declared", "widened", "narrowed", "held", "malformed"


class PermissionStatus(NamedTuple):
    """What one tool may touch.

    state: `as declared`; `widened` or `narrowed` by the admin, the first where it is both; `held`, since it asks for
    more than was accepted; or `malformed`, where the admin's table cannot be read. declared, granted: permissions.
    widened: what is granted beyond the declaration, narrowed: what is declared beyond the grant. isolation: how the
    tool is held. unenforced: what this system does not hold, a sentence for each. problem: why a call is refused.
    credentials: that it may be told; None where its hook has not been asked yet. claims: those among them that are
    another's, and wait for the admin.
    unrecorded: why an update of it will not be held; None where it will.
    places: what `.`, settings and variables stand for here and now, and what of it is not granted. reusable: that one
    process of it takes several calls of `ferrule serve`.
    """

    tool: str
    source: str
    state: str
    declared: Permissions
    granted: Permissions
    widened: JSONObject
    narrowed: JSONObject
    isolation: str
    unenforced: list[str]
    problem: FerruleError | None = None
    credentials: Sequence[Credential] | None = None
    claims: Sequence[Claim] = ()
    unrecorded: str | None = None
    places: Sequence[str] = ()
    reusable: bool = False

    def words(self) -> list[str]:
        """What the tool may, in a person's words, and which credentials it is told."""
        reused = ["takes several served calls in one process"] if self.reusable else []
        return [*description.describe(self.granted), *description.told(self._given()), *reused]

    def not_told(self) -> list[str]:
        """Which of its credentials it is not told, in sentences with the command that changes it."""
        claims = [f"{one.describe()} `ferrule credentials accept {self.tool}` gives it." for one in self.claims]
        foreign = [name for name in self.narrowed.get("environment", ()) if owner_of(name)]
        variables = [
            f"{name} is another program's. `ferrule permissions grant {self.tool} --variable '{name}'` shows it."
            for name in foreign
        ]
        unknown = ["What it needs is not known before it is loaded."] if self.credentials is None else []
        return [*claims, *variables, *unknown]

    def _told(self) -> list[JSONObject]:
        names = "name", "environment", "path"
        return [{name: getattr(one, name) for name in names} for one in self.credentials or ()]

    def _given(self) -> list[JSONObject]:
        """What it is told, without the variables and keys that are another's."""
        claimed = {(claim.credential, claim.key) for claim in self.claims}
        places = "environment", "path"
        kept = [{**one, **{key: "" for key in places if (one["name"], one[key]) in claimed}} for one in self._told()]
        return [one for one in kept if one["environment"] or one["path"]]

    def as_dict(self) -> JSONObject:
        """The status as JSON."""
        return {
            "tool": self.tool,
            "distribution": self.source,
            "state": self.state,
            "declared": self.declared.as_dict(),
            "granted": self.granted.as_dict(),
            "words": self.words(),
            "widened": self.widened,
            "narrowed": self.narrowed,
            "credentials": None if self.credentials is None else self._told(),
            "claims": [claim.as_dict() for claim in self.claims],
            "isolation": self.isolation,
            "unenforced": self.unenforced,
            "unrecorded": self.unrecorded,
            "places": list(self.places),
            "reusable": self.reusable,
            "error": self.problem.facts() if self.problem else None,
        }


def status(tool: InstalledTool, settings: Configuration) -> PermissionStatus:
    """What one tool may touch here and now. Nothing of the plugin is imported."""
    asked = declaration.declared(tool)
    problem: FerruleError | None
    try:
        given = grants.granted(tool, settings)
        network = resolution.Resolution(settings.tool(tool.name), os.environ).networks(given.network)
        missing = enforcement.unenforced(has_network=bool(network))
        mode = grants.isolation(settings, network)
        problem = records.find_held(tool, settings)
        here = places(tool, settings)
    except ConfigurationMalformed as error:
        given, mode, missing, problem, here = declaration.nothing(), grants.STRICT, [], error, []
    widened, narrowed = coverage.excess(given, asked), coverage.excess(asked, given)
    state = WIDENED if widened else NARROWED if narrowed else AS_DECLARED
    if problem:
        state = MALFORMED if isinstance(problem, ConfigurationMalformed) else HELD
    credentials = _credentials(tool)
    claims = [one for one in credential_claims.find_claims(tool, credentials or ()) if not one.is_accepted]
    return PermissionStatus(
        tool.name,
        tool.source,
        state,
        asked,
        given,
        widened,
        narrowed,
        mode,
        missing,
        problem,
        credentials,
        claims,
        _unrecorded(tool, settings),
        here,
        _is_reusable(tool, settings),
    )


def _is_reusable(tool: InstalledTool, settings: Configuration) -> bool:
    """Whether it says so, and the admin does not say otherwise."""
    try:
        said = read_declaration(tool.value).reusable is True
        return said and settings.tool(tool.name).get("reusable") is not False
    except (MalformedDeclaration, ConfigurationMalformed):
        return False


def _unrecorded(tool: InstalledTool, settings: Configuration) -> str | None:
    """See `records`, for a tool that is looked at and not called: nothing is recorded by that."""
    return records.find_unrecorded(tool, settings, is_called=False)


def _credentials(tool: InstalledTool) -> Sequence[Credential] | None:
    """None where they are not known and there may be some."""
    found = declared_credentials.find_declared(tool)
    return [] if found is None and not declared_keys.has_open_hook(tool) else found


def statuses(tools: Iterable[InstalledTool], settings: Configuration) -> list[PermissionStatus]:
    """What each of the tools may touch."""
    return [status(tool, settings) for tool in tools]
