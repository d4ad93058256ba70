"""What the author of a plugin sees: hookspecs, and what they take and return."""
