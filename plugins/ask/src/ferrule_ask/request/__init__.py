"""One request to the model: its message, its key, its turns and attempts, and what can go wrong with it."""
