"""What each tool may touch, for the admin: as it declares it, as it is granted, and what of it this system holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ConfigurationMalformed
from ferrule.permissions import coverage, declaration, description, enforcement, grants, records, resolution
from ferrule.permissions.places import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.permissions.declaration import Permissions
    from ferrule.text.json_types import JSONObject

AS_DECLARED, WIDENED, NARROWED, HELD, MALFORMED = "as declared", "widened", "narrowed", "held", "malformed"


class PermissionStatus(NamedTuple):
    """What one tool may touch.

    state: `as declared`; `widened` or `narrowed` by the admin, the first where it is both; `held`, since it asks for
    more than was accepted; or `malformed`, where the admin's table cannot be read. declared, granted: permissions.
    widened: what is granted beyond the declaration, narrowed: what is declared beyond the grant. isolation: how the
    tool is held. unenforced: what this system does not hold, a sentence for each. problem: why a call is refused.
    places: what `.`, settings and variables stand for here and now, and what of it is not granted.
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
    places: Sequence[str] = ()

    def words(self) -> list[str]:
        """What the tool may, in a person's words."""
        return description.describe(self.granted)

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
            "isolation": self.isolation,
            "unenforced": self.unenforced,
            "places": list(self.places),
            "error": self.problem.facts() if self.problem else None,
        }


def status(tool: InstalledTool, settings: Configuration) -> PermissionStatus:
    """What one tool may touch here and now. Nothing of the plugin is imported."""
    asked = declaration.declared(tool)
    problem: FerruleError | None
    try:
        given = grants.granted(tool, settings)
        network = resolution.Resolution(settings.tool(tool.name), os.environ).networks(given.network)
        missing = enforcement.unenforced(has_network=bool(network or given.tools))
        mode = grants.isolation(settings, network or given.tools)
        problem = records.find_held(tool, settings)
        here = places(tool, settings)
    except ConfigurationMalformed as error:
        given, mode, missing, problem, here = declaration.nothing(), grants.STRICT, [], error, []
    widened, narrowed = coverage.excess(given, asked), coverage.excess(asked, given)
    state = WIDENED if widened else NARROWED if narrowed else AS_DECLARED
    if problem:
        state = MALFORMED if isinstance(problem, ConfigurationMalformed) else HELD
    return PermissionStatus(
        tool.name, tool.source, state, asked, given, widened, narrowed, mode, missing, problem, here
    )  # fmt: skip


def statuses(tools: Iterable[InstalledTool], settings: Configuration) -> list[PermissionStatus]:
    """What each of the tools may touch."""
    return [status(tool, settings) for tool in tools]
