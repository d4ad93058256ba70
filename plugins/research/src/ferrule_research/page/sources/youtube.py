"""YouTube: what is said in a video, from the captions that its page names, else its description."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from ferrule import Context, JSONObject, ToolError
from ferrule_fetch.library import (
    FetchOptions,
    TooMuch,
    bounded,
    convert_page,
    decode_page,
    elements_of,
    fetch,
    without_invisible,
)
from ferrule_research.page.content import PageContent
from ferrule_research.page.metadata.authors import parse_organisation
from ferrule_research.page.metadata.bibliography import Bibliography
from ferrule_research.page.metadata.dates import read_date

_SITE = "YouTube"
_RESPONSE = re.compile(r"ytInitialPlayerResponse\"?\]?\s*=\s*(?=\{)")
_END = re.compile(r"</(?:text|p)>")
_LINE = re.compile(r"<(?:text|p)\b([^<>]*)>")
_START = re.compile(r'\b(start|t)="(\d{1,9}(?:\.\d{1,9})?)"')
_TAG = re.compile(r"<[^<>]*>")
_LANGUAGES = ("en", "en-US", "en-GB")
_MAX_BYTES = 4 << 20
_MAX_SECONDS = 5.0
_MAX_MILLISECONDS = 10**9  # eleven days
_PARAGRAPH_SECONDS = 30.0


class Track(NamedTuple):
    """Captions. kind: "asr" where a machine heard them."""

    url: str
    language: str
    kind: str


class Video(NamedTuple):
    """What the player's response says of a video."""

    title: str
    author: str
    description: str
    date: str
    tracks: list[Track]


def read_video(url: str, context: Context) -> PageContent | None:
    """The transcript of a video; None where its page says nothing about one. Raises ToolError."""
    page = fetch(url, context)
    video = _video(decode_page(page, html=True), context.deadline)
    if video is None:
        return None
    lines = _transcript(video, url, context)
    authors = [parse_organisation(video.author)] if video.author else []
    bibliography = Bibliography(video.title, authors, _SITE, read_date(video.date))
    text = convert_page(_as_html(video, lines), url, context.deadline).markdown
    return PageContent(url, "youtube", text, bibliography, quality="complete" if lines else "partial")


def _video(html: str, deadline: float) -> Video | None:
    try:
        found = bounded(lambda: json.dumps(_response(html)), seconds=_MAX_SECONDS, deadline=deadline)
    except TooMuch:
        return None
    response = json.loads(found)
    details = _at(response, "videoDetails")
    if not details:
        return None
    renderer = _at(response, "captions", "playerCaptionsTracklistRenderer")
    named = renderer.get("captionTracks")
    tracks = [one for one in named if isinstance(one, dict) and one.get("baseUrl")] if isinstance(named, list) else []
    date = _at(response, "microformat", "playerMicroformatRenderer").get("publishDate")
    names = ("title", "author", "shortDescription")
    title, author, description = (without_invisible(str(details.get(name) or "")) for name in names)
    named = [Track(str(one["baseUrl"]), str(one.get("languageCode", "")), str(one.get("kind", ""))) for one in tracks]
    return Video(title, author, description, str(date or ""), named)


def _response(html: str) -> object:
    for script in elements_of(html, ("script",)):
        if found := _RESPONSE.search(script.text):
            return json.JSONDecoder().raw_decode(script.text, found.end())[0]
    return {}


def _at(value: object, *names: str) -> JSONObject:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _transcript(video: Video, url: str, context: Context) -> list[tuple[float, str]]:
    """The captions of the first track that has any: those of the page, then those that the timed-text API has."""
    until = time.monotonic() + context.remaining() / 2
    for address in _addresses(video, url):  # fetched under the guards of any address
        options = FetchOptions("*/*", lambda _: _MAX_BYTES)
        try:
            page = fetch(address, context, deadline=until, options=options, is_page=False)
        except ToolError:
            continue
        if lines := _lines(page.body):
            return lines
    return []


def _addresses(video: Video, url: str) -> Iterator[str]:
    best = sorted(video.tracks, key=_rank)
    for track in best[:2]:
        address = _joined(url, track.url)
        yield address if "fmt=" in address else f"{address}{'&' if '?' in address else '?'}fmt=json3"
    number = parse_qs(urlsplit(url).query)["v"][0]
    for language in _LANGUAGES:
        yield urljoin(url, "/api/timedtext?" + urlencode({"v": number, "lang": language, "fmt": "json3"}))


def _joined(url: str, address: str) -> str:
    try:
        return urljoin(url, address)
    except ValueError:
        return address  # which is no address, and refused as such


def _rank(track: Track) -> tuple[bool, bool]:
    """English before others, what people wrote before what a machine heard."""
    return track.language.partition("-")[0] != "en", track.kind == "asr"


def _lines(body: bytes) -> list[tuple[float, str]]:
    """The lines of captions with the seconds at which they begin, of either format."""
    try:
        events = json.loads(body).get("events")
    except (ValueError, RecursionError, AttributeError):
        return list(_lines_of_xml(body.decode(errors="replace")))
    lines = []
    for event in events if isinstance(events, list) else []:
        pieces = event.get("segs") if isinstance(event, dict) else None
        whole = pieces if isinstance(pieces, list) else []
        said = "".join(str(one.get("utf8", "")) for one in whole if isinstance(one, dict))
        if said.strip():
            lines.append((_seconds(event.get("tStartMs")), " ".join(said.split())))
    return lines


def _seconds(milliseconds: object) -> float:
    if isinstance(milliseconds, int | float) and 0 <= milliseconds <= _MAX_MILLISECONDS:
        return milliseconds / 1000
    return 0.0


def _lines_of_xml(text: str) -> Iterator[tuple[float, str]]:
    for piece in _END.split(text):
        found = _LINE.search(piece)
        start = _START.search(found[1]) if found else None
        said = " ".join(unescape(unescape(_TAG.sub("", piece[found.end() :]))).split()) if found else ""
        if said:
            seconds = float(start[2]) if start else 0.0
            yield (seconds / 1000 if start and start[1] == "t" else seconds), said


def _as_html(video: Video, lines: list[tuple[float, str]]) -> str:
    head = f"<h1>{escape(video.title)}</h1><p>{escape(video.author)}</p>"
    if not lines:
        description = escape(video.description).replace("\n", "<br>")
        return f"{head}<h2>Description</h2><p>{description}</p>" if video.description else head
    return f"{head}<h2>Transcript</h2>" + "".join(_paragraphs(lines))


def _paragraphs(lines: list[tuple[float, str]]) -> Iterator[str]:
    """Half a minute of speech each, with the time at which it begins."""
    at, said = lines[0][0], [lines[0][1]]
    for start, line in lines[1:]:
        if start - at >= _PARAGRAPH_SECONDS:
            yield _paragraph(at, said)
            at, said = start, []
        said.append(line)
    yield _paragraph(at, said)


def _paragraph(at: float, said: list[str]) -> str:
    minutes, seconds = divmod(int(at), 60)
    return f"<p>({minutes}:{seconds:02}) {escape(' '.join(said))}</p>"
