"""What is installed, and in which state each tool is. No plugin can keep another one from being listed."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ferrule import configuration, discovery, schemas, strict_json
from ferrule.discovery import InstalledTool
from ferrule.errors import FerruleError, SchemaInvalid, ToolBroken
from ferrule.schema_rules import Finding, check

OK, UNCHECKED, BROKEN, CLASH, INVALID, DISABLED = "ok", "unchecked", "broken", "clash", "invalid", "disabled"

SECONDS = 5.0  # that one plugin gets to be loaded and to say what it is
_LARGEST = 1 << 20
_MEMORY = 1024


class Entry:
    """One tool's name and what is known of it.

    state: `ok`, `unchecked` (nothing of it was loaded), `broken`, `clash`, `invalid` or `disabled`. claims: who offers
    it, more than one where they clash. error: why it is in that state, None where it is well. findings: what the schema
    rules say. schema: None where it is not known. credentials: as `loaded_facts` gives them, where it was loaded.
    """

    def __init__(self, name: str, claims: Sequence[InstalledTool]) -> None:
        self.name = name
        self.claims = list(claims)
        self.state = UNCHECKED
        self.error: FerruleError | None = None
        self.findings: list[Finding] = []
        self.schema: dict[str, Any] | None = None
        self.credentials: list[dict[str, Any]] = []

    @property
    def tool(self) -> InstalledTool:
        """The first claim; the only one unless the state is `clash`."""
        return self.claims[0]

    def as_dict(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "name": self.name,
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


def take(*, load: bool = False, strict: bool = False, silenced: Sequence[str] = ()) -> Iterator[Entry]:
    """Every tool that is installed, by name. With `load`, each plugin is loaded in a supervised child and checked.

    strict, silenced: as `schema_rules.check` takes them; they matter with `load` alone.
    """
    settings = configuration.read()
    for name, claims in sorted(discovery.scan().items()):
        yield examine(Entry(name, claims), settings, load=load, strict=strict, silenced=silenced)


def examine(
    entry: Entry,
    settings: configuration.Configuration,
    *,
    load: bool,
    strict: bool = False,
    silenced: Sequence[str] = (),
) -> Entry:
    """Find out in which state one tool is; never raises for anything that a plugin does."""
    if len(entry.claims) > 1:
        entry._fail(CLASH, discovery.clash(entry.name, entry.claims))
    elif settings.is_disabled(entry.name):
        entry._fail(DISABLED, FerruleError(f"It is disabled by {settings.why_disabled(entry.name)}."))
    elif load:
        _load(entry, strict, silenced)
    else:
        _look(entry)
    return entry


def loaded_facts(tool: InstalledTool) -> dict[str, Any]:
    """What a plugin says of itself when it is loaded, in a supervised child: `{"schema", "credentials"}`.

    Raises the error with which it failed.
    """
    from ferrule.channel import Channel

    def ask(channel: Channel) -> None:
        from ferrule.loading import load

        loaded = load(tool)
        credentials = [{name: getattr(one, name) for name in one.__slots__} for one in loaded.credentials()]
        channel.result({"schema": loaded.schema(), "credentials": credentials})

    facts: dict[str, Any] = supervised(ask)
    return facts


def supervised(work: "Callable[[Any], None]") -> Any:
    """Do work with plugin code in a child; its result, or the error with which it failed."""
    from ferrule.supervisor import supervise

    outcome = supervise(work, deadline=time.monotonic() + SECONDS, memory=_MEMORY, size_limit=_LARGEST)
    if outcome.result is None:
        raise schemas.reported(outcome.failure or {})
    return strict_json.loads(outcome.result)


def _look(entry: Entry) -> None:
    try:
        entry.schema = schemas.static(entry.tool)
    except SchemaInvalid as error:
        entry._fail(INVALID, error)


def _load(entry: Entry, strict: bool, silenced: Sequence[str]) -> None:
    try:
        facts = loaded_facts(entry.tool)
        entry.schema = facts["schema"]
        entry.credentials = facts["credentials"]
        _agree(entry)
    except FerruleError as error:
        entry._fail(INVALID if isinstance(error, SchemaInvalid) else BROKEN, error)
        return
    entry.findings = check(entry.schema, name=entry.name, strict=strict, silenced=silenced)
    errors = [finding for finding in entry.findings if finding.severity == "error"]
    if errors:
        entry._fail(INVALID, schemas.invalid(entry.tool, errors))
    else:
        entry.state = OK


def _agree(entry: Entry) -> None:
    """A client is shown the file, and the hook is what the author tests; they must not differ."""
    static = schemas.static(entry.tool)
    if static is not None and static != entry.schema:
        raise ToolBroken(
            f"The schema.json of {entry.name} is not what its schema hook returns.",
            hint="Return static_schema(__file__) from the hook.",
        )
