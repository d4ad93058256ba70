"""What a process that runs a tool is told by the host: the values of its credentials, for which it asks."""

from __future__ import annotations

from ferrule.permissions import credential_claims

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.errors import ToolError
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.tool.credentials import Credential


class Surroundings:
    """What the host gives a process that runs a tool, beside its policy.

    secrets: values in the policy's environment that no output may hold.
    """

    def __init__(self, tool: InstalledTool, policy: Policy | None) -> None:
        self._tool = tool
        self.secrets = credential_claims.given_secrets(tool, policy.environment or {}) if policy else []

    def answer(self, question: JSONMapping) -> JSONObject:
        """What the host answers to a question of the process, as of `credential_values.describe`.

        It reads the credentials file, and so belongs into a process that no tool's is forked from.
        """
        if question.get("is_relayed") is True:
            from ferrule.config import configuration
            from ferrule.permissions.grants import granted

            return answer_for_called(question, self._tool.name, granted(self._tool, configuration.read()).tools)
        if question.get("tool") != self._tool.name:
            return {}
        return _answer(self._tool, question)


def answer_for_called(question: JSONMapping, caller: str = "", names: Sequence[str] | None = None) -> JSONObject:
    """What a host answers to a tool that another tool's process has loaded.

    question: also has `source`, the distribution to which the tool has to belong, and `gives_values`, false where tools
    of others share its process. caller: that tool. names: of tools that it may run, as in the list `tools` of
    permissions; None for any.
    """
    from ferrule import discovery
    from ferrule.permissions.composition import fits

    claims = discovery.scan().get(str(question.get("tool")), [])
    source = question.get("source")
    if len(claims) != 1 or (source is not None and source != claims[0].source):
        return {}
    if names is not None and not fits(claims[0], names):
        return _refuse(question, caller, claims[0].name)
    return _answer(claims[0], question, is_called=True)


def _refuse(question: JSONMapping, caller: str, called: str) -> JSONObject:
    from ferrule.errors import ToolError
    from ferrule.tool.credential_values import LocalValues, describe

    error = ToolError(
        "PERMISSION_DENIED",
        f"{caller} is not given the credentials of {called}, since its permissions do not say that it runs that tool.",
        hint=f"If it shall, run: ferrule permissions grant {caller} --tools {called}",
    )
    credentials = _credentials_in(question)
    return describe(credentials, LocalValues(), {one.name: error for one in credentials})


def _answer(tool: InstalledTool, question: JSONMapping, *, is_called: bool = False) -> JSONObject:
    from ferrule.tool.credential_values import LocalValues, describe

    credentials = _credentials_in(question)
    # What a stranger's process says of a tool that it has loaded does not change what the tool itself has said.
    is_written = not is_called or not credential_claims.is_known(tool)
    claims = credential_claims.record(tool, credentials, is_written=is_written)
    hides_values = question.get("gives_values") is False
    refused: dict[str, ToolError] = credential_claims.refusals(claims)
    answer = describe(credentials, LocalValues(), refused, hides_values=hides_values)
    return {**answer, "is_relayed": question.get("is_relayed") is True}


def _credentials_in(question: JSONMapping) -> list[Credential]:
    """What a process says that the tool declares; it may have said anything."""
    from ferrule.tool.credentials import Credential

    found = []
    listed = question.get("credentials")
    for one in listed if isinstance(listed, list) else ():
        texts = [one.get(name) for name in ("name", "environment", "path")] if isinstance(one, dict) else []
        if texts and all(isinstance(text, str) and text and "\0" not in text and "=" not in text for text in texts):
            name, environment, path = texts
            is_secret = one.get("secret") is not False
            found.append(Credential(str(name), environment=str(environment), path=str(path), secret=is_secret))
    return found
