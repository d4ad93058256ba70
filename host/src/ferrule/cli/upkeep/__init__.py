"""Commands for an admin: doctor, lock, permissions, log, cache."""
