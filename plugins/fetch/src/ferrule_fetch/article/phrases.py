"""Short texts that stand inside articles and tell nothing of their subject, in the languages of many sites."""

from __future__ import annotations

NOTICE_LONGEST = 60  # characters
NOTICES = frozenset(
    (
        "ad", "advertisement", "advertising", "anzeige", "article continues below",
        "article continues below advertisement", "comments", "continue reading the main story", "loading...",
        "more on this story", "most popular", "publicidad", "publicidade", "publicité", "pubblicità", "read more",
        "reklama", "related", "related articles", "related stories", "scroll to continue", "share", "share this",
        "skip advertisement", "sponsored", "story continues below", "story continues below advertisement", "tweet",
        "werbung", "реклама", "広告",
    )
)  # fmt: skip
LEAD_LONGEST = 200  # characters of a block that leads to another article
LEADS = (
    "also:", "also read", "categories:", "click here", "don't miss", "don’t miss", "filed under", "follow us",
    "lee también", "leer más", "leggi anche", "leia também", "lesen sie auch", "lire aussi", "mehr zum thema", "more:",
    "must read", "posted in", "read also", "read more", "read next", "read:", "recommended:", "related:", "see also:",
    "sign up", "subscribe", "tags:", "topics:", "watch:", "читайте также",
)  # fmt: skip


def is_notice(text: str) -> bool:
    """Whether a block says only what it is, or that something follows."""
    return len(text) < NOTICE_LONGEST and text.lower().rstrip(":. …") in NOTICES


def leads_away(text: str) -> bool:
    """Whether a block that is mostly a link begins as those do that lead to another article."""
    return len(text) < LEAD_LONGEST and text[:NOTICE_LONGEST].lower().startswith(LEADS)
