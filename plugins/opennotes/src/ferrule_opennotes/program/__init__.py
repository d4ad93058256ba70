"""The OpenNotes CLI as a program: where it is, how it is run, what it can do, and what it said when it refused."""
