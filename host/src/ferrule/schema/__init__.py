"""A tool's schema: its file, its rules, and a call's arguments checked against it. Loads no plugin."""
