"""A session as markdown. What others wrote stands in it as plain text: none of it is a link, a heading or a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.sessions.shape import show_step

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Session, Source, Step

_SIGNS = re.compile(r"([\\`*_\[\]<>|~&$])")
_FIRST = re.compile(r"^(\d{1,9})([.)])|^([#+=:-])")  # what makes a line a list, a heading, a rule or a table
_AUTOLINK = re.compile(r"(?<=[A-Za-z])(?=://)|(?<=www)(?=\.)|(?<=\S)(?=@)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)", re.I)
_UNSAFE = re.compile(r"[^!#$%&()*+,./0-9:;=?@A-Z_a-z~'-]")  # of an address in angle brackets


def write_parts(session: Session, sources: Sequence[Source]) -> list[str]:
    """The parts of the document: a head, each step, each open question, each source."""
    parts = [_write_head(session, sources)]
    parts += [_write_step(one, session) for one in session["steps"]]
    for number, gap in enumerate(session["gaps"]):
        heading = "## Open questions\n\n" if not number else ""
        parts.append(f"{heading}- {escape_line(gap['description'])} (step {gap['foundInStep']})")
    for number, source in enumerate(sources):
        heading = "## Sources\n\n" if not number else ""
        parts.append(f"{heading}{number + 1}. {_write_source(source)}")
    return parts


def escape_line(text: str) -> str:
    """A text as one line of markdown that shows it as it is.

    >>> escape_line("1. A title](https://evil.example) \\n# and more")
    '1\\\\. A title\\\\](https\\\\://evil.example) # and more'
    """
    line = _SIGNS.sub(r"\\\1", " ".join(text.split()))
    line = _FIRST.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", line)
    return _AUTOLINK.sub(r"\\", line)


def escape_text(text: str) -> str:
    """A text whose lines stay lines, and are nothing but text."""
    return "\\\n".join(filter(None, map(escape_line, text.split("\n"))))


def write_address(url: str) -> str:
    """An address in angle brackets, which nothing in it ends."""
    escaped = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace")), url)
    return f"<{escaped}>"


def _write_head(session: Session, sources: Sequence[Source]) -> str:
    facts = [
        f"- Session: `{session['sessionId']}`",
        f"- Started: {session['startedAt']}",
        *([f"- Completed: {session['completedAt']}"] if "completedAt" in session else []),
        f"- Steps: {len(session['steps'])}; sources: {len(sources)}",
    ]
    goal, *rest = session["researchGoal"].split("\n")
    more = [escape_text("\n".join(rest))] if rest else []
    summary = [escape_text(session["summary"])] if session.get("summary") else []
    return "\n\n".join([f"# {escape_line(goal)}", *more, "\n".join(facts), *summary])


def _write_step(step: Step, session: Session) -> str:
    shown = show_step(step, session)
    marks = [
        f"(revises step {step['revisesStep']})" if "revisesStep" in step else "",
        f"(superseded by step {shown['supersededBy']})" if "supersededBy" in shown else "",
        f"(branch {escape_line(step['branchId'])})" if "branchId" in step else "",
        f"(from step {step['branchFromStep']})" if "branchFromStep" in step else "",
    ]
    parts = [" ".join(filter(None, [f"### Step {step['stepNumber']}", *marks])), escape_text(step["description"])]
    if "reasoning" in step:
        parts.append(f"**Reasoning:** {escape_text(step['reasoning'])}")
    if "confidence" in step:
        parts.append(f"**Confidence:** {step['confidence']}")
    if "rejectedApproaches" in step:
        listed = [f"- {escape_line(one)}" for one in step["rejectedApproaches"]]
        parts.append("**Rejected:**\n\n" + "\n".join(listed))
    return "\n\n".join([*parts, f"**Time:** {step['timestamp']}"])


def _write_source(source: Source) -> str:
    """A link, and what is known of the source."""
    title = escape_line(source.get("title") or source["url"])
    facts = [source.get("author", ""), source.get("journal") or source.get("site", ""), source.get("date", "")]
    facts += [f"DOI {source['doi']}" if "doi" in source else "", source.get("relevance", "")]
    facts += [f"step {source['foundInStep']}" if "foundInStep" in source else ""]
    known = ", ".join([*(escape_line(one) for one in facts if one), *_list_link_facts(source)])
    return f"[{title}]({write_address(source['url'])})" + (f", {known}" if known else "")


def _list_link_facts(source: Source) -> list[str]:
    """What came of asking for the page: `there`, `gone`, or neither, and the copy in an archive."""
    if "verifiedAt" not in source:
        return []
    state = {True: "there", False: "gone", None: "not checked"}[source.get("verified")]
    status = f" (HTTP {source['httpStatus']})" if "httpStatus" in source else " (no answer)"
    copy = [f"[copy]({write_address(source['archivedUrl'])})"] if "archivedUrl" in source else []
    return [f"{state}{status} at {source['verifiedAt']}", *copy]
