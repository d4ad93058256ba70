"""The page for people, at `/` of `ferrule serve --http --page`: nothing imports it where it is not asked for."""
