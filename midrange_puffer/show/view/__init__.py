"""Moving pictures of engagements, drawn with pygame in a window, an array or a film."""

MODES = PLANE, SPACETIME = "plane", "spacetime"  # ways to draw an engagement
