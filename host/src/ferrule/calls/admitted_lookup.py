"""What a call of one tool needs to know, in a process that never reads config.toml.

The process of a tool begins as a copy of the one that supervises it, and has all its memory. So what config.toml says
of other tools must not be there: the answer is the one that was kept, or it is worked out in a copy of this process,
which ends at once, and comes as JSON.
"""

from __future__ import annotations

import os

from ferrule.calls.lookup import Lookup, NoRuns, Refused
from ferrule.config import configuration
from ferrule.config.configuration import Configuration
from ferrule.discovery import InstalledTool
from ferrule.trust import kept_admission

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.policy import Policy
    from ferrule.plugin.runs import RunServer
    from ferrule.text.json_types import JSONMapping, JSONObject


class AdmittedLookup(Lookup):
    """The answer for the tool of one name. Each method raises what stood in the way of that part of it.

    A failure of the copy is raised as Refused.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._facts: JSONObject | None = None

    def configuration(self) -> Configuration:
        """The configuration as far as the process of the tool may see it."""
        content = self._part("content")
        return Configuration(configuration.default_path(), content, os.environ, is_whole=False)

    def find_tool(self, _name: str, _settings: Configuration) -> InstalledTool:
        """The tool itself, which is one that may run."""
        return InstalledTool(**self._part("tool"))

    def schema(self, _tool: InstalledTool) -> JSONObject | None:
        """As of `schema_file.read_static`."""
        schema: JSONObject | None = self._part("schema")
        return schema

    def policy(self, tool: InstalledTool, settings: Configuration) -> Policy:
        """As of `Admission.policy`."""
        from ferrule.trust.admission import Admission, Grant
        from ferrule.trust.policy import WholeConfigurationNeeded

        grant = Grant.from_dict(self._part("grant"))
        try:
            return Admission(tool, settings, grant).policy()
        except WholeConfigurationNeeded:
            return self._policy_of_copy()

    def runs(self, tool: InstalledTool, settings: Configuration) -> RunServer | NoRuns:
        """As of `Lookup`."""
        if not self._part("grant")["permissions"]["tools"]:
            return NoRuns()
        from ferrule.plugin.runs import RunServer

        return RunServer(tool, settings)

    def visible_configuration(self, _tool: InstalledTool, settings: Configuration) -> JSONMapping:
        """The same as `configuration` gives."""
        return settings.content

    def require_accepted_version(self) -> None:
        """Raise PermissionsHeld for a new version that asks for more: no client is to offer what cannot run."""
        if self._facts and self._facts.get("was_new_version"):
            self._part("grant")

    @property
    def is_kept(self) -> bool:
        """Whether all parts are those that were kept, so that nothing stands in the way of any."""
        return bool(self._facts and self._facts.get("is_kept"))

    @property
    def is_recorded(self) -> bool:  # type: ignore[override] # it is not known from the beginning
        """Whether what the tool asks for is known to be recorded."""
        return self.is_kept

    def _part(self, name: str) -> JSONObject:
        if self._facts is None:
            self._facts = self._find_facts()
        return _part_of(self._facts, name)

    def _find_facts(self) -> JSONObject:
        kept = kept_admission.read(self._name)
        if kept is not None and not _is_disabled(kept, self._name):
            return kept
        from ferrule.calls import judgement

        return judgement.judge_in_copy(self._name)

    def _policy_of_copy(self) -> Policy:
        from ferrule.calls import judgement
        from ferrule.confinement.policy import Policy

        return Policy(**_part_of(judgement.find_policy_in_copy(self._name), "policy"))


def _is_disabled(facts: JSONMapping, name: str) -> bool:
    """By the environment, which is no part of what was kept."""
    return Configuration("", facts["content"], os.environ).is_disabled(name)


def _part_of(facts: JSONObject, name: str) -> JSONObject:
    for failure in facts["failures"]:
        if failure["part"] == name:
            raise Refused(failure["facts"], failure["traceback"].encode())
    found: JSONObject = facts[name]
    return found
