"""Policies: networks, who flies by them, and the files that they are kept in."""
