"""One exchange with the server of batches: what goes there is large, and so is what comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferrule_ask.models.dialogue import Response
from ferrule_ask.request import auth, errors
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from ferrule_ask.keys import Keys
    from ferrule_ask.models.batch_api import Sent
    from ferrule_ask.request.transport import Transport
    from ferrule_ask.settings import Settings

_MAX_SECONDS = 600.0
_MAX_BYTES = 1 << 30


async def exchange(transport: Transport, keys: Keys, settings: Settings, sent: Sent) -> Response:
    """Send, and read the whole response. Raises CallFailed, also for a status other than 200."""
    import httpcore

    provider = settings.provider
    named = provider.base_url_variable
    key = auth.secret(keys, provider)
    target, pool = transport.connect(sent.url, named)
    if target.userinfo:
        raise CallFailed(
            "INVALID_REQUEST", f"Batches need {named} without a login. Ask without --batch.", was_sent=False
        )
    own = {"host": target.authority, "content-type": sent.content_type, "accept-encoding": "identity"}
    headers = list({**auth.headers(settings, key), **own, "accept": "*/*"}.items())
    there = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.target)
    method = "GET" if sent.body is None else "POST"
    try:
        async with (
            asyncio.timeout(_MAX_SECONDS),
            pool.stream(method, there, headers=headers, content=sent.body) as response,
        ):
            head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            found = Response(response.status, head, await _body(response))
    except TimeoutError:
        raise errors.too_late(_MAX_SECONDS) from None
    except CallFailed:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of a library ends one exchange, and no more
        sentence = f"The connection failed ({type(error).__name__}). Look at the network, and at {named}."
        is_sent = not isinstance(error, httpcore.ConnectError | httpcore.ProxyError)
        raise CallFailed("NETWORK_ERROR", sentence, may_repeat=True, was_sent=is_sent) from None
    if found.status != 200:
        raise errors.refusal(found, key, provider)
    return found


async def _body(response: object) -> bytes:
    import httpcore

    assert isinstance(response, httpcore.Response)  # noqa: S101 - its type costs an import
    pieces, size = [], 0
    async for piece in response.aiter_stream():
        size += len(piece)
        if size > _MAX_BYTES:
            raise CallFailed("API_ERROR", "The results of a batch are larger than 1 GiB. Ask fewer rows at once.")
        pieces.append(piece)
    return b"".join(pieces)
