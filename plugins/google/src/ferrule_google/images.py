"""Google's search for images: the same engine, key and refusals, with what its answers say of an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import ferrule_websearch as web
from ferrule_google.provider import Google

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping


class GoogleImages(Google):
    """`searchType=image`, for which the engine has to have image search switched on."""

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """As on the web, for images."""
        whole = super().request(keys)
        return whole._replace(params={**whole.params, "searchType": "image"})

    def read(self, document: JSONMapping) -> web.Reply:
        """`items[]` has `link`, which is the image, and `image`, which says where it is shown and how large it is."""
        results = web.read_results(document.get("items") or [], url="link", html=False, details=_image)
        queries = document.get("queries")
        is_last = isinstance(queries, dict) and not queries.get("nextPage")
        return web.Reply(results, has_more=bool(results) and not is_last)


def _image(item: JSONMapping) -> JSONMapping:
    found = item.get("image")
    image = found if isinstance(found, dict) else {}
    return {
        "source": item.get("displayLink"),
        "page": image.get("contextLink"),
        "thumbnail": image.get("thumbnailLink"),
        "width": image.get("width"),
        "height": image.get("height"),
        "bytes": image.get("byteSize"),
    }
