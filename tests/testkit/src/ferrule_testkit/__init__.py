"""The kit of the project's tests: a user's machine, installed tools, a client, and servers on loopback."""

from pathlib import Path

PROJECT = Path(__file__).parents[4]
