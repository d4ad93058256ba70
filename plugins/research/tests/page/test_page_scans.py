"""A scanned PDF is read where text recognition is installed, and the answer says so."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.documents import drawn_pdf, line
from ferrule_testkit.scans import scan

pytestmark = pytest.mark.process

Scrape = Callable[..., dict[str, Any]]


def test_a_scanned_pdf_is_said_to_be_recognised(server: Server, scrape: Scrape) -> None:
    pytest.importorskip("tesserocr", reason="the extra ocr is not installed")
    body = drawn_pdf([scan(line("The engineers measured the level of the water", 72, 700, 14))])
    answer = scrape(server.page("/scan.pdf", body, "application/pdf"))
    assert "The engineers measured the level of the water" in answer["content"]
    assert (answer["contentType"], answer["extractedBy"], answer["extractionQuality"]) == ("pdf", "ocr", "partial")
