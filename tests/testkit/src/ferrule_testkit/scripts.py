"""Programs in Python that a test writes."""

from __future__ import annotations

import sys

_MAX_BYTES = 127  # of a first line that every kernel reads
# To the shell, it ends with the second line; to Python, the first three are a comment and a text.
_BY_SHELL = """\
#!/bin/sh
'''exec' "{python}"{options} "$0" "$@"
' '''
"""


def shebang(options: str = "", *, python: str = sys.executable) -> str:
    """The first lines of a program in Python, wherever the interpreter is: a kernel takes no blank in its path."""
    options = f" {options}" if options else ""
    line = f"#!{python}{options}\n"
    is_plain = " " not in python and len(line.encode()) <= _MAX_BYTES
    return line if is_plain else _BY_SHELL.format(python=python, options=options)
