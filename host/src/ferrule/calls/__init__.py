"""One call of one tool, from stdin to the exit code."""
