"""Write where the project is at home into the root's pyproject.toml, and into that of each distribution.

Usage: make addresses REPOSITORY=https://… DOCUMENTATION=https://…
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("repository", "documentation")


def write(root: Path, addresses: dict[str, str]) -> list[Path]:
    """Replace the addresses by name; gives the files that were written."""
    old = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["ferrule"]["release"]
    new = {old[name]: addresses[name] for name in NAMES}
    # In one pass, the longer one first: one address may be the beginning of the other.
    pattern = re.compile("|".join(re.escape(one) for one in sorted(new, key=len, reverse=True)))
    written = []
    for file in [root / "pyproject.toml", root / "host/pyproject.toml", *sorted(root.glob("plugins/*/pyproject.toml"))]:
        text = file.read_text()
        replaced = pattern.sub(lambda found: new[found[0]], text)
        if replaced != text:
            file.write_text(replaced)
            written.append(file)
    return written


def main() -> None:
    """Write the addresses that the command line names."""
    if len(sys.argv) != 1 + len(NAMES) or any(
        (parts := urlsplit(one)).scheme != "https" or not parts.netloc for one in sys.argv[1:]
    ):
        sys.exit((__doc__ or "").strip())
    repository, documentation = sys.argv[1:]
    written = write(ROOT, {"repository": repository.rstrip("/"), "documentation": documentation.rstrip("/") + "/"})
    print(f"Written into {len(written)} files. Commit them.")


if __name__ == "__main__":
    main()
