"""Playing by hand: humans, pilots and policies in one engagement, in a window."""
