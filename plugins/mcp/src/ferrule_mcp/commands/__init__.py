"""The command `ferrule mcp`, one file for each of its subcommands."""
