"""What a cleaned page becomes."""

from collections.abc import Callable

import pytest

from ferrule_fetch.markdown import convert

URL = "https://site.example/guide/page.html"
Write = Callable[[str], str]


def _write(html: str) -> str:
    return convert(html, URL).markdown


@pytest.fixture
def write() -> Write:
    """The markdown of a page."""
    return _write


@pytest.fixture
def shown() -> Write:
    """The markdown of a page."""
    return _write


@pytest.fixture(autouse=True)
def _environment() -> None:
    """None of its own, which each of a thousand tests would make: no setting reaches what they call."""
