"""The kit for authors of tools: packages to begin with, tests, and a check that runs a tool as clients do.

- `ferrule_dev.testing` is what the tests of a tool need; its fixtures are a plugin of pytest.
- `ferrule_dev.conformance` holds any executable against the contract of the clients.
- The commands `ferrule new` and `ferrule check` are entry points of this distribution.

PYTEST_DONT_REWRITE: pytest, of which this package is a plugin, would otherwise warn a program that has imported it.
"""
