"""Colours of the viewer, and sizes of its texts [px]."""

Colour = tuple[int, int, int]

BACKGROUND: Colour = (14, 19, 26)
PANEL: Colour = (22, 29, 39)
GRID: Colour = (29, 38, 50)
FAINT: Colour = (92, 106, 122)
TEXT: Colour = (172, 184, 197)
BRIGHT: Colour = (235, 240, 245)
SEATS: tuple[Colour, Colour] = ((255, 99, 88), (86, 160, 255))  # red and blue
STAR: Colour = (255, 197, 46)
FLAME: Colour = (255, 224, 150)
SAFE: Colour = (94, 214, 140)
LOCK: Colour = (190, 120, 255)  # a missile's seeker has a lock

SMALL, MIDDLE, LARGE, HUGE = 14, 17, 24, 38


def mix(colour: Colour, share: float, other: Colour = BACKGROUND) -> Colour:
    """`share` of one colour and the rest of another."""
    pairs = zip(colour, other, strict=True)
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in pairs)
    return red, green, blue
