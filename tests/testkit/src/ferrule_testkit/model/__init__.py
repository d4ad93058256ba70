"""The Messages API on loopback, and tools for a model."""
