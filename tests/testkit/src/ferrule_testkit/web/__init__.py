"""Servers and resolvers on loopback, instead of the web."""
