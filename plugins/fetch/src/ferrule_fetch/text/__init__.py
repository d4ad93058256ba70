"""Bytes to text, text without what nobody sees, and the part of it that an answer holds."""
