"""What a user has: distributions as wheels, put by pip, pipx or uv into an environment that knows no repository."""
