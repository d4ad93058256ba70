"""Servers of the Model Context Protocol for tests: one that does what a scenario says, and real ones."""
