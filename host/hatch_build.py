"""Puts the template that `ferrule new` copies into the distributions: it is a plugin of its own, outside of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CACHES = {"__pycache__", "build", "dist"}
_TEXTS = {".py", ".json", ".md", ".toml", ".typed"}


class TemplateHook(BuildHookInterface):  # type: ignore[type-arg]
    """In the repository the template is `../plugins/example`, in an sdist it is `template`; wheels have it inside."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the template's files to what is built. An editable install finds them in the repository."""
        if version == "editable":
            return
        root = Path(self.root)
        source = next(
            (path for path in (root / "template", root.parent / "plugins" / "example") if path.is_dir()), None
        )
        if source is None:
            raise FileNotFoundError(f"there is no template beside {root}")
        target = "template" if self.target_name == "sdist" else "ferrule/template"
        for path in _files(source):
            build_data["force_include"][str(path)] = f"{target}/{path.relative_to(source).as_posix()}"


def _files(source: Path) -> list[Path]:
    """The files of the template, without what tests and builds leave behind."""
    found = [path for path in source.rglob("*") if path.is_file() and path.suffix in _TEXTS]
    return sorted(path for path in found if not any(map(_is_cache, path.relative_to(source).parts)))


def _is_cache(part: str) -> bool:
    return part in _CACHES or part.startswith(".") or part.endswith(".egg-info")
