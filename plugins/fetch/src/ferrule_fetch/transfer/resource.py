"""What the scripts of a page ask for: one exchange, of which a browser wants the status and the headers, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule.http import Client, RequestFailed
from ferrule_fetch.addresses import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule_fetch.transfer.request_policy import RequestPolicy


class ResourceRequest(NamedTuple):
    """A request of a page. headers: in addition to the client's own. content: the body of a POST; None for none.

    is_document: a page of its own, such as one in a frame, of which robots.txt decides.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    is_document: bool = False


class Resource(NamedTuple):
    """An answer of any status. headers: with names in small letters. is_whole: False where the body went on."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool


def exchange(request: ResourceRequest, deadline: float, policy: RequestPolicy, max_bytes: int) -> Resource:
    """Send a request, and follow no redirect: who asks has to ask again, and the next URL is judged as this one.

    Raises ToolError INVALID_URL and NETWORK_ERROR.
    """
    target = check(request.url, policy.guard)
    if policy.server:
        policy.require_server(target)
    try:
        with Client(deadline, headers={"User-Agent": policy.user_agent}, guard=policy.guard) as client:
            if policy.robots and request.is_document:
                from ferrule_fetch.transfer.robots import Robots

                Robots(client, policy).check(target)
            opened = client.open(request.method, target, headers=request.headers, content=request.content)
            with opened as response:
                body = response.read(max_bytes)
                return Resource(response.status, response.headers, body, response.complete)
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: {failed.reason}") from None
