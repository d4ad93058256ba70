"""What others install a tool from: a bundle for desktop clients (MCPB), and the entry of a registry of MCP servers."""
