"""What a call reads of the machine beside its tool."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.runs import RunZygote
    from ferrule.text.json_types import JSONMapping, JSONObject


class Lookup:
    """Reads it anew for each call. A server that makes many calls may remember some of it.

    is_recorded: whether what the tool asks for is known to be recorded, so that nobody has to look.
    """

    is_recorded = False

    def configuration(self) -> Configuration:
        """The admin's settings. Raises ConfigurationMalformed."""
        from ferrule.config import configuration

        return configuration.read()

    def readable_settings(self) -> Configuration | None:
        """The same for a call that ended before it was needed; None where it cannot be read, which the call says."""
        try:
            return self.configuration()
        except Exception:  # noqa: BLE001 - what is wrong with it is what the call has failed with
            return None

    def find_tool(self, name: str, settings: Configuration) -> InstalledTool:
        """The tool of that name that may run, see `find_tool`."""
        return find_tool(name, settings)

    def schema(self, tool: InstalledTool) -> JSONObject | None:
        """See `schema_file.read_static`."""
        from ferrule.schema import schema_file

        return schema_file.read_static(tool)

    def policy(self, tool: InstalledTool, settings: Configuration) -> Policy:
        """See `Admission.policy`. Raises PermissionsHeld."""
        from ferrule.trust.door.admission import admit

        admission = admit(tool, settings)
        if admission.is_new_version:
            from ferrule.plugin.declared_credentials import ask_new_version

            ask_new_version(tool)
        return admission.policy()

    def list_given(self) -> Sequence[str] | None:
        """The variables of the tool's credentials that it is given; None where that is not known yet."""
        return None

    def runs(self, tool: InstalledTool, settings: Configuration) -> RunZygote | NoRuns:
        """What runs other tools for the call, where the tool may have some run. Raises ConfigurationMalformed."""
        from ferrule.trust.grants import granted

        if not granted(tool, settings).tools:
            return NoRuns()
        from ferrule.plugin.runs import RunZygote

        return RunZygote(tool, settings)

    def visible_configuration(self, tool: InstalledTool, settings: Configuration) -> JSONMapping:
        """What the process of a tool is given of config.toml: its own table, and the host's."""
        return settings.visible_to((tool.name,))


class NoRuns:
    """Instead of a `RunZygote`, for a tool that has no other one run."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


class AdmittedLookup(Lookup):
    """The lookup of a process that makes one call, of one tool, and never reads config.toml.

    Each method raises Refused, see `AdmittedTool`.
    """

    def __init__(self, name: str) -> None:
        from ferrule.plugin.admission.admitted_tool import AdmittedTool

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

    def list_given(self) -> Sequence[str]:
        """See `Lookup`."""
        return self.admitted.list_given()

    def runs(self, tool: InstalledTool, settings: Configuration) -> RunZygote | NoRuns:
        """See `Lookup`."""
        if not self.admitted.has_others_run():
            return NoRuns()
        from ferrule.plugin.runs import RunZygote

        return RunZygote(tool, settings)

    def visible_configuration(self, tool: InstalledTool, settings: Configuration) -> JSONMapping:
        """The same as `configuration` gives."""
        return settings.content


def find_tool(name: str, settings: Configuration) -> InstalledTool:
    """See `ferrule.trust.door.admission.find`, which is loaded where tools are locked."""
    if not settings.is_locked:
        from ferrule import discovery

        return discovery.find(name, settings)
    from ferrule.trust.door import admission

    return admission.find(name, settings)
