"""What a process that runs a tool is told by the host: the values of its credentials, for which it asks."""

from __future__ import annotations

import os

from ferrule.errors import FerruleError, PermissionDenied, ToolError
from ferrule.permissions import credential_claims
from ferrule.tool.declared_credentials import KEY, credentials_in, is_configured, require_declared

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
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
            return answer_for_called(question, self._tool.name, self._called_tools())
        if CONFIGURED in question:
            return answer_configured(question, self._called_tools())
        if question.get("tool") != self._tool.name:
            return _refuse(question, f"{self._tool.name} is not given the credentials of another tool.")
        return _answer(self._tool, question)

    def _called_tools(self) -> Sequence[str]:
        from ferrule.config import configuration
        from ferrule.permissions.grants import granted

        return granted(self._tool, configuration.read()).tools


CONFIGURED = "configured"  # the key of a question whether tools are configured, and of its answer


def answer_for_called(question: JSONMapping, caller: str = "", names: Sequence[str] | None = None) -> JSONObject:
    """What a host answers to a tool that another tool's process has loaded.

    question: also has `source`, the distribution to which the tool has to belong, and `gives_values`, false where tools
    of others share its process. caller: that tool. names: of tools that it may run, as in the list `tools` of
    permissions; None for any.
    """
    from ferrule import discovery
    from ferrule.permissions.composition import fits

    name = str(question.get("tool"))
    claims = discovery.scan().get(name, [])
    source = question.get("source")
    if len(claims) != 1 or (source is not None and source != claims[0].source):
        return _refuse(question, f"{name!r} is no tool whose credentials could be given here.")
    if names is not None and not fits(claims[0], names):
        message = (
            f"{caller} is not given the credentials of {name}, since its permissions do not say that it runs that tool."
        )
        return _refuse(question, message, admin=f"If it shall: ferrule permissions grant {caller} --with-tool {name}")
    return _answer(claims[0], question)


def answer_configured(question: JSONMapping, names: Sequence[str] | None = None) -> JSONObject:
    """Whether tools are configured, as of `is_configured`. names: as of `answer_for_called`."""
    from ferrule import discovery
    from ferrule.config import configuration
    from ferrule.permissions.composition import fits

    listed, claims, settings = question.get(CONFIGURED), discovery.scan(), configuration.read()
    answered: dict[str, bool | None] = {}
    for name in listed if isinstance(listed, list) else ():
        found = claims.get(str(name), [])
        is_shown = len(found) == 1 and (names is None or fits(found[0], names))
        answered[str(name)] = is_configured(found[0], settings, os.environ) if is_shown else None
    return {CONFIGURED: answered}


def _refuse(
    question: JSONMapping,
    message: str,
    hint: str | None = None,
    code: str = PermissionDenied.code,
    *,
    admin: str | None = None,
) -> JSONObject:
    from ferrule.tool.credential_values import LocalValues, describe

    credentials = credentials_in(question.get(KEY))
    error = ToolError(code, message, hint=hint)
    error.admin = admin
    answer = describe(credentials, LocalValues(), {one.name: error for one in credentials})
    return {**answer, "tool": question.get("tool")}


def _answer(tool: InstalledTool, question: JSONMapping) -> JSONObject:
    from ferrule.tool.credential_values import LocalValues, describe

    asked = credentials_in(question.get(KEY))
    try:
        known = require_declared(tool, asked)  # runs the plugin's code, so it comes before any value is read
    except FerruleError as error:
        return _explain_refusal(question, tool, error)
    refused: dict[str, ToolError] = {**credential_claims.refusals(credential_claims.record(tool, known))}
    refused.update((one.name, _undeclared(tool, one)) for one in asked if not one.is_one_of(known))
    # What is secret is what was declared so, whatever is said now.
    described = [next((its for its in known if one.is_one_of([its])), one) for one in asked]
    answer = describe(described, LocalValues(), refused, hides_values=question.get("gives_values") is False)
    return {**answer, "tool": tool.name, "is_relayed": question.get("is_relayed") is True}


def _explain_refusal(question: JSONMapping, tool: InstalledTool, error: FerruleError) -> JSONObject:
    """The hook of the tool has failed. A tool that runs this one is not told in which words."""
    if question.get("is_relayed") is not True:
        return _refuse(question, error.message, error.hint, error.code)
    return _refuse(question, f"What credentials {tool.name} declares could not be found out.", code=error.code)


def _undeclared(tool: InstalledTool, credential: Credential) -> ToolError:
    return PermissionDenied(
        f"{tool.name} asks for the credential {credential.name} ({credential.environment}), which it does not declare.",
        admin="Its author declares it in tool.json, or in the hook credentials. "
        f"`ferrule show {tool.name}` lists what is declared.",
    )
