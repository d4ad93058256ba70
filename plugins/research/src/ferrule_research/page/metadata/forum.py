"""What readers made of a post on Reddit, as the page's own JSON-LD says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_research.page.metadata.embedded import Source, cut, nodes_of, types_of
from ferrule_research.page.metadata.hosts import host_of, is_on

if TYPE_CHECKING:
    from collections.abc import Mapping

_POSTS = ("DiscussionForumPosting", "SocialMediaPosting")
_FEW = 20  # votes
_MOST = (1 << 53) - 1  # that every client's numbers hold
_MOST_BYTES = 200  # of a name or a date
_NOTE = "Fewer than {few} votes: so few are easily bought or cast by friends, and say little about the post."
_LIKES, _COMMENTS = ("LikeAction", "UpvoteAction", "VoteAction"), ("CommentAction", "ReplyAction")


def forum_signals(source: Source, url: str) -> dict[str, Any] | None:
    """`{"platform", "upvotes", "comments", "datePublished"?, "authorName"?, "credibilityNote"?}`; None elsewhere."""
    if not is_on(host_of(url), ("reddit.com",)):
        return None
    post = next((node for node in nodes_of(source.json_ld) if set(_POSTS).intersection(types_of(node))), None)
    if post is None:
        return None
    upvotes = _count(post, _LIKES, "upvoteCount")
    comments = _count(post, _COMMENTS, "commentCount")
    signals: dict[str, Any] = {"platform": "reddit", "upvotes": upvotes, "comments": comments}
    if isinstance(post.get("datePublished"), str) and post["datePublished"]:
        signals["datePublished"] = cut(post["datePublished"], _MOST_BYTES)
    if author := _author(post.get("author")):
        signals["authorName"] = cut(author, _MOST_BYTES)
    if upvotes < _FEW:
        signals["credibilityNote"] = _NOTE.format(few=_FEW)
    return signals


def _count(post: Mapping[str, Any], actions: tuple[str, ...], instead: str) -> int:
    statistics = post.get("interactionStatistic")
    for one in statistics if isinstance(statistics, list) else [statistics]:
        if isinstance(one, dict) and set(actions).intersection(_actions(one.get("interactionType"))):
            return _number(one.get("userInteractionCount"))
    return _number(post.get(instead))


def _actions(kind: Any) -> list[str]:
    return types_of(kind if isinstance(kind, dict) else {"@type": kind})


def _number(value: Any) -> int:
    try:
        return min(max(0, int(value)), _MOST)
    except (TypeError, ValueError, OverflowError):
        return 0


def _author(author: Any) -> str:
    if isinstance(author, list):
        author = author[0] if author else None
    name = author.get("name") if isinstance(author, dict) else author
    return name if isinstance(name, str) else ""
