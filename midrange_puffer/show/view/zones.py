"""Launch zones: from how far a fighter's missile would hit the enemy, wherever that were."""

import numpy as np
import pygame

from midrange_puffer.game.envelope import Envelope
from midrange_puffer.game.launch_zone import SHOWN, launch_zone
from midrange_puffer.show.view.camera import Camera
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.moment import Contact, Fighter
from midrange_puffer.show.view.theme import SEATS, SMALL, mix

BEARINGS = np.linspace(-np.pi, np.pi, 97)[:-1]
# What each edge is called, and how much of the fighter's colour it has.
ROW = 18  # px, from one row of names to the next
STYLES = {"aero": ("R_aero", 0.3), "nez": ("R_NEZ", 0.5)}


def draw_zones(
    canvas: Canvas,
    camera: Camera,
    envelope: Envelope,
    shooter: Fighter | Contact,
    enemy: Fighter | Contact,
    row: int = 0,
) -> None:
    """Draw the zones around a fighter that can shoot, with their names at the lower right.

    Nobody knows how many missiles a contact has left: it may be able to.

    Args:
        row: of the names, from below.
    """
    is_out = isinstance(shooter, Fighter) and not shooter.ammo
    if is_out or not (shooter.alive and enemy.alive):
        return
    seat_colour = SEATS[shooter.side]
    right = camera.area.right - 10
    for name in SHOWN:
        label, share = STYLES[name]
        colour = mix(seat_colour, share)
        corners = camera.to_screen(zone(envelope, name, shooter, enemy))
        canvas.wash(corners[None], seat_colour, 0.06)
        canvas.polygon(corners, colour, 1)
        words = mix(seat_colour, share + 0.3)
        bottom = camera.area.bottom - 8 - ROW * row
        room = canvas.text(label, (right, bottom), words, SMALL, "bottomright")
        canvas.box(pygame.Rect(room.left - 22, room.centery, 16, 2), colour)
        right = room.left - 36


def zone(
    envelope: Envelope, edge: str, shooter: Fighter | Contact, enemy: Fighter | Contact
) -> np.ndarray:
    """An edge of the envelope around a fighter, for the enemy's heading and speed as they are.

    Args:
        edge: An array of the envelope, as "aero".

    Returns:
        Places in the plane [BEARINGS, 2], m: were the enemy there, a shot would just hit.
    """
    headings, speeds = (shooter.heading, enemy.heading), (shooter.speed, enemy.speed)
    ranges = launch_zone(envelope, edge, BEARINGS, headings, speeds)
    directions = np.column_stack([np.cos(BEARINGS), np.sin(BEARINGS)])
    return shooter.place + ranges[:, None] * directions
