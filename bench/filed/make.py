"""Writes all documents into a folder, and what is in them as truth.json. Run by an environment with the makers.

Usage: python -m filed.make FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from filed import office_makers, pdf_makers


def main() -> None:
    """Make them."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    makers = {**pdf_makers.MAKERS, **office_makers.MAKERS}
    truth = {name: make(folder / name, seed) for seed, (name, make) in enumerate(makers.items(), start=1)}
    (folder / "truth.json").write_text(json.dumps({name: list(blocks) for name, blocks in truth.items()}))


if __name__ == "__main__":
    main()
