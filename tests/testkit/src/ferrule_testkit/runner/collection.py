"""Plugin of pytest: ten thousand tests are collected without the garbage collector, which would look at them all."""

from __future__ import annotations

import gc


def pytest_configure() -> None:
    """Let nothing be looked for while tests are made, of which every one is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from now on, and never again at the tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
