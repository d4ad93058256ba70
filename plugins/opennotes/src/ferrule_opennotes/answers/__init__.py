"""Results cut into pages that fit what an agent reads."""
