"""What `ferrule ask` shows: the answer and the tools' calls as they come, and what is printed at the end."""
