"""A browser without a window, for pages that scripts write: the admin names the program, and it has no network.

`program` starts and ends it, `connection` speaks with it over two pipes, `requests` answers what its pages ask for:
each by the client that fetches pages, with its guard. `rendition` waits until a page is written, and reads it.
"""

from __future__ import annotations
