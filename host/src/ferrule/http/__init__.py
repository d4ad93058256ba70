"""Public: HTTP requests that end in time, for tools.

Needs the extra `ferrule[http]`. Import it inside `execute`, because httpcore takes long to import.

    with Client(context.deadline, headers={"X-Key": key}) as client:
        with client.open("GET", "https://api.example/search", params={"q": query}) as response:
            if response.status == 200:
                found = json.loads(response.read())

What it does that a bare httpx or httpcore client does not:

- One instant bounds everything: name resolution, connecting, TLS, writing, headers and body, however slowly
  they drip.
- Whatever goes wrong is a `RequestFailed` with a short reason, which holds no query string, header or key.
- A body that the server cuts off is a `BodyCutOff`, which has what had come of it.
- Redirects are not followed. A body is decoded with a bound on what it may grow to. Nothing is ever logged.
- `Client(guard=…)` judges every host with all of its addresses, and what it has seen is what is connected to.
- Of the environment it reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY (either case), SSL_CERT_FILE and
  SSL_CERT_DIR, and raises ToolError NETWORK_ERROR where one of them holds nothing that can be used.
"""

from __future__ import annotations

from ferrule.http.client import MAX_BODY, Client, Response
from ferrule.http.deadline import Guard
from ferrule.http.errors import BodyCutOff, RequestFailed, UnusableURL

__all__ = ["MAX_BODY", "BodyCutOff", "Client", "Guard", "RequestFailed", "Response", "UnusableURL"]
