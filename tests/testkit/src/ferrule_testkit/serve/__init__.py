"""A running `ferrule serve`, and what its tests call."""
