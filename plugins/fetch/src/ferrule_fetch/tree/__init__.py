"""The tree of a page: `nodes` are what it is made of, `parsers` build it."""
