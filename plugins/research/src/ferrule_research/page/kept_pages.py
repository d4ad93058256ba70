"""Pages that were read whole, kept for all tools that read pages: what one has read, another one need not fetch.

They are kept where the wrapper `cache` is on for the tool, as long as it keeps answers of `scrape_page`, and on the
Redis server that it uses. A page is found again for the same address, by a tool with the same rights and settings.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule import WrapperContext
from ferrule_research.page.page_record import SHAPE, read_content, write_content

if TYPE_CHECKING:
    from typing import Self

    from ferrule import Context
    from ferrule.storage import ExpiringFiles, ExpiringRedis
    from ferrule_research.page.content import PageContent

CACHE = "cache"
DEFAULT_SECONDS = 1800.0
"""For which answers of `scrape_page` are kept, where the admin has not decided otherwise."""

_OWNER = "scrape_page"  # whose time counts
_FOLDER = "pages"
_PREFIX = f"ferrule:pages:{SHAPE}:"
_TOTAL_BYTES, _MAX_BYTES = 64 << 20, 8 << 20
_REDIS_SECONDS = 0.25
_MAX_SECONDS = 1e9  # and no file has a time that lies further ahead
_CLOCK_SLACK_SECONDS = 1.0  # by which the clock may step back
_KEEP_SECONDS = 2.5  # that it takes where another process writes, which must not cost a page that was read
_COMPLETE = "complete"
_SETTINGS = {  # what decides which servers may be asked, how they are, and how what they send is read
    "allow": "FERRULE_FETCH_ALLOW",
    "user_agent": "FERRULE_FETCH_USER_AGENT",
    "robots": "FERRULE_FETCH_ROBOTS",
    "content": "FERRULE_FETCH_CONTENT",
    "parser": "FERRULE_FETCH_PARSER",
    "hn_endpoint": "FERRULE_HN_ENDPOINT",
    "browser": "FERRULE_BROWSER",
    "browser_use": "FERRULE_BROWSER_USE",
}


class KeptPage(NamedTuple):
    """A page that was read before. seconds: how long ago."""

    content: PageContent
    seconds: float


class KeptPages:
    """The pages that a call may find and leave, see `of`. A place that cannot be used is one in which nothing is."""

    def __init__(self, context: WrapperContext, seconds: float) -> None:
        self._context = context
        self._seconds = seconds

    @classmethod
    def of(cls, context: Context) -> Self | None:
        """Those of a call; None where its answers are not kept, and so no page is."""
        if not isinstance(context, WrapperContext) or CACHE not in context.notes:
            return None  # the wrapper notes what it has found before the tool is asked
        seconds = _read_seconds(context.wrapper(CACHE))
        return cls(context, seconds) if seconds > 0 else None

    def find(self, url: str) -> KeptPage | None:
        """The page of an address that may be asked for; None where it was not read lately."""
        from ferrule.storage import StorageError

        try:
            with closing(self._open()) as pages:
                found = pages.get(self._key(url))
        except (StorageError, OSError, ValueError):
            return None
        record = read_content(found) if found else None
        if record is None:
            return None
        seconds = time.time() - record.instant
        is_fresh = -_CLOCK_SLACK_SECONDS < seconds < self._seconds
        return KeptPage(record.content, max(0.0, seconds)) if is_fresh else None

    def keep(self, url: str, content: PageContent) -> None:
        """Keep a page, unless the next call may read more of it, or this one has no time to wait for the others."""
        if content.quality != _COMPLETE or content.browser_failure or self._context.remaining() < _KEEP_SECONDS:
            return
        from ferrule.storage import StorageError

        try:
            with closing(self._open()) as pages:
                pages.put(self._key(url), write_content(content, time.time()), self._seconds)
        except (StorageError, OSError, ValueError):
            return

    def _key(self, url: str) -> str:
        """A hash of all that decides what the page is, and who may have it. Raises ValueError for what is no JSON."""
        from importlib.metadata import version

        from ferrule.text import strict_json
        from ferrule.text.sha256 import sha256_hex

        versions = [version(name) for name in ("ferrule", "ferrule-fetch", "ferrule-research")]
        settings = {name: self._context.setting(name, variable) for name, variable in _SETTINGS.items()}
        rights = self._context.identity()["settings"].get("permissions")
        facts = {"shape": SHAPE, "url": url, "versions": versions, "settings": settings, "rights": rights}
        return sha256_hex(strict_json.canonical(facts))

    def _open(self) -> ExpiringFiles | ExpiringRedis:
        from ferrule.storage import ExpiringFiles, ExpiringRedis, RedisConnection, known_outage, state_folder

        url = self._context.wrapper_setting(CACHE, "redis", "FERRULE_REDIS")
        if isinstance(url, str) and url and not known_outage(url):
            return ExpiringRedis(RedisConnection(url, _REDIS_SECONDS), _PREFIX, max_bytes=_MAX_BYTES)
        folder = str(Path(state_folder()) / _FOLDER)
        name = "the folder of kept pages"
        return ExpiringFiles(folder, name=name, total_bytes=_TOTAL_BYTES, max_bytes=_MAX_BYTES, has_ledger=True)


def _read_seconds(table: object) -> float:
    """How long the admin has answers of `scrape_page` kept; 0 where that is no time, as the cache takes it."""
    for name in ("tools", _OWNER):
        table = table.get(name) if isinstance(table, dict) else None
    seconds = table.get("seconds") if isinstance(table, dict) else None
    if seconds is None:
        return DEFAULT_SECONDS
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return float(seconds) if is_number and 0 <= seconds < _MAX_SECONDS else 0.0
