"""Rows against limits of a provider: ours, and programs of others in an environment of their own."""
