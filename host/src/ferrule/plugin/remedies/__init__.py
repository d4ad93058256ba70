"""What is missing for a plugin, and the line for a shell that brings it."""
