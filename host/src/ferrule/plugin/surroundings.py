"""What a process that runs a tool is told by the host: the values of its credentials, for which it asks."""

from __future__ import annotations

import os

from ferrule.schema.schema_file import RememberedModules
from ferrule.supervision.channel.questions import RUN

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject


CONFIGURED = "configured"  # the key of a question whether tools are configured, and of its answer


class Surroundings:
    """What the host gives a process that runs a tool, beside its policy.

    Args:
        given: the variables of the tool's credentials that it has, where they are known.
        environ: the caller's, where it is not this process's.

    secrets: values in the policy's environment that no output may hold.
    """

    def __init__(
        self,
        tool: InstalledTool,
        policy: Policy | None,
        given: Sequence[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._tool = tool
        self._environ = environ
        self.secrets: list[str] = []
        if policy and (given is None or given):
            from ferrule.trust.credentials.claims import given_secrets

            self.secrets = given_secrets(tool, policy.environment or {}, given)

    def answer(self, question: JSONMapping) -> JSONObject:
        """What the host answers to a question of the process: see `credential_values.describe`, where it asks for
        the values of its credentials.

        It reads the credentials file, and so belongs into a process that no tool's is forked from.
        """
        if self._environ is not None:
            _take_over(self._environ)
        if RUN in question:  # what may be run is run by another process, see `runs`
            from ferrule.plugin.called_tool import refuse_run

            return refuse_run(str(question[RUN]), self._tool.name)
        if CONFIGURED in question:
            return answer_configured(question, self._called_tools())
        from ferrule.plugin.credential_answers import answer_for, refuse  # few calls ask

        if question.get("tool") != self._tool.name:
            return refuse(question, f"{self._tool.name} is not given the credentials of another tool.")
        return answer_for(self._tool, question)

    def rehearse_answer(self) -> None:
        """Do what an answer about the credentials takes, but for reading a value. Raises FerruleError."""
        from ferrule.plugin.credential_answers import rehearse_answer

        with RememberedModules():
            rehearse_answer(self._tool)

    def run_facts(self, run: object = "") -> JSONObject:
        """See `run_facts`. run: the tool that is to be run.

        Raises PermissionsHeld, too, where the tool asks for more than was accepted meanwhile.
        """
        from ferrule.config import configuration

        settings = configuration.read()
        facts = run_facts(self._tool, settings)
        self._require_accepted(settings)
        return facts if self._environ is None else {**facts, "environ": self._environ_for(str(run), settings)}

    def _environ_for(self, name: str, settings: Configuration) -> JSONObject:
        """The caller's variables that another tool is given, which is run for this one: it learns of no others.

        None where that tool may not run, which running it will tell.
        """
        from ferrule.errors import FerruleError
        from ferrule.trust.door.admission import admit, find

        try:
            return dict(admit(find(name, settings), settings).policy(self._environ).environment or {})
        except FerruleError:
            return {}

    def _called_tools(self) -> Sequence[str]:
        from ferrule.config import configuration
        from ferrule.trust.grants import granted

        settings = configuration.read()
        names = granted(self._tool, settings).tools
        self._require_accepted(settings)
        return names

    def _require_accepted(self, settings: Configuration) -> None:
        """Raise PermissionsHeld where a version that has been installed since the call began asks for more.

        Looked for after what it asks for was read, so that it cannot have come in between.
        """
        from ferrule.trust import records

        if held := records.find_held(self._tool, settings):
            raise held


def _take_over(environ: Mapping[str, str]) -> None:
    """Have these variables and no others. Those that are the same are left: this is done in a copy of a process."""
    for name in [name for name in os.environ if name not in environ]:
        del os.environ[name]
    for name, value in environ.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def run_facts(tool: InstalledTool, settings: Configuration, depth: int = 1) -> JSONObject:
    """What the host adds to a question of a tool that has another one run: who it is, and which tools it may have run.

    depth: how many tools have run one another so far, with this one. Raises ConfigurationMalformed.
    """
    from ferrule.trust.grants import granted

    return {"caller": tool.name, "names": list(granted(tool, settings).tools), "depth": depth}


def answer_configured(question: JSONMapping, names: Sequence[str] | None = None) -> JSONObject:
    """Whether tools are configured, see `is_configured`.

    names: of the tools of which that is told, as in the list `tools` of permissions; None for any.
    """
    from ferrule import discovery
    from ferrule.config import configuration
    from ferrule.plugin.declared_credentials import is_configured
    from ferrule.trust.composition import fits

    listed, claims, settings = question.get(CONFIGURED), discovery.scan(), configuration.read()
    answered: dict[str, bool | None] = {}
    for name in listed if isinstance(listed, list) else ():
        found = claims.get(str(name), [])
        is_shown = len(found) == 1 and (names is None or fits(found[0], names))
        answered[str(name)] = is_configured(found[0], settings, os.environ) if is_shown else None
    return {CONFIGURED: answered}
