"""Wrappers around a call: the guard that runs them, and the wrappers that the host ships."""
