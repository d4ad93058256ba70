"""The tool `verify_citation`: whether a reference is of a real work, is what it says, and stands."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """Keys that raise what the services allow; none is needed."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say that a citation has to be given."""
    return [] if arguments["citation"].strip() else ["citation: it is blank"]


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"input", "inputType", "exists", "verificationStatus", "provenance", "trust"}`, and what was found.

    Raises ToolError where nothing could be asked, so that a network that is down never makes a work unknown.
    """
    from ferrule_scholar.verification.call import verify

    return verify(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(locale=False)
