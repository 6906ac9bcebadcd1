# Part of _core.pyx: constants, structs and tables of csrc/midrange.h for Python, and its functions
# that need no simulation.

# Counts in one against one in the plane.
FIGHTERS = MR_SIDES
MISSILES = MR_PAIR_MISSILES
ACTION_LEVELS = (MR_RUDDER_LEVELS, MR_THROTTLE_LEVELS, MR_PAIR_FIRE_LEVELS)
OBSERVATION_VERSION = MR_OBSERVATION_VERSION
RULES_VERSION = MR_RULES_VERSION
SAME_BITS_SINCE = MR_SAME_BITS_SINCE


cdef MrAdded _added(bint systems, bint mission):
    """Returns what a game adds to an observation."""
    cdef MrAdded added
    added.systems, added.mission = systems, mission
    return added


# Observations in one against one: name -> number of its feature_rows().
OBSERVATIONS = {
    "default": mr_feature_count(MR_OBSERVE_DEFAULT, _added(False, False), 1, 1),
    "stg": mr_feature_count(MR_OBSERVE_STG, _added(False, False), 1, 1),
    "radar": mr_feature_count(MR_OBSERVE_RADAR, _added(False, False), 1, 1),
}
TEAM, TEAM_RADAR = "team", "team_radar"  # observations in teams, without and with sensors
TEAM_HEIGHT, TEAM_RADAR_HEIGHT = "team_height", "team_radar_height"  # the same with height
# Observations in one against one with height, by the kinds of missiles that a fighter may carry,
# less one; and the same with sensors.
HEIGHTS = ("height", "height_2", "height_3")
RADAR_HEIGHTS = ("radar_height", "radar_height_2", "radar_height_3")
TEAMS = (TEAM, TEAM_RADAR, TEAM_HEIGHT, TEAM_RADAR_HEIGHT)
WITH_HEIGHT = (*HEIGHTS, *RADAR_HEIGHTS, TEAM_HEIGHT, TEAM_RADAR_HEIGHT)
WITH_SENSORS = ("radar", *RADAR_HEIGHTS, TEAM_RADAR, TEAM_RADAR_HEIGHT)
_OBSERVATIONS = {
    "default": MR_OBSERVE_DEFAULT, "stg": MR_OBSERVE_STG, "radar": MR_OBSERVE_RADAR,
    TEAM: MR_OBSERVE_TEAM, TEAM_RADAR: MR_OBSERVE_TEAM_RADAR,
    HEIGHTS[0]: MR_OBSERVE_HEIGHT, HEIGHTS[1]: MR_OBSERVE_HEIGHT_2, HEIGHTS[2]: MR_OBSERVE_HEIGHT_3,
    TEAM_HEIGHT: MR_OBSERVE_TEAM_HEIGHT,
    RADAR_HEIGHTS[0]: MR_OBSERVE_RADAR_HEIGHT, RADAR_HEIGHTS[1]: MR_OBSERVE_RADAR_HEIGHT_2,
    RADAR_HEIGHTS[2]: MR_OBSERVE_RADAR_HEIGHT_3, TEAM_RADAR_HEIGHT: MR_OBSERVE_TEAM_RADAR_HEIGHT,
}
# The ends of the names of observations with emission control or chaff, and after that of those in
# missions that are not a fight.
_WITH_SYSTEMS = "+systems"
_IN_MISSION = "+mission"
# The parts of a level of the control of systems.
SYSTEMS_LEVELS, SILENT, DROP = MR_SYSTEMS_LEVELS, MR_SILENT, MR_DROP


def in_mission(str observation, str mission):
    """Returns the name of an observation in a mission."""
    return observation if mission == "fight" else observation + _IN_MISSION


def with_systems(str observation):
    """Returns the name of an observation with emission control or chaff."""
    return observation + _WITH_SYSTEMS


def parts_of(str observation):
    """Returns the name of an observation of a fight, and True if it has systems, and a mission.

    Raises:
        KeyError: There is no such observation.
    """
    rest = observation.removesuffix(_IN_MISSION)
    name = rest.removesuffix(_WITH_SYSTEMS)
    if name not in _OBSERVATIONS or (name != rest and name not in WITH_SENSORS):
        raise KeyError(observation)
    return name, name != rest, rest != observation


def action_levels(int red_size, int blue_size, int dimensions=2, int kinds=1, bint systems=False):
    """Returns the numbers of levels of the controls for sides of these sizes.

    The controls are rudder, throttle and fire; with height the climb stands after the rudder, and
    with emission control or chaff the systems stand before fire. The levels of fire are of the
    enemies, or in one against one with height of the kinds of missiles that a fighter may carry.
    """
    cdef int side = mr_enemy_rows(red_size, blue_size)
    climb = (MR_CLIMB_LEVELS,) if dimensions == 3 else ()
    of_systems = (MR_SYSTEMS_LEVELS,) if systems else ()
    fire = 1 + (kinds if side == 1 and dimensions == 3 else side)
    return (MR_RUDDER_LEVELS, *climb, MR_THROTTLE_LEVELS, *of_systems, fire)


# Nodes of the map of the missile envelope: off-boresight, aspect, launch speed, target speed.
MAP_SHAPE = (MR_MAP_OFF, MR_MAP_ASPECT, MR_MAP_LAUNCH, MR_MAP_TARGET)
MAX_SIDE = MR_SIDE_MAX  # fighters
MAX_TYPES = MR_TYPES_MAX  # of aircraft, and of missiles
MAX_KINDS = MR_KINDS_MAX  # of missiles in a load
MAX_MISSILES = MR_MISSILES_PER_FIGHTER  # of a fighter
MAX_ENVS = 2**20  # engagements of a simulation: their rows of results are counted in 32 bits
MAX_ADVANCE = 1_000_000  # physics steps in one call: they are counted in 32 bits
# Greatest number of an engagement or episode to start: with auto_reset as many episodes can follow.
MAX_START = 2**30

# Entities with fields; the last three exist with sensors only.
_ENTITIES = {
    "engagement": MR_ENGAGEMENT, "fighter": MR_FIGHTER, "missile": MR_MISSILE,
    "contact": MR_CONTACT, "belief": MR_BELIEF, "systems": MR_SYSTEMS,
}

# MrRecord, MrShot, MrMoment and MrPrediction, member by member.
RECORD = np.dtype([
    ("env", "i4"), ("outcome", "i4"), ("truncated", "i4"), ("mutual_kill", "i4"),
    ("decisions", "i4"), ("pilot", "i4", (MR_SIDES,)), ("shots", "i4", (MR_SIDES,)),
    ("hits", "i4", (MR_SIDES,)), ("shots_in_nez", "i4", (MR_SIDES,)),
    ("shots_wasted", "i4", (MR_SIDES,)), ("launch_range", "f4", (MR_SIDES,)),
    ("episode_return", "f4", (MR_SIDES,)), ("paid_result", "f4", (MR_SIDES,)),
    ("paid_geometry", "f4"), ("paid_ammunition", "f4"), ("paid_threat", "f4"),
    ("paid_pressure", "f4"), ("paid_kill", "f4"), ("survivors", "i4", (MR_SIDES,)),
    ("paid_line", "f4"), ("attacker", "i4"),
])
SHOT = np.dtype([
    ("range", "f4"), ("nose", "f4", (2,)), ("aspect", "f4", (2,)),
    ("launch_speed", "f4"), ("target_speed", "f4"), ("height", "f4"), ("target_height", "f4"),
    ("climb_sine", "f4"), ("evasion", "i4"),
])
MOMENT = np.dtype([
    ("own", "f4", (MR_LANES, 2)), ("missiles", "f4", (MR_PAIR_MISSILES, MR_LANES, 2)),
    ("own_height", "f4", MR_LANES), ("missile_heights", "f4", (MR_PAIR_MISSILES, MR_LANES)),
])
PREDICTION = np.dtype([
    ("present", "i4"), ("hits", "i4"), ("ended", "i4"), ("harmless", "i4"), ("miss", "f4"),
])


cdef list _members(const MrMember *member):
    """Returns (name, is_float, offset, size) of each member of a struct."""
    members = []
    while member.name != NULL:
        members.append((member.name.decode(), bool(member.is_float), member.offset, member.size))
        member += 1
    return members


def layouts():
    """Returns name of a struct -> its size [bytes] and its members, as `_members` has them."""
    cdef MrLayouts layouts = mr_layouts()
    return {
        "MrRecord": (sizeof(MrRecord), _members(layouts.record)),
        "MrShot": (sizeof(MrShot), _members(layouts.shot)),
        "MrMoment": (sizeof(MrMoment), _members(layouts.moment)),
        "MrPrediction": (sizeof(MrPrediction), _members(layouts.prediction)),
        "MrDrawnTypes": (sizeof(MrDrawnTypes), _members(layouts.drawn_types)),
    }


# The types of a fighter in an engagement with height, and the factors by which they are varied.
DRAWN_TYPES = np.dtype([
    ("aircraft", np.int32), ("missile", np.int32),
    *((f"{name}_factor", np.float32) for name in (
        "thrust", "drag", "lift", "induced_drag", "missile_thrust", "missile_drag",
        "missile_lift", "missile_burn_time")),
])


def check_layout(dtype, str struct, size, members):
    """Checks that a dtype describes a struct: the same members in the same places.

    A pair of members name_x and name_y may be one member of the dtype, `name`, with two numbers.

    Raises:
        ImportError: a member differs; the message names the first one.
    """
    expected = {}
    for name, is_float, offset, bytes_ in members:
        pair = name.removesuffix("_y")
        if pair != name and f"{pair}_x" in expected:
            _, offset, before = expected.pop(f"{pair}_x")
            name, bytes_ = pair, before + bytes_
        expected[name] = ("f" if is_float else "i", offset, bytes_)
    found = {
        name: (kind.base.kind, offset, kind.itemsize)
        for name, (kind, offset) in dtype.fields.items()
    }
    for name in [*expected, *found]:
        if expected.get(name) != found.get(name):
            raise ImportError(f"{struct}.{name}: (kind, offset, bytes) is {expected.get(name)} in "
                              f"csrc/midrange.h, {found.get(name)} in _tables.pxi")
    if dtype.itemsize != size:
        raise ImportError(f"{struct} has {size} bytes in csrc/midrange.h, {dtype.itemsize} in "
                          "_tables.pxi")


for _dtype, _struct in ((RECORD, "MrRecord"), (SHOT, "MrShot"), (MOMENT, "MrMoment"),
                        (PREDICTION, "MrPrediction"), (DRAWN_TYPES, "MrDrawnTypes")):
    check_layout(_dtype, _struct, *layouts()[_struct])

# The lanes of Core.look_ahead.
MAX_MOMENTS = 1000
AHEAD_HELD = MR_AHEAD_HELD
AHEAD_ESCAPES = slice(MR_AHEAD_ESCAPES, MR_AHEAD_THREATENED)
AHEAD_THREATENED_ESCAPES = slice(MR_AHEAD_THREATENED, MR_AHEAD_LANES)


def choices_of(str unit):
    """Returns the names that a row's unit lists, or an empty tuple if it is a unit."""
    names = tuple(unit.replace("+", "|").split("|"))
    return names if len(names) > 1 else ()


def parameter_rows():
    """Returns the rows of csrc/params.h as dicts."""
    cdef const MrParameter *row = mr_parameters()
    rows = []
    while row.name != NULL:
        kind = int if row.is_int else float
        default, unit = kind(row.default_value), row.unit.decode()
        choices = choices_of(unit)
        rows.append({
            "group": row.group.decode(), "name": row.name.decode(), "kind": kind,
            "default": choices[default] if choices else default, "minimum": kind(row.minimum),
            "maximum": kind(row.maximum), "unit": unit, "meaning": row.meaning.decode(),
            "choices": choices, "is_mixed": "+" in unit,
        })
        row += 1
    return rows


def type_fields(str kind):
    """Returns (name, minimum, maximum, unit, meaning) of the fields of "aircraft" or "missile"."""
    cdef const MrTypeField *row = (
        mr_aircraft_fields() if kind == "aircraft" else mr_missile_fields())
    rows = []
    while row.name != NULL:
        rows.append((row.name.decode(), row.minimum, row.maximum, row.unit.decode(),
                     row.meaning.decode()))
        row += 1
    return rows


def package_types(str kind):
    """Returns (name, meaning, values of `type_fields`) of the package's types of a kind."""
    cdef MrConfig config
    cdef const MrTypeInfo *row = mr_aircraft_types() if kind == "aircraft" else mr_missile_types()
    cdef const float *values
    cdef Py_ssize_t place = 0, count = len(type_fields(kind))
    rows = []
    mr_package_types(&config)
    while row.name != NULL:
        values = (<const float *> &config.aircraft[place] if kind == "aircraft"
                  else <const float *> &config.missiles[place])
        rows.append((row.name.decode(), row.meaning.decode(), [values[i] for i in range(count)]))
        place += 1
        row += 1
    return rows


def parameter_additions():
    """Returns (name, version of the rules that added it, neutral value) of later rows."""
    cdef const MrParameterAddition *addition = mr_parameter_additions()
    additions = []
    while addition.name != NULL:
        additions.append((addition.name.decode(), addition.version, addition.neutral))
        addition += 1
    return additions


def parameter_pairs():
    """Returns names (low, high) of parameters: the first may not exceed the second."""
    cdef const MrParameterPair *pair = mr_parameter_pairs()
    pairs = []
    while pair.low != NULL:
        pairs.append((pair.low.decode(), pair.high.decode()))
        pair += 1
    return pairs


def pilot_rows():
    """Returns (name, meaning) of all pilots; the first is an agent outside."""
    cdef const MrPilotInfo *row = mr_pilots()
    rows = []
    while row.name != NULL:
        rows.append((row.name.decode(), row.meaning.decode()))
        row += 1
    return rows


cdef tuple _pilots(str need):
    """Returns the names of the pilots with this flag of MrPilotInfo."""
    cdef const MrPilotInfo *row = mr_pilots()
    names = []
    while row.name != NULL:
        flags = {"map": row.by_map, "sensors": row.needs_sensors, "team": row.needs_team,
                 "mission": row.needs_mission}
        if flags[need]:
            names.append(row.name.decode())
        row += 1
    return tuple(names)


def map_pilots():
    """Returns the names of the pilots that fire by R_NEZ, and so need a map."""
    return _pilots("map")


def sensor_pilots():
    """Returns the names of the pilots that fly only in games with sensors."""
    return _pilots("sensors")


def wing_pilots():
    """Returns the names of the pilots that fly only in teams."""
    return _pilots("team")


def mission_pilots():
    """Returns the names of the pilots that the core puts into their seats, in a mission."""
    return _pilots("mission")


def state_rows():
    """Returns (name, meaning) of the states of a fighter."""
    return _named(mr_states())


def order_rows():
    """Returns (name, needs, meaning, otherwise) of the orders; needs is "", "sensors" or "team"."""
    cdef const MrOrderInfo *row = mr_orders()
    needs = {MR_NEEDS_NOTHING: "", MR_NEEDS_SENSORS: "sensors", MR_NEEDS_TEAM: "team"}
    rows = []
    while row.name != NULL:
        rows.append((row.name.decode(), needs[row.needs], row.meaning.decode(),
                     row.otherwise.decode()))
        row += 1
    return rows


cdef list _named(const MrStateInfo *row):
    """Returns (name, meaning) of the rows of a table."""
    rows = []
    while row.name != NULL:
        rows.append((row.name.decode(), row.meaning.decode()))
        row += 1
    return rows


def permission_rows():
    """Returns (name, meaning) of the permissions to fire, the levels of this head of an order."""
    return _named(mr_permissions())


def order_level_rows():
    """Returns (name, meaning) of the levels of the climb with height, of this head of an order."""
    return _named(mr_order_levels())


def order_systems_rows():
    """Returns (name, meaning) of the levels of the systems, of this head of an order."""
    return _named(mr_order_systems())


def order_heads(bint senses, int red_size, int blue_size, int dimensions, bint systems=False):
    """Returns the heads of a game's orders: (name, number of levels) of each."""
    cdef int32_t[8] levels
    cdef MrHead[8] heads
    cdef MrOrder[32] orders
    cdef int head, count = mr_order_heads(senses, red_size, blue_size, dimensions, systems,
                                          levels, heads, orders)
    names = {MR_HEAD_ORDER: "order", MR_HEAD_PERMISSION: "permission", MR_HEAD_LEVEL: "level",
             MR_HEAD_SYSTEMS: "systems", MR_HEAD_TARGET: "target"}
    return [(names[heads[head]], levels[head]) for head in range(count)]


def evasion_rows():
    """Returns (name, meaning) of the evasions of fly-outs; `evasion` of SHOT is an index."""
    cdef const MrEvasion *row = mr_evasions()
    rows = []
    while row.name != NULL:
        rows.append((row.name.decode(), row.meaning.decode()))
        row += 1
    return rows


def feature_rows(str observation, int red_size=1, int blue_size=1):
    """Returns (name, scale, lateral, meaning) of an observation's features in fights of a size."""
    name, systems, mission = parts_of(observation)
    if name in TEAMS:
        return _team_features(observation, red_size, blue_size)
    cdef const MrFeature *row = mr_features(_OBSERVATIONS[name])
    cdef const MrFeature *of_systems = mr_systems_features()
    cdef const MrFeature *of_missions = mr_mission_features()
    cdef int own = mr_feature_count(_OBSERVATIONS[name], _added(False, False), 1, 1)
    cdef int mid = mr_feature_count(_OBSERVATIONS[name], _added(systems, False), 1, 1)
    cdef int count = mr_feature_count(_OBSERVATIONS[name], _added(systems, mission), 1, 1)
    return ([_feature(&row[index]) for index in range(own)]
            + [_feature(&of_systems[index]) for index in range(mid - own)]
            + [_feature(&of_missions[index]) for index in range(count - mid)])


def enemy_rows(int red_size, int blue_size):
    """Returns the rows of enemies in a team's observation, which are also the shots to choose from.

    They are as many as the larger side has fighters, or MAX_SIDE if that has more than 8.
    """
    return mr_enemy_rows(red_size, blue_size)


def team_rows(str observation, int red_size, int blue_size):
    """Returns (name, rows, features, place) of the kinds of rows in an observation of TEAMS.

    `place` is that of the first feature of the first row; the rows of a kind follow one another.
    """
    cdef MrRows kinds[MR_ROW_COUNT]
    name, systems, mission = parts_of(observation)
    mr_team_rows(_OBSERVATIONS[name], _added(systems, mission), red_size, blue_size, kinds)
    rows, place = [], 0
    for kind in range(MR_ROW_COUNT):
        if kinds[kind].rows:
            rows.append((kinds[kind].name.decode(), kinds[kind].rows, kinds[kind].features, place))
        place += kinds[kind].rows * kinds[kind].features
    return rows


def _team_features(str observation, int red_size, int blue_size):
    """Returns feature_rows() of a team's observation: enemy_2_ahead and so on."""
    cdef const MrFeature *table
    cdef MrRows kinds[MR_ROW_COUNT]
    base, systems, mission = parts_of(observation)
    mr_team_rows(_OBSERVATIONS[base], _added(systems, mission), red_size, blue_size, kinds)
    features = []
    for kind in range(MR_ROW_COUNT):
        title = kinds[kind].name.decode()
        is_added = kind in (MR_ROW_SYSTEMS, MR_ROW_MISSION)
        table = mr_features(_OBSERVATIONS[base])
        if is_added:
            table = mr_mission_features() if kind == MR_ROW_MISSION else mr_systems_features()
        for number in range(kinds[kind].rows):
            for index in range(kinds[kind].features):
                name, *rest = _feature(&table[kinds[kind].first + index])
                if title and not is_added:
                    name = f"{title}_{number + 1}_{name.partition('_')[2]}"
                features.append((name, *rest))
    return features


cdef tuple _feature(const MrFeature *row):
    return row.name.decode(), row.scale, bool(row.lateral), row.meaning.decode()


def isas():
    """Returns the instruction sets that this build can run on this machine, best first."""
    cdef const char *const *name = mr_isas()
    names = []
    while name[0] != NULL:
        names.append((<bytes> name[0]).decode())
        name += 1
    return tuple(names)


def direction(double degrees):
    """Returns the unit vector (x, y) of an angle in degrees; exact at multiples of 90."""
    cdef float x, y
    mr_direction(degrees, &x, &y)
    return x, y


def philox4x32(counter, key):
    """Returns Philox4x32-10 of four 32-bit counter words and two key words."""
    cdef uint32_t[4] c = counter
    cdef uint32_t[2] k = key
    cdef uint32_t[4] out
    mr_philox4x32(c, k, out)
    return out[0], out[1], out[2], out[3]
