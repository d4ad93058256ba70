"""Which credentials a tool may be told: those that it has named as data, before its code runs for a call.

They are those of the key `credentials` in `tool.json`. Where no file has it, they are those that the hook names, which
is asked once, in a process that is held and has no secrets, and recorded. What the process of a call says is never
taken for it: there the plugin's code can say anything.
"""

from __future__ import annotations

import time

from ferrule.plugin.hooks.credentials import Credential
from ferrule.text import strict_json
from ferrule.trust.credentials import declared_keys
from ferrule.trust.credentials.declared_keys import KEY
from ferrule.trust.credentials.installation_times import is_editable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping
    from ferrule.trust.credentials.claims import Claim

_MAX_BYTES = 1 << 18
_HOOK_SECONDS = 10.0
_OTHERS_SECONDS = 5.0  # for the hooks of a distribution whose tools are not being called


def find_declared(tool: InstalledTool) -> list[Credential] | None:
    """The credentials of a tool, without running its code; None where they are not known.

    A declaration that cannot be read names none.
    """
    listed = declared_keys.find_listed(tool)
    return None if listed is None else credentials_in(listed)


def require_declared(tool: InstalledTool, asked: Sequence[Credential]) -> list[Credential]:
    """The credentials of a tool, for which its hook is asked where they are not known.

    asked: those that the process of a call wants. Raises FerruleError where the plugin fails.
    """
    known = find_declared(tool)
    is_whole = known is not None and all(one.is_one_of(known) for one in asked)
    if known is None or not (is_whole or declared_keys.listed_in_files(tool) is not None or not is_editable(tool)):
        known = _ask_hook(tool)
        record_declared(tool, known)
    return known


def ask_new_version(tool: InstalledTool) -> None:
    """Have the hook of a tool asked that may declare more than the version which was accepted. Runs at most once."""
    from ferrule.errors import FerruleError

    if not declared_keys.has_open_hook(tool):
        return
    try:
        require_declared(tool, ())
    except FerruleError:  # with which a call fails, too
        declared_keys.record(tool, None)


def ask_others(tool: InstalledTool) -> list[tuple[InstalledTool, list[Credential]]]:
    """What the hooks of other distributions' tools declare that have not been asked yet. It is recorded.

    One that fails is not asked again before its code is another one.
    """
    from ferrule import discovery
    from ferrule.config import configuration
    from ferrule.trust import granted

    settings = configuration.read()
    open_hooks: dict[tuple[str, ...], list[InstalledTool]] = {}  # by distribution, and what its processes may see
    looked: dict[str, bool] = {}
    for other in (one for claims in discovery.scan().values() for one in claims):
        if other.distribution != tool.distribution and declared_keys.has_open_hook(other, looked):
            open_hooks.setdefault((other.source, *granted(other, settings).environment), []).append(other)
    found = []
    for others in open_hooks.values():
        for other, declared in _ask_distribution(others):
            if declared is None:
                declared_keys.record(other, None)
            else:
                record_declared(other, declared)
                found.append((other, declared))
    return found


def _ask_distribution(tools: Sequence[InstalledTool]) -> Iterator[tuple[InstalledTool, list[Credential] | None]]:
    """What the hooks of one distribution's tools declare, None where one fails.

    One process asks all of them: they share their credentials anyway. Where one of them ends it, each gets its own.
    """
    from ferrule.errors import FerruleError

    try:
        yield from zip(tools, _ask_hooks(tools), strict=True)
    except FerruleError:
        for tool in tools if len(tools) > 1 else ():
            yield from _ask_distribution([tool])
        if len(tools) == 1:
            yield tools[0], None


def record_ownership(tool: InstalledTool, known: Sequence[Credential]) -> list[Claim]:
    """Keep whose the credentials of a tool are, once all that was installed before is known; its claims.

    known: what it declares, see `find_declared`.
    """
    from ferrule.trust import records
    from ferrule.trust.credentials import claims as credential_claims

    others = ask_others(tool) if known and not credential_claims.is_settled(tool, known) else None
    return credential_claims.record(tool, known, others, records.find_withheld(tool))


def record_declared(tool: InstalledTool, credentials: Sequence[Credential]) -> None:
    """Keep what the hook of a tool has named. A state folder that cannot be written to holds nothing up."""
    declared_keys.record(tool, [one.as_dict() for one in credentials])


def credentials_in(listed: object) -> list[Credential]:
    """The credentials that a list of objects holds, without what is none."""
    found = (credential_of(one) for one in listed) if isinstance(listed, list) else ()
    return [one for one in found if one is not None]


def credential_of(facts: object) -> Credential | None:
    """The credential that an object describes, with `name`, `environment` and `path`; None where it describes none."""
    texts = {name: facts.get(name) for name in ("name", "environment", "path")} if isinstance(facts, dict) else {}
    if not isinstance(facts, dict) or not all(_is_name(text) for text in texts.values()):
        return None
    described = {name: text for name in ("url", "description") if isinstance(text := facts.get(name), str)}
    switches = {name: facts.get(name) is not False for name in ("secret", "required")}
    return Credential(**texts, **described, **switches)  # type: ignore[arg-type] # texts


def is_configured(tool: InstalledTool, settings: Configuration, environ: Mapping[str, str]) -> bool | None:
    """Whether all is set that a tool declares to need: its credentials, and its settings.

    None where that is not known without running its code, which can also say what is wrong.
    """
    from ferrule.errors import FerruleError
    from ferrule.plugin.hooks.credential_values import LocalValues
    from ferrule.trust.credentials import claims as credential_claims

    known = find_declared(tool)
    if known is None or credential_claims.refusals(credential_claims.find_claims(tool, known)):
        return None
    values, table = LocalValues(environ), settings.tool(tool.name)
    try:
        is_set = all(values.find(one) is not None for one in known if one.required)
    except FerruleError:
        return None
    needs = declared_keys.nearest(tool, "settings")
    needed = [one for one in needs if isinstance(one, dict)] if isinstance(needs, list) else []
    return is_set and all(_is_setting_set(one, table, environ) for one in needed)


def _is_setting_set(need: JSONMapping, table: JSONMapping, environ: Mapping[str, str]) -> bool:
    return bool(environ.get(str(need.get("variable")), "").strip() or table.get(str(need.get("setting"))))


def _ask_hook(tool: InstalledTool) -> list[Credential]:
    """What the hook of a tool declares. Raises FerruleError where it fails."""
    return credentials_in(_ask([tool], lambda: _listed_by(tool), _HOOK_SECONDS))


def _ask_hooks(tools: Sequence[InstalledTool]) -> list[list[Credential] | None]:
    """What the hooks of several tools declare, None where one fails. Raises FerruleError where their process does."""

    def listed_by(tool: InstalledTool) -> object:
        try:
            return _listed_by(tool)
        except Exception:  # noqa: BLE001 - whatever a plugin raises, the others are asked
            return None

    answers = _ask(tools, lambda: [listed_by(tool) for tool in tools], _OTHERS_SECONDS)
    known = answers if isinstance(answers, list) and len(answers) == len(tools) else [None] * len(tools)
    return [None if one is None else credentials_in(one) for one in known]


def _listed_by(tool: InstalledTool) -> object:
    from ferrule.plugin.loader import load

    return [one.as_dict() for one in load(tool).credentials()]


def _ask(tools: Sequence[InstalledTool], answer: Callable[[], object], seconds: float) -> object:
    """What a function returns in a process that is held as for loading the first tool, and can load them all."""
    from ferrule.config import configuration
    from ferrule.errors import ToolError
    from ferrule.supervision.supervisor import supervise
    from ferrule.trust.load_policy import policy_for_loading

    settings = configuration.read()
    outcome = supervise(
        lambda channel: channel.result({KEY: answer()}),
        deadline=time.monotonic() + seconds,
        memory=settings.loading_memory(*(one.name for one in tools)),
        size_limit=_MAX_BYTES,
        policy=policy_for_loading(tools[0], settings, has_keys=False),
    )
    if outcome.result is None:
        raise ToolError.from_facts(outcome.failure or {})
    found: object = strict_json.loads_object(outcome.result).get(KEY)
    return found


def _is_name(text: object) -> bool:
    return isinstance(text, str) and bool(text) and "\0" not in text and "=" not in text
