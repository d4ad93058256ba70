"""Tools that do what tools do, and have to go on doing it. The folders differ in what they declare."""
