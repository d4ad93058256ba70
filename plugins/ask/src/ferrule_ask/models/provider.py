"""What asking needs to know of a maker of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Dialogue, Reply, Response, ServerError
    from ferrule_ask.pace.stated_limits import StatedLimit


class RequestSettings(Protocol):
    """What a request is made with. base_url: before what each API has behind it. schema: of the answer, if it has one.

    api_version: of Anthropic's header. cites: whether the provider may get a tool's result in parts that it can cite.
    """

    @property
    def model(self) -> str:
        """As the provider names it."""

    @property
    def max_tokens(self) -> int:
        """The most that the model may write."""

    @property
    def base_url(self) -> str:
        """See above."""

    @property
    def api_version(self) -> str:
        """See above."""

    @property
    def schema(self) -> JSONMapping | None:
        """See above."""

    @property
    def cites(self) -> bool:
        """See above."""


class Assembly(Protocol):
    """One answer that comes in pieces."""

    def take(self, data: str) -> str:
        """Take the data of an event; what it adds to the text. Raises MessageUnreadable, and ErrorEvent."""

    def document(self) -> JSONObject | None:
        """The body that the API would have answered at once; None where the answer has no end yet."""


class Streaming(Protocol):
    """How an API is asked for an answer in pieces, which are server-sent events."""

    def url(self, url: str) -> str:
        """Where such a request goes, for the URL of one that is answered at once."""

    def request(self, request: JSONObject) -> JSONObject:
        """The body of such a request, for that of one that is answered at once."""

    def assembly(self) -> Assembly:
        """Of the pieces of one answer."""


@runtime_checkable
class LocalModels(Protocol):
    """What a provider has that is asked in this process: it is a `Provider` with this as well."""

    async def post(self, body: bytes) -> Response:
        """What a server would have answered to a request. Raises ModelFailed."""


class Provider(Protocol):
    """One maker's API.

    name: what stands before the slash of `--model NAME/MODEL`. api: the words for it in a message, such as "a Messages
    API". base_url: where requests go, unless the variable `base_url_variable` or the settings say something else. key:
    the credential, None where none is wanted. token_variable: of a token that wins over a key of a file; may be empty.
    streaming: None where answers come whole only; one that has no such attribute counts as that.
    """

    name: str
    api: str
    base_url: str
    base_url_variable: str
    key: Credential | None
    token_variable: str
    streaming: Streaming | None

    def form(self) -> ProviderFormat:
        """The form of the tools' schemas."""

    def url(self, settings: RequestSettings) -> str:
        """Where the requests of these settings go."""

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """The headers that are this provider's own. key: empty for none."""

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """The body of a request."""

    def read(self, response: Response) -> Reply:
        """The reply in a response with the status 200. Raises MessageUnreadable."""

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """What another response says. document: its body as JSON; empty where it is none."""

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """The limits that the headers of a response name whole."""
