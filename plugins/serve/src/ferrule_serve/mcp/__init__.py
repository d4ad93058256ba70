"""The Model Context Protocol: messages are read, answered, and carried over stdio and HTTP."""
