"""What readers made of a post on Reddit, as the page's own JSON-LD says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule_research.hosts import host_of, is_on
from ferrule_research.page.metadata.embedded import EmbeddedData, cut, nodes_of, types_of

if TYPE_CHECKING:
    from ferrule import JSONObject

_POSTS = ("DiscussionForumPosting", "SocialMediaPosting")
_FEW_VOTES = 20
_MAX_COUNT = (1 << 53) - 1  # that every client's numbers hold
_MAX_TEXT_BYTES = 200  # of a name or a date
_NOTE = "Fewer than {few} votes: so few are easily bought or cast by friends, and say little about the post."
_LIKES, _COMMENTS = ("LikeAction", "UpvoteAction", "VoteAction"), ("CommentAction", "ReplyAction")


def forum_signals(embedded: EmbeddedData, url: str) -> JSONObject | None:
    """What readers made of a post on Reddit, and a note where they are too few to say anything; None elsewhere."""
    if not is_on(host_of(url), ("reddit.com",)):
        return None
    post = next((node for node in nodes_of(embedded.json_ld) if set(_POSTS).intersection(types_of(node))), None)
    if post is None:
        return None
    upvotes = _count(post, _LIKES, "upvoteCount")
    comments = _count(post, _COMMENTS, "commentCount")
    signals: JSONObject = {"platform": "reddit", "upvotes": upvotes, "comments": comments}
    if isinstance(post.get("datePublished"), str) and post["datePublished"]:
        signals["datePublished"] = cut(post["datePublished"], _MAX_TEXT_BYTES)
    if author := _author(post.get("author")):
        signals["authorName"] = cut(author, _MAX_TEXT_BYTES)
    if upvotes < _FEW_VOTES:
        signals["credibilityNote"] = _NOTE.format(few=_FEW_VOTES)
    return signals


def _count(post: Mapping[str, object], actions: tuple[str, ...], instead: str) -> int:
    statistics = post.get("interactionStatistic")
    for one in statistics if isinstance(statistics, list) else [statistics]:
        if isinstance(one, dict) and set(actions).intersection(_actions(one.get("interactionType"))):
            return _number(one.get("userInteractionCount"))
    return _number(post.get(instead))


def _actions(kind: object) -> list[str]:
    return types_of(kind if isinstance(kind, dict) else {"@type": kind})


def _number(value: object) -> int:
    try:
        return min(max(0, int(value)), _MAX_COUNT) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0


def _author(author: object) -> str:
    if isinstance(author, list):
        author = author[0] if author else None
    name = author.get("name") if isinstance(author, dict) else author
    return name if isinstance(name, str) else ""
