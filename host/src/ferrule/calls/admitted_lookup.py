"""The lookup of a process that makes one call, and never reads config.toml."""

from __future__ import annotations

from ferrule.calls.lookup import Lookup, NoRuns
from ferrule.plugin.admission.admitted_tool import AdmittedTool

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.runs import RunZygote
    from ferrule.text.json_types import JSONMapping, JSONObject


class AdmittedLookup(Lookup):
    """What there is to know of the one tool that is called. Each method raises Refused, see `AdmittedTool`."""

    def __init__(self, name: str) -> None:
        self.admitted = AdmittedTool(name)

    @property
    def is_recorded(self) -> bool:  # type: ignore[override] # it is not known from the beginning
        """Whether what the tool asks for is known to be recorded."""
        return self.admitted.is_kept

    def configuration(self) -> Configuration:
        """The configuration as far as the process of the tool may see it."""
        return self.admitted.configuration()

    def find_tool(self, name: str, settings: Configuration) -> InstalledTool:
        """The tool itself, which is one that may run."""
        return self.admitted.tool()

    def schema(self, tool: InstalledTool) -> JSONObject | None:
        """See `Lookup`."""
        return self.admitted.schema()

    def policy(self, tool: InstalledTool, settings: Configuration) -> Policy:
        """See `Lookup`."""
        return self.admitted.policy()

    def given_variables(self) -> Sequence[str]:
        """See `Lookup`."""
        return self.admitted.given_variables()

    def runs(self, tool: InstalledTool, settings: Configuration) -> RunZygote | NoRuns:
        """See `Lookup`."""
        if not self.admitted.has_others_run():
            return NoRuns()
        from ferrule.plugin.runs import RunZygote

        return RunZygote(tool, settings)

    def visible_configuration(self, tool: InstalledTool, settings: Configuration) -> JSONMapping:
        """The same as `configuration` gives."""
        return settings.content
