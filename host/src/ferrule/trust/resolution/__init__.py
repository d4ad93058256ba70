"""What the words of a declaration are on this machine: paths, places, variables."""
