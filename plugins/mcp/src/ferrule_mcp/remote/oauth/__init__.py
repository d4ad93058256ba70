"""The login at a server that wants tokens: OAuth by the SDK's client, and the ways in which the answer comes back.

The SDK finds the authorization server, registers, and exchanges the code. Here are the redirects, the rules that the
SDK leaves to its user, and the token as the credentials file keeps it. The host renews that token.
"""

from __future__ import annotations
