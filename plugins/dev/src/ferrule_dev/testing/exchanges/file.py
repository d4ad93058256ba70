"""The file with the exchanges of one test."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from ferrule.text import redaction
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ferrule_dev.testing.exchanges.recorded import RecordedExchange

FORMAT = 1
_FOLDER = "exchanges"
_MAX_NAME_CHARS = 100


class UnusableFile(Exception):
    """The file cannot be read, or must not be written; the text says why."""


def path_of(test_file: Path, test_name: str) -> Path:
    """Where the exchanges of a test belong: `exchanges/MODULE/TEST.json`, in the folder of the test.

    test_name: with its class and its parameters; what no file name should have is replaced.
    """
    name = re.sub(r"[^\w.\[\]=,-]+", "-", test_name)
    if name != test_name or len(name) > _MAX_NAME_CHARS:
        name = f"{name[:_MAX_NAME_CHARS]}-{sha256_hex(test_name.encode())[:8]}"
    return test_file.parent / _FOLDER / test_file.stem / f"{name}.json"


def read(path: Path) -> list[RecordedExchange]:
    """The exchanges of a file. Raises UnusableFile."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        is_known = content["format"] == FORMAT
        exchanges: list[RecordedExchange] = content["exchanges"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableFile(f"{path} has no exchanges that can be read ({type(error).__name__}: {error})") from None
    if not is_known:
        raise UnusableFile(f"{path} has the format {content['format']!r}, and this release of ferrule reads {FORMAT}")
    return exchanges


def write(path: Path, exchanges: Sequence[RecordedExchange], secrets: Sequence[str]) -> None:
    """Write the exchanges, or nothing. Raises UnusableFile where a secret would be in the file."""
    text = json.dumps({"format": FORMAT, "exchanges": list(exchanges)}, indent=2, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "replace")
    if redaction.redact(data, secrets) != data:
        raise UnusableFile(f"a credential would stand in {path}, in a place where it cannot be replaced")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name[:_MAX_NAME_CHARS]}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)
