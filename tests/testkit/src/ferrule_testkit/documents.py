"""PDF files for tests, written by hand, so that they hold what a test wants and no more."""

from collections.abc import Sequence


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF with one line of text on each page; a page of "" has none. title: ASCII, in its metadata."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< /Title ({title}) >>" if title else "<< >>")
    return _file(objects)


def _file(objects: Sequence[str]) -> bytes:
    """The file whose first object is its catalogue, and whose last is its metadata."""
    body = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
    xref = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}startxref\n{len(body)}\n%%EOF\n"
    return body + xref.encode()
