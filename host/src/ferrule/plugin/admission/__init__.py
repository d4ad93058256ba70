"""What a process that never reads config.toml is told of one tool: the kept answer, or one that a copy works out."""
