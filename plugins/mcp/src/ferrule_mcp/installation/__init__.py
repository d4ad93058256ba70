"""Adding a server: its first start, the rights it turns out to need, the names of its tools, and what is written."""
