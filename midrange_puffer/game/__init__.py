"""The game: its parameters, what is seen and done in it, and what follows from its physics."""
