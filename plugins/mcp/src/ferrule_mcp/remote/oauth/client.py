"""The SDK's client of OAuth with the rules that it leaves to its user, and a memory instead of a store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from ferrule import ToolError
from ferrule_mcp.remote.guard import is_loopback, require_confidential

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_mcp.remote.oauth.answer import Redirect

_CHALLENGE_METHOD = "S256"


class LoginMemory:
    """What the SDK stores: here until the login has succeeded, since half of one is of no use.

    client: the registration that the user names; None where the client is registered anew.
    """

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """See the SDK."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """See the SDK."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """See the SDK."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """See the SDK."""
        self._client = client_info


class ScopedProvider(OAuthClientProvider):
    """The SDK's client, which asks for the scopes that the server names, and for those that the user names."""

    wanted_scope = ""

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        metadata = self.context.client_metadata
        scopes = [*(metadata.scope or "").split(), *self.wanted_scope.split()]
        metadata.scope = " ".join(dict.fromkeys(scopes)) or None
        return await super()._perform_authorization_code_grant()


class LoginClient:
    """One login.

    Args:
        url: of the server.
        redirect: how the answer comes back.
        client_id, client_secret: of a registration that the user has, or the https address of a document that describes
            the client; "" to be registered.
        scope: asked for in addition to what the server wants; "" for nothing.
        seconds: that the user has.
    """

    def __init__(
        self, url: str, redirect: Redirect, *, client_id: str, client_secret: str, scope: str, seconds: float
    ) -> None:
        self._redirect = redirect
        self._seconds = seconds
        addresses = [AnyUrl(redirect.uri)]
        metadata = OAuthClientMetadata(
            client_name="ferrule",
            redirect_uris=addresses,
            token_endpoint_auth_method="none",  # noqa: S106 - no secret
        )
        is_document = client_id.startswith("https://")
        is_known = bool(client_id) and not is_document
        memory = LoginMemory(_make_client(client_id, client_secret, addresses) if is_known else None)
        document = client_id if is_document else None
        self.provider = ScopedProvider(url, metadata, memory, self._show, self._wait, client_metadata_url=document)
        self.provider.wanted_scope = scope

    @property
    def has_token(self) -> bool:
        """Whether the login has succeeded."""
        return self.provider.context.current_tokens is not None

    def write_token(self, command: str) -> JSONObject:
        """The token as the credentials file keeps it. command: logs in again."""
        context = self.provider.context
        tokens, client = context.current_tokens, context.client_info
        if tokens is None or client is None:
            raise ValueError("nobody has logged in")
        endpoint = self._endpoint()
        end = None if tokens.expires_in is None else int(time.time()) + tokens.expires_in
        found = {
            "access_token": tokens.access_token,
            "refresh_token": tokens.refresh_token,
            "expires_at": end,
            "token_endpoint": endpoint,
            "client_id": client.client_id,
            "client_secret": client.client_secret,
            "auth_method": client.token_endpoint_auth_method,
            "resource": context.get_resource_url(),
            "scope": tokens.scope,
            "issuer": str(context.oauth_metadata.issuer) if context.oauth_metadata else None,
            "networks": ["loopback"] if is_loopback(endpoint) else None,
            "login": command,
        }
        return {name: value for name, value in found.items() if value}

    def _endpoint(self) -> str:
        context = self.provider.context
        if context.oauth_metadata is not None:
            return str(context.oauth_metadata.token_endpoint)
        return f"{context.get_authorization_base_url(context.server_url)}/token"

    async def _show(self, url: str) -> None:
        metadata = self.provider.context.oauth_metadata
        if metadata is not None and _CHALLENGE_METHOD not in (metadata.code_challenge_methods_supported or ()):
            raise ToolError(
                "LOGIN_FAILED",
                f"The authorization server {metadata.issuer} does not say that it knows PKCE with S256, "
                "without which a code could be stolen.",
                hint="Ask who runs the server, or use a header with a token that was made by hand.",
            )
        require_confidential(url)
        self._redirect.show(url)

    async def _wait(self) -> AuthorizationCodeResult:
        answer = await anyio.to_thread.run_sync(self._redirect.wait, self._seconds, abandon_on_cancel=True)
        answer.require_code()
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer or None)


def _make_client(client_id: str, client_secret: str, addresses: list[AnyUrl]) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=client_id,
        client_secret=client_secret or None,
        redirect_uris=addresses,
        token_endpoint_auth_method="client_secret_basic" if client_secret else "none",
    )
