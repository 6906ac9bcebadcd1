"""Replays: recorded fights, bit for bit."""
