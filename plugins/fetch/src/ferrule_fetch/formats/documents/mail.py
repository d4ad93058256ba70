"""An e-mail as text: its head, its words, and the names of what is attached to it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ferrule_fetch.formats.documents.archive import DocumentText
from ferrule_fetch.formats.documents.mail_parser import parse_mail
from ferrule_fetch.markdown import convert
from ferrule_fetch.text.charsets import decode

if TYPE_CHECKING:
    from email.message import EmailMessage, MIMEPart

BEGINNING = "[The e-mail goes on: only its beginning was read.]"

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_ATTACHMENTS = 100
_MAX_WORDS_CHARS = 1 << 18  # more than two answers hold


def read_mail(body: bytes, url: str) -> DocumentText:
    """The text of an e-mail. Raises what the module email raises."""
    message, is_whole = parse_mail(body)
    head = {name: " ".join(str(message[name]).split()) for name in _HEADERS if message[name]}
    lines = "<br>".join(f"<b>{name}:</b> {escape(value)}" for name, value in head.items())
    names = [part.get_filename("") for part in message.iter_attachments()][:_MAX_ATTACHMENTS] if head else []
    attached = "".join(f"<li>{escape(' '.join(name.split()) or 'without a name')}</li>" for name in names)
    text, is_all = _read_words(message, url)
    parts = [
        convert(f"<p>{lines}</p>", url).markdown,
        text,
        convert(f"<p>Attached:</p><ul>{attached}</ul>", url).markdown if attached else "",
        "" if is_whole and is_all else BEGINNING,
    ]
    moment = getattr(message["Date"], "datetime", None)
    date = moment.date().isoformat() if moment else ""
    return DocumentText(head.get("Subject", ""), "\n\n".join(filter(None, parts)), _find_sender(message), date)


def _read_words(message: EmailMessage, url: str) -> tuple[str, bool]:
    """What an e-mail says, its HTML or else its plain text, and whether that is all of it."""
    part = message.get_body(("html", "plain"))
    if part is None:
        return "", True
    text = _read_part(part)
    is_all = len(text) <= _MAX_WORDS_CHARS
    text = text[:_MAX_WORDS_CHARS]
    if part.get_content_subtype() == "html":
        return convert(text, url).markdown, is_all
    paragraphs = (escape(paragraph.strip()).replace("\n", "<br>") for paragraph in text.replace("\r", "").split("\n\n"))
    return convert("".join(f"<p>{paragraph}</p>" for paragraph in paragraphs), url).markdown, is_all


def _read_part(part: MIMEPart) -> str:
    """The text of a part, also where its character set is one that nobody knows."""
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError):
        data = part.get_payload(decode=True)
        is_html = part.get_content_subtype() == "html"
        return decode(data, "", html=is_html, complete=True, url="") if isinstance(data, bytes) else ""


def _find_sender(message: EmailMessage) -> str:
    addresses = getattr(message["From"], "addresses", ())
    return "; ".join(address.display_name or address.addr_spec for address in addresses)
