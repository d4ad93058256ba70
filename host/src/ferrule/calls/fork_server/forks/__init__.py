"""The process of a loaded plugin, the copies forked from it, and the line between them and the supervisor."""
