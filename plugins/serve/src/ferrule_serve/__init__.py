"""Every installed tool as a service: what `ferrule serve` imports, and nothing else does."""
