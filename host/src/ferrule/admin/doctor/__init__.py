"""What is wrong with an installation, and what to do about it: one module for each thing that is looked at."""
