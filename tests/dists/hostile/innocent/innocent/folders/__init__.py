"""What is allowed to read a folder and to write to another one."""

from __future__ import annotations

import pathlib

from ..table import innocent


@innocent
def notes_read(scene):
    """Reads a folder that it has declared."""
    folder = pathlib.Path(scene["home"], "notes")
    return sorted(path.name for path in folder.rglob("*")), len((folder / "diary.md").read_text())


@innocent
def report_written(scene):
    """Writes to a folder that it has declared, and reads it again."""
    folder = pathlib.Path(scene["home"], "reports")
    path = folder / "today" / "report.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Today\n")
    text = path.read_text()
    path.unlink()
    path.parent.rmdir()
    return text


from ..plugin import Tools  # noqa: E402 - the table has to be full first

tools = Tools()
