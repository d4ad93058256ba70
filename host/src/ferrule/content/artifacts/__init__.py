"""Public: bytes that a result names by a handle. They are kept for their time on disk or on Redis.

- `handles`: the URI of an artifact, and the name in it.
- `read_artifact(resource)`: the bytes and the `Artifact` of a handle, as the configuration of this process leads to it.
- `ArtifactStore`, `Label`: keeping one.
- `Settings`: what the admin decides about them.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.content.artifacts.settings import Settings
    from ferrule.content.artifacts.store import Artifact, ArtifactStore, Label, read_artifact

__all__ = ["Artifact", "ArtifactStore", "Label", "Settings", "read_artifact"]

__getattr__ = attach(
    __name__,
    {
        "Artifact": "ferrule.content.artifacts.store",
        "ArtifactStore": "ferrule.content.artifacts.store",
        "Label": "ferrule.content.artifacts.store",
        "Settings": "ferrule.content.artifacts.settings",
        "read_artifact": "ferrule.content.artifacts.store",
    },
)
