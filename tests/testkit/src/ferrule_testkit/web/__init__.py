"""Servers and resolvers on loopback, in the place of the web."""
