"""What bench/mutation.py is made of: changes of the source, the tests that may see them, and runs of these tests."""

from __future__ import annotations
