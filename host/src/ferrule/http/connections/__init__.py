"""Connections of the HTTP client: judged addresses, proxies, the back ends of httpx."""
