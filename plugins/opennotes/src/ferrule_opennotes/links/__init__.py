"""What notes point to, and what points to them."""

from __future__ import annotations

from ferrule_opennotes.links.graph import Links, Target

__all__ = ["Links", "Target"]
