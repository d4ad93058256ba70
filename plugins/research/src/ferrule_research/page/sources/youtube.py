"""YouTube: what is said in a video, from the captions that its page names, else its description."""

from __future__ import annotations

import json
import re
import time
from html import escape, unescape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from ferrule import Context, ToolError
from ferrule_fetch.library import TooMuch, Wanted, bounded, converted, decoded, elements_of, fetch, without_invisible
from ferrule_research.page.content import Reading
from ferrule_research.page.metadata.authors import organisation
from ferrule_research.page.metadata.bibliography import Facts
from ferrule_research.page.metadata.dates import read_date

if TYPE_CHECKING:
    from collections.abc import Iterator

_SITE = "YouTube"
_RESPONSE = re.compile(r"ytInitialPlayerResponse\"?\]?\s*=\s*(?=\{)")
_END = re.compile(r"</(?:text|p)>")
_LINE = re.compile(r"<(?:text|p)\b([^<>]*)>")
_START = re.compile(r'\b(start|t)="(\d{1,9}(?:\.\d{1,9})?)"')
_TAG = re.compile(r"<[^<>]*>")
_LANGUAGES = ("en", "en-US", "en-GB")
_MOST_BYTES = 4 << 20
_SECONDS = 5.0
_LONGEST = 10**9  # milliseconds, which is eleven days
_PARAGRAPH = 30.0  # seconds of speech


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


def read_video(url: str, context: Context) -> Reading | None:
    """The transcript of a video; None where its page says nothing about one. Raises ToolError."""
    page = fetch(url, context)
    video = _video(decoded(page, html=True), context.deadline)
    if video is None:
        return None
    lines = _transcript(video, url, context)
    facts = Facts(video.title, [organisation(video.author)] if video.author else [], _SITE, read_date(video.date))
    _, text = converted(_as_html(video, lines), url, context.deadline)
    return Reading(url, "youtube", text, facts, quality="complete" if lines else "partial")


def _video(html: str, deadline: float) -> Video | None:
    try:
        found = bounded(lambda: json.dumps(_response(html)), seconds=_SECONDS, deadline=deadline)
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
    return Video(
        title,
        author,
        description,
        str(date or ""),
        [Track(str(one["baseUrl"]), str(one.get("languageCode", "")), str(one.get("kind", ""))) for one in tracks],
    )


def _response(html: str) -> Any:
    for script in elements_of(html, ("script",)):
        if found := _RESPONSE.search(script.text):
            return json.JSONDecoder().raw_decode(script.text, found.end())[0]
    return {}


def _at(value: Any, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _transcript(video: Video, url: str, context: Context) -> list[tuple[float, str]]:
    """The captions of the first track that has any: those of the page, then those that the timed-text API has."""
    until = time.monotonic() + context.remaining() / 2
    for address in _addresses(video, url):  # fetched as any address is, whoever names it
        wanted = Wanted("*/*", lambda _: _MOST_BYTES, lambda declared: declared.may_be_readable)
        try:
            page = fetch(address, context, deadline=until, wanted=wanted, is_page=False)
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


def _seconds(milliseconds: Any) -> float:
    is_time = isinstance(milliseconds, int | float) and 0 <= milliseconds <= _LONGEST
    return milliseconds / 1000 if is_time else 0.0


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
        if start - at >= _PARAGRAPH:
            yield _paragraph(at, said)
            at, said = start, []
        said.append(line)
    yield _paragraph(at, said)


def _paragraph(at: float, said: list[str]) -> str:
    minutes, seconds = divmod(int(at), 60)
    return f"<p>({minutes}:{seconds:02}) {escape(' '.join(said))}</p>"
