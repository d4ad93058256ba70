"""One exchange with the server of batches: what goes there is large, and so is what comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferrule_ask.request import auth, errors

if TYPE_CHECKING:
    from ferrule_ask.keys import Keys
    from ferrule_ask.models.batch_api import Sent
    from ferrule_ask.models.dialogue import Response
    from ferrule_ask.request.transport import Transport
    from ferrule_ask.settings import Settings

_MAX_SECONDS = 600.0
_MAX_BYTES = 1 << 30


async def exchange(transport: Transport, keys: Keys, settings: Settings, sent: Sent) -> Response:
    """Send, and read the whole response. Raises CallFailed, also for a status other than 200."""
    provider = settings.provider
    key = auth.secret(keys, provider)
    headers = {**auth.headers(settings, key), "content-type": sent.content_type}
    method = "GET" if sent.body is None else "POST"
    try:
        async with asyncio.timeout(_MAX_SECONDS):
            found = await transport.exchange(
                method, sent.url, headers, sent.body, provider.base_url_variable, most_bytes=_MAX_BYTES
            )
    except TimeoutError:
        raise errors.too_late(_MAX_SECONDS) from None
    if found.status != 200:
        raise errors.refusal(found, key, provider)
    return found
