"""Playing by hand: people, pilots and policies in one engagement, in a window."""
