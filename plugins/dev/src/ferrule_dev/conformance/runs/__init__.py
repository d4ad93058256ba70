"""One run of an executable: the folders and variables around it, how it is started, and what it has come to."""
