"""What Python does at its start because of a file in a folder of packages: `.pth`, `.start`, `sitecustomize`.

A line of a `.pth` that begins with `import` is run, any other is a folder from which modules are imported. Some files
of this kind are known by what stands in them, and by whose they are; anything else is told.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ENDINGS = (".pth", ".start")
STARTING_MODULES = ("sitecustomize", "usercustomize")
_MAX_BYTES = 1 << 16
_IMPORTING = ("import ", "import\t")

_DISTUTILS = (
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
    "enabled and __import__('_distutils_hack').add_shim();"
)
_OLD_DISTUTILS = _DISTUTILS.replace(" == 'local'", " == 'stdlib'")
_NAMESPACE = re.compile(
    r"import sys, types, os;has_mfs = sys\.version_info > \(3, 5\);p = os\.path\.join\(sys\._getframe\(1\)"
    r"\.f_locals\['sitedir'\], \*\('[\w.]+',\s*(?:'[\w.]+',?\s*)*\)\);importlib = has_mfs and __import__"
    r"\('importlib\.util'\);[^\n]*"
)
_EDITABLE_FINDER = re.compile(r"import (?P<module>__editable___\w+_finder); (?P=module)\.install\(\)")


class PathFile(NamedTuple):
    """A `.pth` or `.start`. code: the lines that Python runs. folders: those from which it imports then."""

    code: list[str]
    folders: list[str]


def read(path: str, name: str) -> PathFile:
    """What the file has Python do. A `.start` runs all that it names; what cannot be read counts as code."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return PathFile(["(cannot be read)"], [])
    if len(data) > _MAX_BYTES:
        return PathFile(["(too large to be read)"], [])
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if name.endswith(".start"):
        return PathFile(lines, [])
    code = [line for line in lines if line.startswith(_IMPORTING)]
    return PathFile(code, [line.strip() for line in lines if not line.startswith(_IMPORTING)])


def known_as(name: str, owner: str, code: list[str], *, is_editable: bool) -> str:
    """What a file that runs code is known as, in a few words; empty for one that is not known.

    Args:
        owner: the distribution that has it, empty where none has.
        is_editable: whether that was installed as the folder of a project, whose code is the user's own.
    """
    text = "\n".join(code).strip()
    if owner == "setuptools" and name == "distutils-precedence.pth" and text in (_DISTUTILS, _OLD_DISTUTILS):
        return "distutils of setuptools"
    if not owner and name == "_virtualenv.pth" and text == "import _virtualenv":
        return "virtualenv and uv, which made the environment"
    if owner == "coverage" and name.endswith("coverage.pth") and "coverage.process_startup()" in text:
        return "coverage, which measures where COVERAGE_PROCESS_START says so"
    if owner and name.endswith("-nspkg.pth") and all(_NAMESPACE.fullmatch(line.strip()) for line in code):
        return "a package that several distributions share"
    if is_editable and _EDITABLE_FINDER.fullmatch(text):
        return "a project's folder, as it is"
    return ""
