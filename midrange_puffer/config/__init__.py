"""Configuration: the keys, how they are read, and how they are settled for a machine."""
