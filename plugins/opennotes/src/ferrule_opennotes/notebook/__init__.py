"""Notebooks as they lie on disk: which there are, which one is meant, and the notes in it."""
