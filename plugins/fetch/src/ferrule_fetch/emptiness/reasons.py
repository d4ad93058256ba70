"""Why a page has no words, and what its reader can do about it, from the tags of the page."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice

from ferrule.text.invisible import without_invisible
from ferrule_fetch.emptiness.walls import asks_consent, is_wall
from ferrule_fetch.hrefs import resolved
from ferrule_fetch.limits.tags import tokens

_MAX_TOKENS = 50_000  # of a page, among which the reason is looked for
_MAX_SAID_CHARS = 300
_MAX_ATTRIBUTE_CHARS = 4_000
_MAX_URL_CHARS = 500
_ELSEWHERE = "look for another source"
_ATTRIBUTE = r"""(?:^|[\s"'/]){}\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'>]+))"""
_REFRESH = re.compile(r"http-equiv\s*=\s*[\"']?refresh\b", re.I)
_CONTENT, _SRC, _TYPE = (re.compile(_ATTRIBUTE.format(name), re.I) for name in ("content", "src", "type"))
_TARGET = re.compile(r"[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.I)
_LEADS_ON = re.compile(
    r"(?:window|document|self|top)?\.?location(?:\.href)?\s*=\s*[\"']([^\"']{1,500})[\"']"
    r"|location\.(?:replace|assign)\(\s*[\"']([^\"']{1,500})[\"']"
)
_MAX_SCRIPT_CHARS = 2_000  # of one that does nothing but lead on


def find_reason(html: str, url: str, title: str, text: str) -> str:
    """Why a page has no words, and what to do, as a clause or two.

    Args:
        html: The page.
        url: Where it was found.
        title: Its title, "" where it has none.
        text: The little that was read of it.

    Returns:
        Such as "it is a form to log in, which this tool cannot do; look for a public page".
    """
    if not html.strip():
        return "the server sent an empty page; the same call may work later"
    if is_wall(text, title, html):
        return f"it lets only browsers pass that run scripts, to keep robots out; {_ELSEWHERE}"
    signs = _Signs(html)
    for href in (signs.refresh, signs.leads_on):
        target = resolved(url, href) if href else None
        if target and target.startswith(("http://", "https://")) and len(target) <= _MAX_URL_CHARS and target != url:
            return f"it only leads on to {target}; fetch that"
    if asks_consent(text):
        return f"it asks for consent to cookies before it shows anything; {_ELSEWHERE}"
    return _reason_by_elements(signs, url)


def _reason_by_elements(signs: _Signs, url: str) -> str:
    if signs.has_password:
        return "it is a form to log in, which this tool cannot do; look for a public page"
    if signs.frame and (target := resolved(url, signs.frame)) and len(target) <= _MAX_URL_CHARS:
        return f"all it has is in frames; fetch {target}"
    if said := signs.said_without_scripts:
        return f'scripts would fill it, and without them it says only "{said}"; {_ELSEWHERE}'
    if signs.has_scripts:
        return f"it is the shell of an app that scripts would fill; {_ELSEWHERE}, such as a feed or an API of the site"
    if signs.has_field:
        return f"all its text stands in a field to be filled in; {_ELSEWHERE}"
    if signs.has_pictures:
        return f"it has pictures alone, which nothing describes; {_ELSEWHERE}"
    return f"nothing on it is text; {_ELSEWHERE}"


class _Signs:
    """What the tags of a page tell of what it is there for."""

    def __init__(self, html: str) -> None:
        self.refresh = self.leads_on = self.frame = ""
        self.has_password = self.has_scripts = self.has_field = self.has_pictures = False
        self._said: list[str] = []
        element, is_without_scripts = "", False
        for name, content in islice(tokens(html), _MAX_TOKENS):
            if name:
                element = name
                is_without_scripts = name == "noscript" or (is_without_scripts and name != "/noscript")
                self._take_tag(name, content[:_MAX_ATTRIBUTE_CHARS])
            elif is_without_scripts:
                self._said.append(unescape(content))
            elif element in ("script", "textarea"):
                self._take_text(element, content)

    @property
    def said_without_scripts(self) -> str:
        """What is said to browsers without scripts, in one line."""
        said = " ".join(without_invisible(" ".join(self._said)).split())
        return f"{said[: _MAX_SAID_CHARS - 1]}…" if len(said) > _MAX_SAID_CHARS else said

    def _take_tag(self, name: str, attributes: str) -> None:
        if name == "meta" and not self.refresh and _REFRESH.search(attributes):
            target = _TARGET.search(_read(_CONTENT, attributes))
            self.refresh = target[1] if target else ""
        elif name == "frame":
            self.frame = self.frame or _read(_SRC, attributes)
        elif name == "input":
            self.has_password = self.has_password or _read(_TYPE, attributes).lower() == "password"
        elif name in ("img", "svg", "canvas", "picture", "video"):
            self.has_pictures = True
        elif name == "script" and _read(_TYPE, attributes).lower() not in ("application/json", "application/ld+json"):
            self.has_scripts = True

    def _take_text(self, element: str, text: str) -> None:
        if element == "textarea":
            self.has_field = self.has_field or bool(text.strip())
        elif len(text) <= _MAX_SCRIPT_CHARS and not self.leads_on and (found := _LEADS_ON.search(text)):
            self.leads_on = found[1] or found[2]


def _read(attribute: re.Pattern[str], attributes: str) -> str:
    found = attribute.search(attributes)
    return unescape(next(filter(None, found.groups()), "")) if found else ""
