"""What runs in the process of a plugin's code. Nothing else of the fork server may be imported there."""
