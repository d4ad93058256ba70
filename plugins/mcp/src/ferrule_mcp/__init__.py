"""Tools of MCP servers as tools of ferrule. Each call of one starts its server, held by the kernel, and ends it."""
