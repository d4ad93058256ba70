"""Packages that `ferrule new` makes: the templates, the texts in them, and the names that a package may have."""
