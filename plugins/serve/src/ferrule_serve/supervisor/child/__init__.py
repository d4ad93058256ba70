"""What runs in the process of a plugin's code. Nothing else of the supervisor may be imported there."""
