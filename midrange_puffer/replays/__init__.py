"""Replays: recorded fights, exact to the bit."""
