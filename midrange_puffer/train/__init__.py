"""Training: one run from its configuration to its last checkpoint, in one process or many."""
