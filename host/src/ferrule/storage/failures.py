"""How a store fails."""


class StoreFailed(Exception):
    """A store cannot be used now. The text says why, without a value of anybody's; for a call it is a miss."""
