"""The commands of `ferrule` that this distribution adds, one file a command."""
