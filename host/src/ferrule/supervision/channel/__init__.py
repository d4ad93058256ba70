"""What a child and its supervisor say to each other: messages, their limits, questions, outcomes."""
