"""Missions by csrc/RULES.md a second time, written from that text alone."""

from dataclasses import dataclass

from reference import BLUE, BLUE_WINS, RED, RED_WINS, Body, Engagement, Fighter, clip
from reference_pilots import Pilot, Tactics
from reference_teams import Teams


@dataclass
class Mission(Engagement):
    """A fight in which one side attacks; `lay` lays its line."""

    attacker: int = RED
    way: tuple[float, float] = (1.0, 0.0)  # direction of the attack
    line_at: float = 0.0  # m, along it

    def lay(self, attacker: int, way: tuple[float, float], line_at: float) -> None:
        self.attacker, self.way, self.line_at = attacker, way, line_at

    def of_side(self, side: int) -> list[int]:
        return [side]

    def distance(self, body: Body) -> float:
        """Returns the distance to the line, below 0 beyond it."""
        return self.line_at - self.way[0] * body.x - self.way[1] * body.y

    @property
    def transport(self) -> int | None:
        escorts = self.p["mission"] == "escort"
        return self.of_side(self.attacker)[-1] if escorts else None

    def counting(self) -> list[Fighter]:
        """Returns the living fighters that have to cross the line."""
        transport = self.transport
        seats = self.of_side(self.attacker) if transport is None else [transport]
        return [self.fighters[seat] for seat in seats if self.fighters[seat].alive]

    def judge(self) -> None:
        attackers, defenders = (RED_WINS, BLUE_WINS)[:: 1 if self.attacker == RED else -1]
        living = [
            any(self.fighters[seat].alive for seat in self.of_side(side)) for side in (RED, BLUE)
        ]
        distances = [self.distance(fighter) for fighter in self.counting()]
        for distance in distances:
            self.margins.append(("range", distance))
        if distances and min(distances) <= 0:
            self.outcome = attackers
        elif not distances:
            self.outcome = defenders
        elif not living[1 - self.attacker] and not self.missiles:
            self.outcome = attackers
        elif self.time >= self.steps("time_limit"):
            self.outcome, self.truncated = defenders, all(living)

    def progress(self) -> float:
        """Returns red's part of the potential."""
        distances = [max(self.distance(fighter), 0) for fighter in self.counting()]
        half = self.p["reward_line_range"]
        nearness = half / (half + min(distances)) if distances else 0.0
        return self.p["reward_line"] * (nearness if self.attacker == RED else -nearness)


@dataclass
class MissionDuel(Mission):
    """One against one."""

    def potential(self, seat: int) -> float:
        return super().potential(seat) + (self.progress() if seat == RED else -self.progress())


@dataclass
class MissionTeams(Mission, Teams):
    """Teams."""

    def of_side(self, side: int) -> list[int]:
        return self.members(side)

    def merit(self, seat: int) -> float:
        half = self.progress() / 2
        return super().merit(seat) + (half if self.side(seat) == RED else -half)

    def share_targets(self, side: int, pilots: dict[int, Pilot]) -> None:
        choosing = {seat: pilot for seat, pilot in pilots.items() if seat != self.transport}
        super().share_targets(side, choosing)

    def objections(self, seat: int, enemy: int, taken: list[int], pilots: dict) -> tuple:
        waits = 1
        if enemy == self.transport and taken.count(enemy) < len(self.living(self.side(seat))) / 2:
            waits = 0
        return waits, *super().objections(seat, enemy, taken, pilots)

    def note_choice(self, best: list[tuple]) -> None:
        super().note_choice([choice[1:] for choice in best if choice[0] == best[0][0]])


class MissionPilot(Pilot):
    """A scripted pilot in a mission."""

    def waits(self, engagement: Mission, seat: int) -> bool:
        return False

    def course(self, engagement: Mission, seat: int) -> tuple[float, float]:
        side = engagement.side(seat) if isinstance(engagement, Teams) else seat
        fighter, enemy = engagement.fighters[seat], engagement.enemy_of(seat)
        threatened = any(self.evades(engagement, m, fighter) for m in engagement.inbound(seat))
        if side != engagement.attacker or threatened:
            return super().course(engagement, seat)
        ahead = engagement.distance(enemy) - engagement.distance(fighter)
        is_line = engagement.p["mission"] == "line"
        if is_line and (fighter.ammo == 0 or engagement.below("range", 0, ahead)):
            return engagement.way
        return super().course(engagement, seat)


class TransportPilot(MissionPilot):
    """The pilot `transport`."""

    def __post_init__(self) -> None:
        self.name, name = "shooter", self.name
        super().__post_init__()
        self.name = name
        self.tactics = Tactics(evade_time=self.p["transport_cold_time"], salvo=0)

    def control(self, engagement: Mission, seat: int) -> tuple[float, float, float]:
        rudder, throttle, _ = super().control(engagement, seat)
        fighter = engagement.fighters[seat]
        if not any(self.evades(engagement, m, fighter) for m in engagement.inbound(seat)):
            throttle = clip(0.5 + 0.05 * (self.p["transport_speed"] - fighter.speed), 0, 1)
        return rudder, throttle, 0.0

    def course(self, engagement: Mission, seat: int) -> tuple[float, float]:
        fighter = engagement.fighters[seat]
        if any(self.evades(engagement, m, fighter) for m in engagement.inbound(seat)):
            return super().course(engagement, seat)
        return engagement.way
