"""The kit of the project's tests: a user's machine, installed tools, a client, and servers on loopback."""

from pathlib import Path

PROJECT = Path(__file__).parents[4]

PATIENCE_SECONDS = 600.0
"""For what a test waits for: more than its own limit, which comes first, and says where it waited."""
