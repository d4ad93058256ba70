"""`python -m ferrule`, which is `ferrule`."""

from __future__ import annotations

import os
import sys

from ferrule.cli import main

if __name__ == "__main__":
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # -m puts the working directory on the path; what is there must be neither listed nor linked as if installed.
    if not sys.flags.safe_path and sys.path[0] != home:
        del sys.path[0]
    main()
