"""What ferrule is measured against: programs and tools of others, and the requirements of their environments."""
