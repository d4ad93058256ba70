"""The door: whether a tool may run here and now, and with what; its answer is kept until a file behind it changes."""
