"""The environment of a server: what is installed for it once, so that a call resolves nothing, and its checks."""
