"""The clients of MCP that run on this machine: where their configuration is, and this server's entry in it."""
