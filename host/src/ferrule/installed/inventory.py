"""What is installed, and in which state each tool is. No plugin can keep another one from being listed."""

from __future__ import annotations

import os
import sys
import time

from ferrule import discovery
from ferrule.errors import CallInterrupted, FerruleError, SchemaInvalid, ToolBroken
from ferrule.installed.supervised_work import LOAD_SECONDS, run_supervised
from ferrule.plugin import declared_credentials
from ferrule.plugin.declaration import Declaration, HiddenText, MalformedDeclaration, read_declaration
from ferrule.plugin.hooks.credentials import Credential
from ferrule.schema import schema_file
from ferrule.schema.rules import Finding, check
from ferrule.text import strict_json
from ferrule.text.names import executable_name
from ferrule.trust.credentials import claims as credential_claims
from ferrule.trust.door.admission import admit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NotRequired, TypedDict, TypeGuard

    from ferrule.config import configuration
    from ferrule.discovery import InstalledTool
    from ferrule.installed.tool_warnings import ToolWarning
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

    class CredentialFacts(TypedDict):
        """The arguments of `ferrule.Credential`, as JSON."""

        name: str
        environment: str
        path: str
        url: str
        description: str
        secret: bool
        required: NotRequired[bool]

    class ResultPolicyFacts(TypedDict, total=False):
        """What `ResultPolicy.as_dict()` says; nothing of a tool that was not loaded."""

        cache_seconds: float
        linkable: bool
        paging: list[str]
        environment: list[str]

    class LoadedFacts(TypedDict):
        """What a plugin says of itself."""

        schema: JSONObject
        credentials: list[CredentialFacts]
        results: ResultPolicyFacts
        unknown_hooks: list[str]


OK, UNCHECKED, BROKEN, CLASH, INVALID, DISABLED = "ok", "unchecked", "broken", "clash", "invalid", "disabled"
HELD, DIFFERS = "held", "differs"


class Entry:
    """One tool's name and what is known of it.

    state: `ok`, `unchecked` (nothing of it was loaded), `broken`, `clash`, `invalid`, `disabled`, `held` (it asks for
    more permissions than were accepted), or `differs` (from ferrule.lock, where tools are locked; none of its texts is
    told). claims: who offers it, more than one where they clash. error: why it is in that state, None where it is well.
    findings: what the schema rules say. schema: None where it is not known. credentials, results: as `load_facts` gives
    them, where it was loaded. declaration: what its `tool.json` says; nothing where that is not there or cannot be
    read. warnings: what has no effect of it.
    """

    def __init__(self, name: str, claims: Sequence[InstalledTool]) -> None:
        self.name = name
        self.claims = list(claims)
        self.state = UNCHECKED
        self.error: FerruleError | None = None
        self.findings: list[Finding] = []
        self.schema: JSONObject | None = None
        self.credentials: list[CredentialFacts] = []
        self.results: ResultPolicyFacts = {}
        self.declaration = Declaration()
        self.warnings: list[ToolWarning] = []

    @property
    def tool(self) -> InstalledTool:
        """The first claim; the only one unless the state is `clash`."""
        return self.claims[0]

    def as_dict(self) -> JSONObject:
        """The entry as JSON."""
        return {
            "name": self.name,
            "executable": executable_name(self.name),
            "state": self.state,
            "distributions": [{"name": claim.distribution, "version": claim.version} for claim in self.claims],
            "entry_point": self.tool.value,
            "description": (self.schema or {}).get("description"),
            "error": self.error.facts() if self.error else None,
            "findings": [finding.as_dict() for finding in self.findings],
            "declaration": self.declaration.as_dict(),
            "warnings": [warning.as_dict() for warning in self.warnings],
        }

    def _fail(self, state: str, error: FerruleError) -> None:
        self.state = state
        self.error = error


def examine(
    entry: Entry,
    settings: configuration.Configuration,
    *,
    load: bool,
    strict: bool = False,
    silenced: Sequence[str] = (),
) -> Entry:
    """Find out in which state one tool is; never raises for anything that a plugin does.

    Args:
        load: load the plugin, in a supervised child, and check its schema.
        strict, silenced: as `schema_rules.check` takes them; they matter with `load` alone.

    Raises:
        CallInterrupted.
    """
    admitted = admit(entry.tool, settings)
    if len(entry.claims) > 1:
        entry._fail(CLASH, discovery.clash(entry.name, entry.claims))
    elif settings.is_disabled(entry.name):
        entry._fail(DISABLED, FerruleError(f"It is disabled by {settings.why_disabled(entry.name)}."))
    elif lock_refusal := admitted.find_lock_refusal():
        entry._fail(INVALID if isinstance(lock_refusal, SchemaInvalid) else DIFFERS, lock_refusal)
    else:
        hidden = _read_declaration(entry)
        held = None if hidden else admitted.find_held()
        refusal = hidden or held or _find_refusal(entry)
        if load and refusal is None:
            _load(entry, strict, silenced)
            _hold_to_lock(entry, settings)
            refusal = held = admitted.find_held() if entry.state == OK else None
        else:
            _read_schema(entry)
        if refusal:
            entry._fail(INVALID if hidden else HELD if held else BROKEN, refusal)
    return entry


def _hold_to_lock(entry: Entry, settings: configuration.Configuration) -> None:
    """The schema that a tool computes is held against the lock; that of a file has been, with the file."""
    if entry.state == OK and entry.schema is not None:
        refusal = admit(entry.tool, settings).find_schema_refusal(entry.schema)
        if refusal:
            entry.schema = None
            entry._fail(DIFFERS, refusal)


def load_facts(tool: InstalledTool) -> LoadedFacts:
    """Load a plugin in a supervised child, and return what it says of itself. Raises the error with which it failed.

    Since when it declares its credentials is recorded, see `credential_claims`.
    """

    from ferrule.trust.load_policy import policy_for_loading

    def ask(channel: Channel) -> None:
        from ferrule.plugin.loader import load

        loaded = load(tool)
        credentials = [_facts_of(one) for one in loaded.credentials()]
        channel.result(
            {
                "schema": loaded.schema(),
                "credentials": credentials,
                "results": loaded.result_policy().as_dict(),
                "unknown_hooks": loaded.unknown_hooks,
            }
        )

    policy = policy_for_loading(tool)
    facts = run_supervised(ask, policy, credential_claims.given_secrets(tool, policy.environment or {}))
    if not _are_loaded_facts(facts):
        raise ToolBroken(f"{tool.name} of {tool.source} has written to the host's own channel.")
    declared_credentials.record_declared(tool, [Credential(**one) for one in facts["credentials"]])
    declared = declared_credentials.find_declared(tool)
    if declared is not None:  # what tool.json says counts, whatever the hook does; it is the same where none says it
        facts["credentials"] = [_facts_of(one) for one in declared]
    declared_credentials.record_ownership(tool, [Credential(**one) for one in facts["credentials"]])
    return facts


def _facts_of(credential: Credential) -> CredentialFacts:
    facts = {name: getattr(credential, name, None) for name in credential.__slots__}
    facts = {name: value for name, value in facts.items() if name != "required" or value is not True}
    if not _is_credential(facts):
        raise ToolBroken(f"A field of {credential!r:.200} is no text.", hint="Give ferrule.Credential texts alone.")
    return facts


def _is_credential(facts: object) -> TypeGuard[CredentialFacts]:
    if not isinstance(facts, dict) or {*facts, "required"} != set(Credential.__slots__):
        return False
    return all(isinstance(value, bool if name in ("secret", "required") else str) for name, value in facts.items())


def _are_loaded_facts(facts: object) -> TypeGuard[LoadedFacts]:
    """Whether they have the form that is expected of them: a plugin can write to any descriptor of its process."""
    if not isinstance(facts, dict) or not isinstance(facts.get("schema"), dict):
        return False
    credentials = facts.get("credentials")
    are_credentials = isinstance(credentials, list) and all(map(_is_credential, credentials))
    unknown = facts.get("unknown_hooks")
    are_hooks = isinstance(unknown, list) and all(isinstance(name, str) for name in unknown)
    return are_credentials and are_hooks and _is_result_policy(facts.get("results"))


def _is_result_policy(results: object) -> bool:
    return (
        isinstance(results, dict)
        and isinstance(results.get("cache_seconds"), int | float)
        and isinstance(results.get("linkable"), bool)
        and all(isinstance(results.get(name), list) for name in ("paging", "environment"))
    )


def _read_declaration(entry: Entry) -> SchemaInvalid | None:
    """Read what the tool declares. What hides something there keeps the tool out, as it does in a schema."""
    try:
        entry.declaration = read_declaration(entry.tool.value)
    except HiddenText as error:
        return SchemaInvalid(f"{error}.", hint="Take these characters out; escape what has to be named.")
    except MalformedDeclaration as error:
        from ferrule.installed.tool_warnings import unreadable  # most tools give no cause for it

        entry.warnings.append(unreadable(error))
    if entry.declaration.unknown:
        from ferrule.installed.tool_warnings import unknown_keys

        entry.warnings += unknown_keys(entry.declaration)
    return None


def _find_refusal(entry: Entry) -> ToolBroken | None:
    """Why this host must not run the tool, by what it declares."""
    if entry.declaration.requires_ferrule is None:
        return None
    from ferrule.plugin.remedies.host_requirement import require_host  # few tools need the library that this takes

    try:
        require_host(entry.tool)
    except ToolBroken as error:
        return error
    return None


def _read_schema(entry: Entry) -> None:
    try:
        entry.schema = schema_file.read_static(entry.tool)
    except SchemaInvalid as error:
        entry._fail(INVALID, error)


def _load(entry: Entry, strict: bool, silenced: Sequence[str]) -> None:
    try:
        facts = load_facts(entry.tool)
    except CallInterrupted:
        raise
    except FerruleError as error:
        _read_schema(entry)
        if entry.state == UNCHECKED:  # a schema file that is invalid would be the better reason
            entry._fail(BROKEN, error)
        return
    entry.schema = facts["schema"]
    if facts["unknown_hooks"]:
        from ferrule.installed.tool_warnings import unknown_hooks

        entry.warnings += unknown_hooks(facts["unknown_hooks"])
    entry.credentials = facts["credentials"]
    entry.results = facts["results"]
    entry.findings = check(entry.schema, name=entry.name, strict=strict, silenced=silenced)
    if "schema-varies" not in silenced:
        entry.findings += _variation(entry, strict=strict)
    try:
        _require_good_schema(entry)
        entry.state = OK
    except FerruleError as error:
        entry._fail(INVALID if isinstance(error, SchemaInvalid) else BROKEN, error)


def _variation(entry: Entry, *, strict: bool) -> list[Finding]:
    """The finding about a schema that is computed, and computed differently by another process."""
    try:
        if schema_file.read_static(entry.tool) is not None:
            return []
    except SchemaInvalid:
        return []
    from ferrule.installed import executable_probe
    from ferrule.supervision.python_process import python_command
    from ferrule.trust.load_policy import policy_for_loading

    python, *arguments = python_command("ferrule.installed.inventory:print_computed_schema", entry.name)
    environment = {**(policy_for_loading(entry.tool).environment or {}), **executable_probe.OTHER_LANGUAGE}
    probe = executable_probe.ask(python, arguments, LOAD_SECONDS, environment=environment, folder="/")
    if probe.exit_code != 0 or probe.output == strict_json.dumps(entry.schema):
        return []
    return [executable_probe.variation("Its hook returned another schema", strict=strict)]


def print_computed_schema() -> None:
    """Print the schema of the tool that `sys.argv` names: in a process of its own, for `_variation`."""
    from ferrule.plugin import computed_schema

    tool = discovery.scan()[sys.argv[1]][0]
    os.write(1, strict_json.dumps(computed_schema.compute_schema(tool, time.monotonic() + LOAD_SECONDS)))


def _require_good_schema(entry: Entry) -> None:
    """Without errors, and equal to the file: a client is shown that, and the hook is what the author tests."""
    errors = [finding for finding in entry.findings if finding.severity == "error"]
    if errors:
        raise schema_file.invalid_schema(entry.tool, errors)
    static = schema_file.read_static(entry.tool)
    if static is not None and static != entry.schema:
        raise ToolBroken(
            f"The schema.json of {entry.name} is not what its schema hook returns.",
            hint="Return static_schema(__file__) from the hook.",
        )
