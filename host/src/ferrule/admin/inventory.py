"""What is installed, and in which state each tool is. No plugin can keep another one from being listed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict, TypeGuard

from ferrule import discovery
from ferrule.errors import CallInterrupted, DeadlinePassed, FerruleError, SchemaInvalid, ToolBroken, ToolError
from ferrule.schema import schema_file
from ferrule.schema.rules import Finding, check
from ferrule.text import strict_json
from ferrule.text.names import executable_name

if TYPE_CHECKING:
    from ferrule.config import configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel
    from ferrule.supervision.supervisor import Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.tool.credentials import Credential

OK, UNCHECKED, BROKEN, CLASH, INVALID, DISABLED = "ok", "unchecked", "broken", "clash", "invalid", "disabled"

LOAD_SECONDS = 5.0  # that one plugin gets to be loaded and to say what it is
_MAX_BYTES = 1 << 20
_MEMORY_MIB = 1024


class CredentialFacts(TypedDict):
    """The arguments of `ferrule.Credential`, as JSON."""

    name: str
    environment: str
    path: str
    url: str
    description: str
    secret: bool


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


class Entry:
    """One tool's name and what is known of it.

    state: `ok`, `unchecked` (nothing of it was loaded), `broken`, `clash`, `invalid` or `disabled`. claims: who offers
    it, more than one where they clash. error: why it is in that state, None where it is well. findings: what the schema
    rules say. schema: None where it is not known. credentials, results: as `load_facts` gives them, where it was
    loaded.
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

    load: load the plugin, in a supervised child, and check its schema. strict, silenced: as `schema_rules.check` takes
    them; they matter with `load` alone. Raises CallInterrupted.
    """
    if len(entry.claims) > 1:
        entry._fail(CLASH, discovery.clash(entry.name, entry.claims))
    elif settings.is_disabled(entry.name):
        entry._fail(DISABLED, FerruleError(f"It is disabled by {settings.why_disabled(entry.name)}."))
    elif load:
        _load(entry, strict, silenced)
    else:
        _read_schema(entry)
    return entry


def load_facts(tool: InstalledTool) -> LoadedFacts:
    """Load a plugin in a supervised child, and return what it says of itself. Raises the error with which it failed."""

    def ask(channel: Channel) -> None:
        from ferrule.tool.loader import load

        loaded = load(tool)
        channel.secrets(loaded.secrets())
        credentials = [_facts_of(one) for one in loaded.credentials()]
        channel.result(
            {"schema": loaded.schema(), "credentials": credentials, "results": loaded.result_policy().as_dict()}
        )

    facts = run_supervised(ask)
    if not _are_loaded_facts(facts):
        raise ToolBroken(f"{tool.name} of {tool.source} has written to the host's own channel.")
    return facts


def run_supervised(work: Callable[[Channel], None]) -> object:
    """Do work with plugin code in a child; its result, or the error with which it failed. Raises CallInterrupted."""
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.supervisor import supervise

    with Signals() as signals:
        outcome = supervise(
            work, deadline=time.monotonic() + LOAD_SECONDS, memory=_MEMORY_MIB, size_limit=_MAX_BYTES, signals=signals
        )
        if signals.interrupted:
            raise signals.interrupted
    if outcome.result is None:
        raise _error_of(outcome)
    return strict_json.loads(outcome.result)


def _error_of(outcome: Outcome) -> FerruleError:
    from ferrule.text.redaction import redact

    failure: JSONMapping = outcome.failure or {}
    if os.environ.get("FERRULE_DEBUG"):
        os.write(2, redact(outcome.text, outcome.secrets))
    if failure.get("code") == DeadlinePassed.code:
        hint = "What it does while it is imported belongs into execute."
        details = {"seconds": LOAD_SECONDS}
        return ToolBroken(f"It had not said what it is after {LOAD_SECONDS:.0f} s.", hint=hint, details=details)
    return ToolError.from_facts(failure)


def _facts_of(credential: Credential) -> CredentialFacts:
    facts = {name: getattr(credential, name, None) for name in credential.__slots__}
    if not _is_credential(facts):
        raise ToolBroken(f"A field of {credential!r:.200} is no text.", hint="Give ferrule.Credential texts alone.")
    return facts


def _is_credential(facts: object) -> TypeGuard[CredentialFacts]:
    if not isinstance(facts, dict) or set(facts) != set(CredentialFacts.__annotations__):
        return False
    return all(isinstance(value, bool if name == "secret" else str) for name, value in facts.items())


def _are_loaded_facts(facts: object) -> TypeGuard[LoadedFacts]:
    """Whether they have the form that is expected of them: a plugin can write to any descriptor of its process."""
    if not isinstance(facts, dict) or not isinstance(facts.get("schema"), dict):
        return False
    credentials = facts.get("credentials")
    are_credentials = isinstance(credentials, list) and all(map(_is_credential, credentials))
    return are_credentials and _is_result_policy(facts.get("results"))


def _is_result_policy(results: object) -> bool:
    return (
        isinstance(results, dict)
        and isinstance(results.get("cache_seconds"), int | float)
        and isinstance(results.get("linkable"), bool)
        and all(isinstance(results.get(name), list) for name in ("paging", "environment"))
    )


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
    entry.credentials = facts["credentials"]
    entry.results = facts["results"]
    entry.findings = check(entry.schema, name=entry.name, strict=strict, silenced=silenced)
    try:
        _require_good_schema(entry)
        entry.state = OK
    except FerruleError as error:
        entry._fail(INVALID if isinstance(error, SchemaInvalid) else BROKEN, error)


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
