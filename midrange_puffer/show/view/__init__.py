"""Pictures that move: engagements drawn with pygame, in a window, an array or a film."""

MODES = PLANE, SPACETIME = "plane", "spacetime"  # what of an engagement is drawn
