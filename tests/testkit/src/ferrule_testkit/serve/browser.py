"""A real browser for tests: Debian's Chromium without a window, by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

PROGRAM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; until it ends, nothing else in this thread can have an event loop."""
    options = ["--no-sandbox"] if os.geteuid() == 0 else []  # which refuses to run as root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=options)
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """One page in a context of its own. complaints: what the console has of errors and warnings."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self._context = browser.new_context(**options)
        self.page: Page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)
