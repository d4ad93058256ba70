"""Processes of the tests: programs in forks, the memory that they have, and the control groups around them."""
