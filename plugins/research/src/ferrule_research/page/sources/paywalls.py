"""Pages that are no pages: walls against robots, and shells that only scripts would fill."""

from __future__ import annotations

import re

MOST_TEXT = 2048  # bytes; what has more is a page
LEAST_TEXT = 100  # bytes that a page has to have to be taken for whole
_SHELL = 20  # times the text that the HTML of a shell is
_WORD = re.compile(r"[^\W_]+")
_WAITING = frozenset(["loading", "please wait", "loading please wait", "one moment please"])

# Sentences of the walls' own, in small letters; that a page is about captchas makes it none.
_SENTENCES = (
    "attention required! | cloudflare",
    "checking if the site connection is secure",
    "checking your browser before accessing",
    "verifying you are human. this may take a few seconds",
    "verify you are human by completing the action below",
    "needs to review the security of your connection before proceeding",
    "enable javascript and cookies to continue",
    "please enable cookies and reload the page",
    "access to this page has been denied because we believe you are using automation",
    "press & hold to confirm you are a human",
    "press and hold to confirm you are a human",
    "pardon our interruption",
    "request unsuccessful. incapsula incident id",
    "our systems have detected unusual traffic from your computer network",
    "please complete the security check to access",
    "to continue, please type the characters you see in the image",
    "enter the characters you see below",
    "you've been blocked by network security",
    "ddos protection by",
    "making sure you're not a bot",
)
_IN_SOURCE = ("window._cf_chl_opt", "captcha-delivery.com/", "_incapsula_resource?")  # 23 marks together
_SCRIPTS_WANTED = (
    "you need to enable javascript to run this app",
    "javascript is required to",
    "please enable javascript",
)


def is_wall(text: str, title: str, html: str) -> bool:
    """Whether a page is there to keep robots out."""
    if len(text.encode()) > MOST_TEXT:
        return False
    spoken = " ".join(f"{title} {text}".lower().replace("’", "'").replace("\\", "").split())
    source = html[:200_000].lower()
    return any(mark in spoken for mark in _SENTENCES) or any(mark in source for mark in _IN_SOURCE)


def is_shell(text: str, html: str) -> bool:
    """Whether there is so little text in so much HTML that scripts have to bring the rest."""
    size = len(text.encode())
    if size > MOST_TEXT:
        return False
    return _waits_for_scripts(text) or len(html.encode()) >= _SHELL * max(1, size)


def is_empty(text: str, html: str) -> bool:
    """Whether there is nothing to be read, or only the wish that scripts might run.

    Whatever else there is may be all that the page has to say, however much HTML is around it.
    """
    size = len(text.strip().encode())
    return size == 0 or (size < LEAST_TEXT and is_shell(text, html) and _waits_for_scripts(text))


def _waits_for_scripts(text: str) -> bool:
    spoken = text.lower()
    words = " ".join(_WORD.findall(spoken))
    return words in _WAITING or (len(spoken) <= 2 * LEAST_TEXT and any(mark in spoken for mark in _SCRIPTS_WANTED))
