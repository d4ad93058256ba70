"""Many requests that a provider answers within a day, at half the price: sending, waiting, and the record of both."""
