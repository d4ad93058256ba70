"""What asking costs: the published prices, and the limits on what may be spent."""
