"""The command `ferrule new_command`."""
