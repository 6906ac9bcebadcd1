"""Contests: fights between any two contestants, and ratings of many."""
