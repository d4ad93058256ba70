"""Pages that say nothing: whether one does, and why. `walls` judges what was read, `reasons` looks at its HTML."""
