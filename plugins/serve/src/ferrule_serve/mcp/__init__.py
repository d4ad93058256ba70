"""The Model Context Protocol, on its official SDK: nothing outside of this room imports that."""
