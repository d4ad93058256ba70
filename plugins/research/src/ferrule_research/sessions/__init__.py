"""Public: sessions of research, which say step by step what was thought, and where what was found is from.

    from ferrule_research.sessions import record_sources

    why = record_sources(arguments.get("sessionId", ""), [{"url": "https://…", "title": "…", "relevance": "academic"}])

A tool of another distribution imports this where it is installed, and does without it where it is not. It declares
`"state": ["sessions"]` in the permissions of its tool.json.

- `record_sources(session, sources)`: adds what a tool has found; "" where it is kept, else why not, as a clause.
- `record_outcomes(session, outcomes)`: adds how attempts have ended.
- `read_session(session)`: a session as it is kept, for documents made of it. Raises ToolError SESSION_NOT_FOUND.
- `Source`: the fields that a source may have; `url` alone is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Outcome, Session, Source, Step
    from ferrule_research.sessions.record import record_outcomes, record_sources
    from ferrule_research.sessions.store import read_session

__all__ = ["Outcome", "Session", "Source", "Step", "read_session", "record_outcomes", "record_sources"]

__getattr__ = attach(
    __name__,
    {
        "Outcome": "ferrule_research.sessions.model",
        "Session": "ferrule_research.sessions.model",
        "Source": "ferrule_research.sessions.model",
        "Step": "ferrule_research.sessions.model",
        "read_session": "ferrule_research.sessions.store",
        "record_outcomes": "ferrule_research.sessions.record",
        "record_sources": "ferrule_research.sessions.record",
    },
)
