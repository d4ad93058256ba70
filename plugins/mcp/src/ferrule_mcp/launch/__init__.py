"""How a server is started, as its author or a client of MCP writes it, turned into what is installed and run.

Nothing here installs, starts or changes anything.
"""
