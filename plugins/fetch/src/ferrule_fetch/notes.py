"""Notes that stand before the markdown of a page, for its reader."""

from __future__ import annotations

ALL_HIDDEN = "[All text of this page is hidden, or navigation. Both are left out otherwise; here they are shown.]"
"""Of a page that has words only in what is left out otherwise."""

MOST_HIDDEN = "[A browser shows most of this text only once scripts have run.]"
"""Of a page of which a browser shows less."""
