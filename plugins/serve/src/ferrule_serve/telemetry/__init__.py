"""What those who run the server see of it: whether it is well, its figures, and traces of its calls."""
