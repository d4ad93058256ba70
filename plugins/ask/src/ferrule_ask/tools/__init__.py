"""The tools that the model may call, and what it is given of their results."""
