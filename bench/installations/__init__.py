"""What is measured, installed: the wheels of the project as a user has them, and environments for what others wrote."""
