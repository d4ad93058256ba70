"""The tools of a server, page by page, until the list is whole and does not change any more."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.stdio.session import Session

_MAX_PAGES, _MAX_TOOLS = 200, 5_000
_QUIET_SECONDS = 0.05  # after which a server that has said that its list changed has said all that belongs to it
_MAX_LISTS = 4  # that are read, where the list changes each time


def read_tools(session: Session) -> tuple[list[JSONObject], list[str]]:
    """All tools as the server describes them, and a sentence for each thing that was wrong with its list.

    Raises ToolError, and ServerError.
    """
    for _ in range(_MAX_LISTS):
        session.is_list_changed = False
        tools, findings = _read_pages(session)
        session.await_messages(_QUIET_SECONDS)
        if not session.is_list_changed:
            return tools, findings
    return tools, [*findings, f"It says that its tools have changed whenever they are listed ({_MAX_LISTS} times)."]


def _read_pages(session: Session) -> tuple[list[JSONObject], list[str]]:
    tools: list[JSONObject] = []
    findings: list[str] = []
    cursor: str | None = None
    cursors: set[str | None] = set()
    while cursor not in cursors:
        cursors.add(cursor)
        page = session.list_page(cursor)
        listed, cursor = page.get("tools"), page.get("nextCursor")
        found = [one for one in listed if _is_tool(one)] if isinstance(listed, list) else []
        if not isinstance(listed, list) or len(found) < len(listed):
            findings.append("A page of its list has entries that are no tools; they are left out.")
        tools += found
        if not isinstance(cursor, str) or not cursor:
            return _drop_repeated(tools, findings)
        if len(tools) > _MAX_TOOLS or len(cursors) >= _MAX_PAGES:
            findings.append(
                f"Its list goes on after {len(tools):,} tools on {len(cursors)} pages; the rest is left out."
            )
            return _drop_repeated(tools[:_MAX_TOOLS], findings)
    findings.append("Its list begins again before it has ended: a page names one that was read already.")
    return _drop_repeated(tools, findings)


def _drop_repeated(tools: list[JSONObject], findings: list[str]) -> tuple[list[JSONObject], list[str]]:
    unique: dict[str, JSONObject] = {}
    for tool in tools:
        unique.setdefault(tool["name"], tool)
    if len(unique) < len(tools):
        findings.append(f"It lists {len(tools) - len(unique)} tools twice; the first of each name counts.")
    return list(unique.values()), list(dict.fromkeys(findings))


def _is_tool(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and bool(value["name"])
