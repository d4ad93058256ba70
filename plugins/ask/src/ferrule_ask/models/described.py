"""A provider that the settings describe: it speaks the API of another one, at another place and with another key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_ask.keys import model_key

if TYPE_CHECKING:
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Dialogue, Reply, Response, ServerError
    from ferrule_ask.models.provider import Provider, RequestSettings
    from ferrule_ask.pace.stated_limits import StatedLimit


_MODEL = "{model}"  # in a base URL


class Described:
    """See `Provider`. facts: what `ferrule_ask.models.registry` says, but for `api`."""

    token_variable = ""

    def __init__(self, name: str, spoken: Provider, facts: Mapping[str, str]) -> None:
        self._spoken = spoken
        self.name, self.api = name, spoken.api
        self.streaming = getattr(spoken, "streaming", None)
        self.base_url = facts.get("base_url", spoken.base_url)
        self.base_url_variable = f"base_url in [ask.providers.{name}]"
        variable = facts.get("key", "")
        self.key = model_key(name, variable) if variable else None
        self._key_header = facts.get("key_header", "").lower()
        self._version = facts.get("api_version", "")

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        return self._spoken.form()

    def url(self, settings: RequestSettings) -> str:
        """See `Provider`. A server may want the model's name in the path, and the version of its API in the query."""
        url = self._spoken.url(settings).replace(_MODEL, quote(settings.model, safe=""))
        return f"{url}?api-version={quote(self._version, safe='')}" if self._version else url

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        usual = self._spoken.headers(settings, key)
        if not (key and self._key_header):
            return usual
        return {**{name: value for name, value in usual.items() if key not in value}, self._key_header: key}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`."""
        return self._spoken.request(dialogue, settings)

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        return self._spoken.read(response)

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`."""
        return self._spoken.error(response, document)

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`."""
        return self._spoken.limits(headers)
