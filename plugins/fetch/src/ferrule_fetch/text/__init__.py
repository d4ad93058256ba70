"""Bytes to text, text without invisible characters, and the part of it that an answer holds."""
