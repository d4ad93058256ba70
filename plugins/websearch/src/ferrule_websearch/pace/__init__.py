"""How often providers are asked: requests a second and a question, and providers that rest after failures."""
