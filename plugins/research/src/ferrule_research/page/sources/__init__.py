"""Where a page comes from: the web, an API, a player, a document; and which of them a URL asks for."""
