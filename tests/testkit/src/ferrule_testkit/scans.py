"""PDF files as scanners make them: each page is a picture, drawn by PDFium from a page with letters."""

import zlib

import pypdfium2

from ferrule_testkit.documents import drawn_pdf

_PIXELS_PER_POINT = 200 / 72


def scan(drawn: str) -> str:
    """The stream of a page that is a picture of the page which another stream draws."""
    page = pypdfium2.PdfDocument(drawn_pdf([drawn]))[0]
    image = page.render(scale=_PIXELS_PER_POINT, grayscale=True)
    pixels = bytes(image.buffer)
    rows = (pixels[at * image.stride :][: image.width] for at in range(image.height))
    packed = zlib.compress(b"".join(rows)).hex()
    return f"q 612 0 0 792 0 0 cm BI /W {image.width} /H {image.height} /CS /G /BPC 8 /F [/AHx /Fl] ID {packed}> EI Q"
