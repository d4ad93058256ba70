"""Conversion within limits on time and memory, and what there is to read where it passes them."""
