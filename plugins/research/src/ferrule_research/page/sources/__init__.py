"""The places that a page is read from: the web, an API, a player, a document; and which of them a URL asks for.

Each `read_…` returns a `PageContent`.
"""
