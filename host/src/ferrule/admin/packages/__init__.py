"""Packages, before they are installed and as they lie there: what they bring, and what of it runs in ferrule itself."""
