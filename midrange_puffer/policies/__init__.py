"""Policies: networks, players, models, exported policies, contestants, the user's own code."""
