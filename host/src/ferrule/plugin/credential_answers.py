"""What a process that runs a tool is told of the tool's credentials: their values, or why it is not given one."""

from __future__ import annotations

import os

from ferrule.errors import FerruleError, PermissionDenied, ToolError
from ferrule.plugin.declared_credentials import credentials_in, find_declared, record_ownership, require_declared
from ferrule.trust import records
from ferrule.trust.credentials import claims as credential_claims
from ferrule.trust.credentials.declared_keys import KEY

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.credential_values import LocalValues
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.trust.credentials.claims import Claim

_NO_VALUES = {"IKIGAI_CONFIG_DIR": os.devnull}  # variables of a process that has no credentials, and no file of them


def refuse(
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


def answer_for(tool: InstalledTool, question: JSONMapping) -> JSONObject:
    """What the host answers to a question of the tool, see `credential_values.describe`."""
    from ferrule.plugin.hooks.credential_values import LocalValues

    asked = credentials_in(question.get(KEY))
    try:
        known = require_declared(tool, asked)  # runs the plugin's code, so it comes before any value is read
    except FerruleError as error:
        return refuse(question, error.message, error.hint, error.code, admin=error.admin)
    claims = record_ownership(tool, known)
    return _answer(tool, question, asked, known, claims, LocalValues)


def rehearse_answer(tool: InstalledTool) -> None:
    """Work out an answer without any value in it. It runs none of a plugin's code."""
    from ferrule.plugin.hooks.credential_values import LocalValues

    known = find_declared(tool)
    if known and credential_claims.is_settled(tool, known):
        question = {KEY: [one.as_dict() for one in known]}
        claims = record_ownership(tool, require_declared(tool, credentials_in(question[KEY])))
        _answer(tool, question, known, known, claims, lambda: LocalValues(_NO_VALUES))


def _answer(
    tool: InstalledTool,
    question: JSONMapping,
    asked: Sequence[Credential],
    known: Sequence[Credential],
    claims: Sequence[Claim],
    find_values: Callable[[], LocalValues],
) -> JSONObject:
    """The answer to a question.

    Args:
        asked: those that are in the question.
        known: what the tool declares. claims: to what is another's.
        find_values: finds what is set; it is asked again where something was renewed.
    """
    from ferrule.plugin.hooks.credential_values import REFUSED, describe

    refused: dict[str, FerruleError] = {
        **_hold(tool, known, records.find_withheld(tool)),
        **credential_claims.refusals(claims),
    }
    refused.update(_unlocked(tool, known))
    refused.update((one.name, _undeclared(tool, one)) for one in asked if not one.is_one_of(known))
    # What is secret is what was declared so, whatever is said now.
    described = [next((its for its in known if one.is_one_of([its])), one) for one in asked]
    # The process of a call may neither read the file nor write it, so an expired token is renewed here.
    values = find_values()
    if tokens := [one for one in described if one.name not in refused and values.file.token(one.path) is not None]:
        refused.update(_renew(tokens, values, str(question.get(REFUSED) or "")))
        values = find_values()
    answer = describe(described, values, refused)
    return {**answer, "tool": tool.name, "is_relayed": question.get("is_relayed") is True}


def _renew(tokens: Sequence[Credential], values: LocalValues, refused: str) -> dict[str, FerruleError]:
    """Renew the tokens that have expired, or that a server has refused; why one was not renewed, by its name.

    refused: a value; "" where none was.
    """
    from ferrule.trust.credentials.renewal import renew_value

    failed: dict[str, FerruleError] = {}
    for one in tokens:
        try:
            renew_value(one, os.environ, values.file, refused)
        except FerruleError as error:
            failed[one.name] = error
    return failed


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


def _undeclared(tool: InstalledTool, credential: Credential) -> ToolError:
    return PermissionDenied(
        f"{tool.name} asks for the credential {credential.name} ({credential.environment}), which it does not declare.",
        admin="Its author declares it in tool.json, or in the hook credentials. "
        f"`ferrule show {tool.name}` lists what is declared.",
    )
