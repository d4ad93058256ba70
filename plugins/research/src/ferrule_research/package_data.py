"""The data files in the folders of the modules."""

from __future__ import annotations

import json
import os
from typing import Any


def load_json(module_file: str, name: str) -> Any:
    """The content of a JSON file in the folder of a module. Not by pathlib, which takes longer to import than this."""
    with open(os.path.join(os.path.dirname(module_file), name), "rb") as file:  # noqa: PTH118, PTH120, PTH123 - pathlib costs more than this
        return json.loads(file.read())
