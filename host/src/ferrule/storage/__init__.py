"""What one call leaves for the next ones: where it lies, in files of the user alone, or in Redis."""
