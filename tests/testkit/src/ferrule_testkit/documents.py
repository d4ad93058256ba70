"""PDF files for tests, written by hand, so that they hold what a test wants and no more."""

from collections.abc import Mapping, Sequence


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF with one line of text on each page; a page of "" has none. title: ASCII, in its metadata."""
    drawn = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "" for text in pages]
    return drawn_pdf(drawn, f"/Title ({title})" if title else "")


def drawn_pdf(pages: Sequence[str], facts: str = "", links: Mapping[str, Sequence[int]] | None = None) -> bytes:
    """A PDF whose pages, 612 points wide and 792 high, are drawn by these streams. F1 is Helvetica, F2 is
    bold, and F3 has letters of one width.

    facts: the entries of its metadata. links: addresses, and the place of each on every page: left, bottom, right, top.
    """
    kids = " ".join(f"{6 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    notes = "".join(
        f"<< /Type /Annot /Subtype /Link /Rect [{' '.join(map(str, place))}] /A << /S /URI /URI ({address}) >> >>"
        for address, place in (links or {}).items()
    )
    for index, drawn in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> "
            f"/Annots [{notes}] /Contents {7 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< {facts} >>")
    return _file(objects)


def line(text: str, left: float, bottom: float, size: float = 10, font: str = "F1") -> str:
    """The stream that draws a line of text."""
    return f"BT /{font} {size} Tf {left} {bottom} Td ({text}) Tj ET\n"


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
