# Part of _core.pyx: checks of the arguments of a core, and copies of those that pass.

def _check_no_map(pilot_weights, str observation):
    """Refuses an observation or a pilot that needs a map, where there is none."""
    if parts_of(observation)[0] == "stg":
        raise ValueError("observation = 'stg': needs an envelope")
    for index, (name, _) in enumerate(pilot_rows()):
        if name in map_pilots() and any(weights[index] > 0 for weights in pilot_weights):
            raise ValueError(f"pilot {name}: needs an envelope")


def _check_pilots(dict parameters, pilot_weights):
    """Refuses pilots that need sensors or teams, where there are none."""
    senses, is_team = parameters["sensing"] == "radar", len(pilot_weights) > MR_SIDES
    for index, (name, _) in enumerate(pilot_rows()):
        if not any(weights[index] > 0 for weights in pilot_weights):
            continue
        if name in mission_pilots():
            lasts = (parameters["red_size"] - 1, len(pilot_weights) - 1)
            flown = [fighter for fighter, weights in enumerate(pilot_weights) if weights[index] > 0]
            if parameters["mission"] != "escort" or not all(f in lasts for f in flown):
                raise UsageError(f"pilot {name}: flies only the last fighter of a side, where "
                                 "mission = escort; the core puts it there by itself")
        if name in sensor_pilots() and not senses:
            raise UsageError(f"pilot {name}: needs sensing = radar")
        if name in wing_pilots() and not is_team:
            raise UsageError(f"pilot {name}: needs a red_size or blue_size above 1")


def _check_plane(dict parameters, str name):
    """Refuses a game with height."""
    if parameters["dimensions"] != 2:
        raise UsageError(f"{name}: in the plane only, and dimensions = {parameters['dimensions']}")


def _check_height(dict parameters, str name):
    """Refuses a game in the plane."""
    if parameters["dimensions"] != 3:
        raise UsageError(f"{name}: with height only, and dimensions = {parameters['dimensions']}")


def _check_undrawn(dict parameters, str name):
    """Refuses a game with height whose types of aircraft or missiles are drawn."""
    if parameters["dimensions"] == 2:
        return
    sides = [f"{seat}_{kind}" for seat in ("red", "blue") for kind in ("aircraft", "missile")]
    mixes = [key for key in sides if "," in parameters[key]]
    spreads = [key for key in ("aircraft_spread", "missile_spread") if parameters[key] > 0]
    for key in (*mixes, *spreads):
        raise ValueError(f"{name}: {key} = {parameters[key]}: types must not be drawn")


def _check_sizes(dict parameters, str observation):
    """Refuses impossible sizes of sides, and observations that do not go with them."""
    observation, has_systems, has_mission = parts_of(observation)
    if has_systems != (parameters["emission_control"] == "on" or parameters["chaff"] > 0):
        raise ValueError(f"observation = {observation!r}: is not that of emission_control = "
                         f"{parameters['emission_control']} and chaff = {parameters['chaff']}")
    if has_mission != (parameters["mission"] != "fight"):
        raise ValueError(f"observation = {observation!r}: is not that of mission = "
                         f"{parameters['mission']}")
    red, blue = parameters["red_size"], parameters["blue_size"]
    if not (1 <= red <= MR_SIDE_MAX and 1 <= blue <= MR_SIDE_MAX):
        raise ValueError(f"red_size = {red}, blue_size = {blue}: from 1 to {MR_SIDE_MAX}")
    if (observation in TEAMS) != (red + blue > MR_SIDES):
        raise ValueError(f"observation = {observation!r}: {', '.join(TEAMS)} belong to teams")
    if (observation in WITH_SENSORS) != (parameters["sensing"] == "radar"):
        raise ValueError(f"observation = {observation!r}: radar belongs to sensing = radar")
    if (observation in WITH_HEIGHT) != (parameters["dimensions"] == 3):
        raise ValueError(f"observation = {observation!r}: height belongs to dimensions = 3")


cdef int _take_fields(float *to, values, str kind) except -1:
    """Copies the fields of one type of aircraft or missile."""
    cdef const float[::1] numbers = np.ascontiguousarray(values, np.float32)
    rows = type_fields(kind)
    if numbers.shape[0] != len(rows) or not np.isfinite(numbers).all():
        raise ValueError(f"a type of {kind} with the fields {list(values)}: must be {len(rows)} "
                         "finite numbers")
    memcpy(to, &numbers[0], len(rows) * sizeof(float))
    return 0


cdef int _take_types(MrConfig *config, types) except -1:
    """Copies the types of aircraft and missiles and their shares, which matter with height."""
    cdef int place, side
    for kind in ("aircraft", "missile"):
        if not 1 <= len(types.fields[kind]) <= MR_TYPES_MAX:
            raise ValueError(f"{len(types.fields[kind])} types of {kind}: from 1 to {MR_TYPES_MAX}")
        shares = np.zeros((MR_SIDES, MR_TYPES_MAX), np.float32)
        for place, values in enumerate(types.fields[kind]):
            if kind == "aircraft":
                _take_fields(<float *> &config.aircraft[place], values, kind)
            else:
                _take_fields(<float *> &config.missiles[place], values, kind)
            shares[:, place] = [types.shares[kind][side][place] for side in range(MR_SIDES)]
        if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.any(axis=1).all()):
            raise ValueError(f"shares of {kind} {shares.tolist()}: finite, not below 0, nor all 0")
        for side in range(MR_SIDES):
            for place in range(MR_TYPES_MAX):
                if kind == "aircraft":
                    config.aircraft_weights[side][place] = shares[side, place]
                else:
                    config.missile_weights[side][place] = shares[side, place]
    return 0


cdef int _take_loads(MrConfig *config, types, str observation) except -1:
    """Copies the loads of missiles, which the observation must show; in teams of one type each."""
    observation = parts_of(observation)[0]
    if len(types.loads) != MR_SIDES:
        raise ValueError(f"loads of {len(types.loads)} sides: must be {MR_SIDES}")
    cdef int kinds = max(1, *(len(load) for load in types.loads))
    cdef int most = 1 if observation in TEAMS else MR_KINDS_MAX
    by_kinds = [names[min(kinds, MR_KINDS_MAX) - 1] for names in (HEIGHTS, RADAR_HEIGHTS)]
    if kinds > most or (observation not in TEAMS and observation not in by_kinds):
        raise ValueError(f"observation = {observation!r}: is not that of loads of {kinds} types")
    for side in range(MR_SIDES):
        if sum(count for _, count in types.loads[side]) > MR_MISSILES_PER_FIGHTER:
            raise ValueError(f"a load of {types.loads[side]}: at most {MR_MISSILES_PER_FIGHTER} "
                             "missiles")
        for kind, (place, count) in enumerate(types.loads[side]):
            if count < 1 or not 0 <= place < len(types.fields["missile"]):
                raise ValueError(f"a load with {count} missiles of type {place}: no such load")
            if kind == 0 and [share > 0 for share in types.shares["missile"][side]] != [
                    other == place for other in range(len(types.fields["missile"]))]:
                raise ValueError(f"shares of missiles {list(types.shares['missile'][side])}: must "
                                 f"all be of the first type of the load {types.loads[side]}")
            config.load_types[side][kind] = place
            config.loads[side][kind] = count
    return 0


cdef int _take_ranges(MrRanges *to, values, str name) except -1:
    """Copies a range of a map."""
    cdef const float[:, :, :, ::1] ranges = np.ascontiguousarray(values, np.float32)
    if tuple(ranges.shape)[:4] != MAP_SHAPE:
        raise ValueError(f"envelope.{name} of shape {tuple(ranges.shape)[:4]}: must be {MAP_SHAPE}")
    if not np.isfinite(ranges).all():
        raise ValueError(f"envelope.{name} must be finite")
    memcpy(to, &ranges[0, 0, 0, 0], sizeof(MrRanges))
    return 0


cdef int _take_envelope(MrEnvelope *to, envelope) except -1:
    """Copies a map of the missile envelope."""
    _take_ranges(&to.aero, envelope.aero, "aero")
    _take_ranges(&to.nez, envelope.nez, "nez")
    _take_ranges(&to.cold, envelope.cold, "cold")
    _take_ranges(&to.minimum, envelope.minimum, "minimum")
    to.launch_speed_min, *_, to.launch_speed_max = envelope.launch_speeds
    to.target_speed_min, *_, to.target_speed_max = envelope.target_speeds
    for low, high in ((to.launch_speed_min, to.launch_speed_max),
                      (to.target_speed_min, to.target_speed_max)):
        if not (isfinite(low) and isfinite(high) and low < high):
            raise ValueError("envelope: launch_speeds and target_speeds must rise and be finite")
    return 0


cdef int _refuse(str kind, const char *wrong) except -1:
    """Raises ValueError if the core has named something that is wrong, which is not NULL."""
    if wrong != NULL:
        raise ValueError(f"{kind} whose {wrong.decode()} is out of range")
    return 0


cdef int _check_aligned(const void *numbers, str name) except -1:
    """Refuses numbers of 4 bytes at an address that C may not read them from."""
    if <size_t> numbers % 4:
        raise ValueError(f"{name} must be aligned: begin at a multiple of 4 bytes")
    return 0


cdef int _check_moments(Py_ssize_t interval, Py_ssize_t count) except -1:
    if not (1 <= count <= MAX_MOMENTS and 1 <= interval <= MAX_ADVANCE // MAX_MOMENTS):
        raise ValueError(f"{count} moments {interval} physics steps apart: at least 1 of each, at "
                         f"most {MAX_MOMENTS} moments {MAX_ADVANCE // MAX_MOMENTS} steps apart")
    return 0
