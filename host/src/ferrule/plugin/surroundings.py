"""What a process that runs a tool is told by the host: the values of its credentials, for which it asks."""

from __future__ import annotations

import os

from ferrule.errors import FerruleError, PermissionDenied, ToolError
from ferrule.plugin.declared_credentials import credentials_in, is_configured, record_ownership, require_declared
from ferrule.trust import records
from ferrule.trust.credentials import claims as credential_claims
from ferrule.trust.credentials.declared_keys import KEY

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.text.json_types import JSONMapping, JSONObject


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
            return answer_for_called(question, self._tool, self._called_tools())
        if CONFIGURED in question:
            return answer_configured(question, self._called_tools())
        if question.get("tool") != self._tool.name:
            return _refuse(question, f"{self._tool.name} is not given the credentials of another tool.")
        return _answer(self._tool, question)

    def _called_tools(self) -> Sequence[str]:
        from ferrule.config import configuration
        from ferrule.trust.grants import granted

        return granted(self._tool, configuration.read()).tools


CONFIGURED = "configured"  # the key of a question whether tools are configured, and of its answer


def answer_for_called(
    question: JSONMapping, caller: InstalledTool | None = None, names: Sequence[str] | None = None
) -> JSONObject:
    """What a host answers to a tool that another tool's process has loaded.

    question: also has `source`, the distribution to which the tool has to belong, and `gives_values`, false where tools
    of others share its process. caller: that tool, whose process has the called one's credentials then, so that it
    needs the yes of that one's author or of the admin; None for a program of the user's. names: of tools that it may
    run, as in the list `tools` of permissions; None for any.
    """
    from ferrule import discovery
    from ferrule.trust.composition import fits

    name = str(question.get("tool"))
    claims = discovery.scan().get(name, [])
    source = question.get("source")
    if len(claims) != 1 or (source is not None and source != claims[0].source):
        return _refuse(question, f"{name!r} is no tool whose credentials could be given here.")
    if caller is not None and not fits(claims[0], names or ()):
        why = "since its permissions do not say that it runs that tool"
    elif caller is not None and not _shares(claims[0], caller):
        why = f"since {name} does not say that its key may be used by tools of {caller.distribution}"
    else:
        return _answer(claims[0], question)
    message = f"{caller.name} is not given the credentials of {name}, {why}."
    admin = f"If it shall have them, run: ferrule permissions grant {caller.name} --with-tool {name}"
    return _refuse(question, message, admin=admin)


def _shares(tool: InstalledTool, caller: InstalledTool) -> bool:
    """Whether the process of another tool may have the credentials of a tool, by its author or by the admin."""
    from ferrule.config import configuration
    from ferrule.trust.credentials import declared_keys
    from ferrule.trust.grants import admin_entries

    if tool.distribution == caller.distribution or caller.distribution in declared_keys.find_users(tool):
        return True
    return tool.name in admin_entries(caller.name, "tools", configuration.read())


def answer_configured(question: JSONMapping, names: Sequence[str] | None = None) -> JSONObject:
    """Whether tools are configured, as of `is_configured`. names: as of `answer_for_called`."""
    from ferrule import discovery
    from ferrule.config import configuration
    from ferrule.trust.composition import fits

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
    from ferrule.plugin.hooks.credential_values import LocalValues, describe

    credentials = credentials_in(question.get(KEY))
    error = ToolError(code, message, hint=hint)
    error.admin = admin
    answer = describe(credentials, LocalValues(), {one.name: error for one in credentials})
    return {**answer, "tool": question.get("tool")}


def _answer(tool: InstalledTool, question: JSONMapping) -> JSONObject:
    from ferrule.plugin.hooks.credential_values import LocalValues, describe

    asked = credentials_in(question.get(KEY))
    try:
        known = require_declared(tool, asked)  # runs the plugin's code, so it comes before any value is read
    except FerruleError as error:
        return _explain_refusal(question, tool, error)
    claims = record_ownership(tool, known)
    refused: dict[str, FerruleError] = {
        **_hold(tool, known, records.find_withheld(tool)),
        **credential_claims.refusals(claims),
    }
    refused.update(_unlocked(tool, known))
    refused.update((one.name, _undeclared(tool, one)) for one in asked if not one.is_one_of(known))
    # What is secret is what was declared so, whatever is said now.
    described = [next((its for its in known if one.is_one_of([its])), one) for one in asked]
    answer = describe(described, LocalValues(), refused, hides_values=question.get("gives_values") is False)
    return {**answer, "tool": tool.name, "is_relayed": question.get("is_relayed") is True}


def _hold(tool: InstalledTool, known: Sequence[Credential], withheld: Sequence[str]) -> dict[str, ToolError]:
    """Why credentials are not given that the tool declares beyond those that were accepted, by their names."""
    if not withheld:
        return {}
    from ferrule.config import configuration

    held = records.find_held(tool, configuration.read())
    if held is None:  # its record cannot be trusted, or the admin is changing it
        error = PermissionDenied(f"{tool.name} asks for credentials that were not accepted.")
    else:
        error = PermissionDenied(held.message, admin=held.admin, details=held.details)
    return {one.name: error for one in known if one.environment in withheld or one.path in withheld}


def _unlocked(tool: InstalledTool, known: Sequence[Credential]) -> dict[str, FerruleError]:
    """Why credentials are not given that ferrule.lock does not have, where tools are locked, by their names.

    What a file declares has been held against the lock with the file; a hook may say another thing each time.
    """
    from ferrule.config import configuration

    settings = configuration.read()
    if not settings.is_locked or not known:
        return {}
    from ferrule.trust.lock.examination import credentials_refusal

    wanted = [{"name": one.name, "environment": one.environment, "path": one.path} for one in known]
    return credentials_refusal(tool, wanted, settings.lock_path)


def _explain_refusal(question: JSONMapping, tool: InstalledTool, error: FerruleError) -> JSONObject:
    """The hook of the tool has failed. A tool that runs this one is not told in which words."""
    if question.get("is_relayed") is not True:
        return _refuse(question, error.message, error.hint, error.code, admin=error.admin)
    return _refuse(question, f"What credentials {tool.name} declares could not be found out.", code=error.code)


def _undeclared(tool: InstalledTool, credential: Credential) -> ToolError:
    return PermissionDenied(
        f"{tool.name} asks for the credential {credential.name} ({credential.environment}), which it does not declare.",
        admin="Its author declares it in tool.json, or in the hook credentials. "
        f"`ferrule show {tool.name}` lists what is declared.",
    )
