# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Binding of the C core (csrc/midrange.h): checks the arguments, then makes one C call a step.

Only this module knows the C structs, which _midrange.pxd declares. It has no rule of the game.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from midrange_puffer._midrange cimport *
from midrange_puffer._threads cimport Threads

from midrange_puffer._threads import find_threads
from midrange_puffer.errors import UsageError

include "_tables.pxi"


include "_checks.pxi"


cdef class Core:
    """A simulation owned by this object: allocated once, freed once.

    One thread at a time may use it. While a call is under way, every other call raises
    RuntimeError, except fly_shots and threat_cone, which do not use the state.

    Args:
        parameters: a value for every row of the parameter table, already checked; of a choice its
            name. Rows that may be mixed play no part: `types` has the types.
        num_envs: number of engagements, from 1 to MAX_ENVS.
        seed: 0 <= seed < 2**64.
        pilot_weights: shares [fighters][pilots] of the pilots of each fighter: red's, then blue's.
        auto_reset: start the next episode as soon as one has ended.
        isa: one of isas(), or "auto".
        envelope: the map of the missile envelope, copied: an object with float32 arrays aero, nez,
            cold and minimum of MAP_SHAPE [m], see MrEnvelope, and launch_speeds and target_speeds
            [m/s], evenly spaced. None: shots are not classed.
        observation: one of OBSERVATIONS, or in teams one of TEAMS, or in one against one with
            height that of HEIGHTS or RADAR_HEIGHTS for the kinds of missiles; with emission control
            or chaff that of with_systems(), and in a mission that of in_mission().
        threads: number of threads that step the engagements, with the caller's; the result does not
            depend on it.
        types: with height the types of aircraft and missiles, of "aircraft" and "missile" each:
            `fields`, the values of type_fields() of each type, at most MAX_TYPES of them; `shares`,
            [2][types] the shares of the engagements in which each side flies each; `loads`, of each
            side the type and the number of missiles of each kind, or none: then `ammunition` of the
            type drawn. A load's first type must have all of its side's shares. None in the plane.

    Raises:
        ValueError: an instruction set that this machine cannot run, an envelope of another shape or
            not finite, or no envelope where the observation or a pilot needs it; or no types with
            height.
        MemoryError: no memory for the state.
    """

    # Used by the methods down to _begin, and by those that do not use the state. The other methods
    # get it from _idle or from _begin.
    cdef MrSim *sim
    cdef Threads shared
    cdef bint busy  # read and written with the GIL held
    cdef readonly int num_envs, agents, features, threads, fighters, slots, red_size, controls
    cdef readonly dict parameters

    def __cinit__(self, dict parameters, Py_ssize_t num_envs, uint64_t seed, pilot_weights,
                  bint auto_reset, str isa, envelope=None, str observation="default",
                  Py_ssize_t threads=1, types=None):
        cdef MrConfig config
        cdef MrEnvelope ranges
        cdef const MrParameter *row = mr_parameters()
        cdef char *params = <char *> &config.params
        cdef const float[:, ::1] weights = np.array(pilot_weights, np.float32)
        cdef int red_size = parameters["red_size"], blue_size = parameters["blue_size"]
        cdef int fighters = red_size + blue_size
        if weights.shape[0] != fighters or weights.shape[1] != MR_PILOT_COUNT:
            raise ValueError(f"pilot_weights of shape {tuple(weights.shape)[:2]}: "
                             f"must be ({fighters}, {MR_PILOT_COUNT})")
        if not 1 <= num_envs <= MAX_ENVS:
            raise ValueError(f"num_envs = {num_envs}: at least 1, at most {MAX_ENVS}")
        self.shared = find_threads(threads)
        if isa != "auto" and isa not in isas():
            raise ValueError(f"isa = {isa!r}: this machine has {', '.join(isas())}, or auto")
        try:
            parts_of(observation)
        except KeyError:
            raise ValueError(f"observation = {observation!r}: must be "
                             f"{' or '.join(OBSERVATIONS)}") from None
        _check_sizes(parameters, observation)
        _check_pilots(parameters, pilot_weights)
        if envelope is None and parameters["dimensions"] == 2:
            _check_no_map(pilot_weights, observation)
        memset(&config, 0, sizeof(config))
        while row.name != NULL:
            value = parameters[row.name.decode()]
            if isinstance(value, str):
                choices = choices_of(row.unit.decode())
                value = choices.index(value) if value in choices else 0
            if row.is_int:
                (<int32_t *> (params + row.offset))[0] = value
            else:
                (<float *> (params + row.offset))[0] = value
            row += 1
        if (types is None) == (parameters["dimensions"] == 3):
            raise ValueError("types: needed with dimensions = 3, and only there")
        if types is not None:
            _take_types(&config, types)
            _take_loads(&config, types, observation)
        for fighter in range(fighters):
            for pilot in range(MR_PILOT_COUNT):
                config.pilot_weights[fighter][pilot] = weights[fighter, pilot]
        name = isa.encode()
        config.num_envs = num_envs
        config.seed = seed
        config.auto_reset = auto_reset
        config.isa = name
        config.threads = self.shared.threads
        self.threads = self.shared.count
        if envelope is not None:
            _take_envelope(&ranges, envelope)
            config.envelope = &ranges
        config.observation = _OBSERVATIONS[parts_of(observation)[0]]
        self.sim = mr_create(&config)
        if self.sim == NULL:
            raise MemoryError(f"no memory for {num_envs} engagements")
        self.num_envs = num_envs
        self.agents = num_envs * mr_agents_per_env(self.sim)
        self.features = mr_feature_count(config.observation, mr_added(&config.params), red_size,
                                         blue_size)
        self.fighters = mr_fighters_per_env(self.sim)
        self.slots = mr_count_of(self.sim, MR_MISSILE)
        self.controls = mr_controls(self.sim)
        self.red_size = red_size
        self.parameters = dict(parameters)

    def __dealloc__(self):
        mr_destroy(self.sim)
        self.sim = NULL

    cdef MrSim *_idle(self) except NULL:
        """Returns the simulation for a C call that is made at once, with the GIL held."""
        if self.busy:
            raise RuntimeError("this simulation is in use by another thread")
        return self.sim

    cdef MrSim *_begin(self) except NULL:
        """Returns the simulation for a call during which other threads run, and sets `busy`.

        The call sets `busy` to False when it is done. The GIL is released in `with nogil`, and may
        be wherever Python runs.
        """
        cdef MrSim *sim = self._idle()
        self.busy = True
        return sim

    @property
    def isa(self):
        """Name of the instruction set in use."""
        return mr_isa(self.sim).decode()

    @property
    def state_bytes(self):
        """Bytes of the state of one engagement, without its picture."""
        return mr_state_bytes(self.sim)

    @property
    def seed(self):
        """The seed of the starts: the last one given, or that of the snapshot last restored."""
        return mr_seed(self._idle())

    def reset(self, uint64_t seed):
        """Starts episode 0 of every engagement."""
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_reset(sim, seed)
        self.busy = False

    def start(self, Py_ssize_t env, Py_ssize_t engagement, Py_ssize_t episode):
        """Starts one engagement again, as any episode of any engagement of the seed."""
        self._check_index(env, 0, 1, "fighter")
        if not (0 <= engagement <= MAX_START and 0 <= episode <= MAX_START):
            raise ValueError(f"engagement = {engagement}, episode = {episode}: at least 0, at most "
                             f"{MAX_START}")
        mr_start_episode(self._idle(), env, engagement, episode)

    def step(self, const int32_t[:, ::1] actions, float[:, ::1] observations, float[::1] rewards,
             uint8_t[::1] terminals, uint8_t[::1] truncations,
             float[:, ::1] final_observations=None, float[:, :, ::1] states=None,
             float[:, :, ::1] final_states=None):
        """Flies one decision and writes its results in place. See Midrange for the shapes.

        Where an engagement ends, its agents' rows of final_observations [agents, features] get
        their last observations, before the next episode starts in its place; the other rows mean
        nothing. `states` [states, fighters, num_envs], in the order of state_rows(), are those
        after the step; `final_states` are those before the next episodes start.
        """
        cdef MrResults results = self._results(actions.shape[0], actions.shape[1], observations,
                                               rewards, terminals, truncations, final_observations,
                                               states, final_states)
        _check_aligned(&actions[0, 0], "actions")
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_step(sim, &actions[0, 0], &results)
        self.busy = False

    def step_continuous(self, const float[:, ::1] actions, float[:, ::1] observations,
                        float[::1] rewards, uint8_t[::1] terminals, uint8_t[::1] truncations,
                        float[:, ::1] final_observations=None, float[:, :, ::1] states=None,
                        float[:, :, ::1] final_states=None):
        """Flies one decision, as `step`, with controls as actions, float32 [agents, controls]."""
        cdef MrResults results = self._results(actions.shape[0], actions.shape[1], observations,
                                               rewards, terminals, truncations, final_observations,
                                               states, final_states)
        _check_aligned(&actions[0, 0], "actions")
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_step_continuous(sim, &actions[0, 0], &results)
        self.busy = False

    cdef MrResults _results(self, Py_ssize_t rows, Py_ssize_t columns, float[:, ::1] observations,
                            float[::1] rewards, uint8_t[::1] terminals, uint8_t[::1] truncations,
                            float[:, ::1] final_observations, float[:, :, ::1] states,
                            float[:, :, ::1] final_states) except *:
        """Checks the shapes of a step's arguments; returns the destination of its results."""
        cdef MrResults results
        cdef Py_ssize_t agents = self.agents
        if rows != agents or columns != self.controls:
            raise ValueError(f"actions of shape {(rows, columns)}: "
                             f"must be ({agents}, {self.controls})")
        self._check_observations(observations, agents)
        if not agents == rewards.shape[0] == terminals.shape[0] == truncations.shape[0]:
            raise ValueError(f"rewards, terminals and truncations must have {agents} entries")
        if agents == 0:
            raise ValueError("no seat is an agent's: step with controls")
        _check_aligned(&rewards[0], "rewards")
        if mr_record_count(self._idle()) > self.num_envs:
            raise RuntimeError("no room for more records: take_records() first")
        results.observations = &observations[0, 0]
        results.rewards = &rewards[0]
        results.terminals = <c_bool *> &terminals[0]
        results.truncations = <c_bool *> &truncations[0]
        results.final_observations = NULL
        if final_observations is not None:
            self._check_observations(final_observations, agents)
            results.final_observations = &final_observations[0, 0]
        results.states = self._check_states(states)
        results.final_states = self._check_states(final_states)
        return results

    cdef float *_check_states(self, float[:, :, ::1] states) except? NULL:
        """Checks the shape of `states`; returns their address, NULL for None."""
        if states is None:
            return NULL
        if (states.shape[0] != MR_STATE_COUNT or states.shape[1] != self.fighters
                or states.shape[2] != self.num_envs):
            raise ValueError(f"states of shape {tuple(states.shape)[:3]}: must be "
                             f"({MR_STATE_COUNT}, {self.fighters}, {self.num_envs})")
        _check_aligned(&states[0, 0, 0], "states")
        return &states[0, 0, 0]

    def step_controls(self, const float[:, :, ::1] controls, float[:, ::1] rewards):
        """Flies one decision by controls [num_envs, fighters, controls of each].

        The rewards [num_envs, fighters] are written in place.
        """
        if (controls.shape[0] != self.num_envs or controls.shape[1] != self.fighters
                or controls.shape[2] != self.controls):
            raise ValueError(f"controls of shape {tuple(controls.shape)[:3]}: "
                             f"must be ({self.num_envs}, {self.fighters}, {self.controls})")
        if rewards.shape[0] != self.num_envs or rewards.shape[1] != self.fighters:
            raise ValueError(f"rewards must be of shape ({self.num_envs}, {self.fighters})")
        _check_aligned(&controls[0, 0, 0], "controls")
        _check_aligned(&rewards[0, 0], "rewards")
        cdef int32_t dropped
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_take_records(sim, &dropped)  # room for those of this decision
            mr_step_controls(sim, &controls[0, 0, 0], &rewards[0, 0])
        self.busy = False

    def controls_of_orders(self, const int32_t[:, :, ::1] orders, float[:, :, ::1] controls,
                           uint8_t[:, ::1] absent=None):
        """Writes the controls by which fighters follow orders in the next decision.

        Args:
            orders: [num_envs, fighters, heads], a level of each of order_heads(); a level outside
                is clamped. The controls of fighters whose first level is below 0 stay as they are.
            controls: [num_envs, fighters, controls of each], as for `step_controls`.
            absent: [num_envs, fighters] gets 1 for fighters whose order speaks of what is not
                there, 0 for the others with an order.
        """
        cdef uint8_t *flags = NULL
        if (orders.shape[0] != self.num_envs or orders.shape[1] != self.fighters
                or orders.shape[2] != self.controls):
            raise ValueError(f"orders of shape {tuple(orders.shape)[:3]}: "
                             f"must be ({self.num_envs}, {self.fighters}, {self.controls})")
        if (controls.shape[0] != self.num_envs or controls.shape[1] != self.fighters
                or controls.shape[2] != self.controls):
            raise ValueError(f"controls of shape {tuple(controls.shape)[:3]}: "
                             f"must be ({self.num_envs}, {self.fighters}, {self.controls})")
        if absent is not None:
            if absent.shape[0] != self.num_envs or absent.shape[1] != self.fighters:
                raise ValueError(f"absent must be of shape ({self.num_envs}, {self.fighters})")
            flags = &absent[0, 0]
        _check_aligned(&orders[0, 0, 0], "orders")
        _check_aligned(&controls[0, 0, 0], "controls")
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_controls_of_orders(sim, &orders[0, 0, 0], &controls[0, 0, 0], flags)
        self.busy = False

    def advance(self, Py_ssize_t steps):
        """Flies physics steps only, with the commands last given."""
        if not 0 <= steps <= MAX_ADVANCE:
            raise ValueError(f"substeps = {steps}: at least 0, at most {MAX_ADVANCE}")
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_advance(sim, steps)
        self.busy = False

    def observe(self, float[:, ::1] observations):
        """Writes the agents' observations."""
        self._check_observations(observations, self.agents)
        if self.agents:
            mr_observe(self._idle(), &observations[0, 0])

    def observe_states(self, float[:, :, ::1] states not None):
        """Writes the present states, [states, fighters, num_envs]."""
        mr_observe_states(self._idle(), self._check_states(states))

    def observe_all(self, float[:, ::1] observations):
        """Writes the observations of every fighter, [num_envs * fighters, features]."""
        self._check_observations(observations, self.num_envs * self.fighters)
        mr_observe_all(self._idle(), &observations[0, 0])

    def observe_truth(self, float[:, ::1] observations):
        """Writes the agents' observations as they would be with full information."""
        self._check_observations(observations, self.agents, mr_truth_features(self.sim))
        if self.agents:
            mr_observe_truth(self._idle(), &observations[0, 0])

    cdef int _check_observations(self, float[:, ::1] observations, Py_ssize_t rows,
                                 Py_ssize_t features=0) except -1:
        features = features or self.features
        if observations.shape[0] != rows or observations.shape[1] != features:
            raise ValueError(f"observations of shape {tuple(observations.shape)[:2]}: "
                             f"must be ({rows}, {features})")
        return _check_aligned(&observations[0, 0], "observations") if rows else 0

    def record_count(self):
        """Returns the number of engagements that have finished since records were taken."""
        return mr_record_count(self._idle())

    def take_records(self):
        """Returns the engagements that finished since the last call, an array of RECORD."""
        cdef int32_t count
        cdef uint8_t[::1] view
        cdef MrSim *sim = self._begin()
        try:
            out = np.empty(mr_record_count(sim), RECORD)
            view = out.view(np.uint8)
            records = mr_take_records(sim, &count)
            if count:
                memcpy(&view[0], records, count * sizeof(MrRecord))
        finally:
            self.busy = False
        return out

    # A C method, as the other checks are: a subclass cannot replace it.
    cdef int _check_index(self, Py_ssize_t env, Py_ssize_t entity, Py_ssize_t entities,
                          str name) except -1:
        if not 0 <= env < self.num_envs:
            raise IndexError(f"env = {env}: 0 ... {self.num_envs - 1}")
        if not 0 <= entity < entities:
            raise IndexError(f"{name} = {entity}: 0 ... {entities - 1}")
        return 0

    def get_fighter(self, Py_ssize_t env, Py_ssize_t fighter):
        """Returns the state of one fighter as a dict of MrFighterState."""
        cdef MrFighterState state
        self._check_index(env, fighter, self.fighters, "fighter")
        mr_get_fighter(self._idle(), env, fighter, &state)
        return state

    def set_fighter(self, Py_ssize_t env, Py_ssize_t fighter, MrFighterState state):
        """Sets all of MrFighterState except the pilot.

        Raises:
            ValueError: a value is out of its range, or the direction is not a unit vector.
        """
        self._check_index(env, fighter, self.fighters, "fighter")
        _refuse("fighter", mr_set_fighter(self._idle(), env, fighter, &state))

    def get_missile(self, Py_ssize_t env, Py_ssize_t slot):
        """Returns the state of one missile slot as a dict of MrMissileState."""
        cdef MrMissileState state
        self._check_index(env, slot, self.slots, "missile")
        mr_get_missile(self._idle(), env, slot, &state)
        return state

    def set_missile(self, Py_ssize_t env, Py_ssize_t slot, MrMissileState state):
        """Sets one missile slot.

        Raises:
            ValueError: a value is out of its range, the direction is not a unit vector, or owner
                and target are on one side.
        """
        self._check_index(env, slot, self.slots, "missile")
        self._check_index(env, state.owner, self.fighters, "owner")
        self._check_index(env, state.target, self.fighters, "target")
        cdef bint is_red = state.owner < self.red_size
        if state.active and is_red == (state.target < self.red_size):
            enemies = range(self.red_size, self.fighters) if is_red else range(self.red_size)
            raise ValueError(f"target = {state.target}: must be an enemy of owner {state.owner}, "
                             f"{min(enemies)} ... {max(enemies)}")
        _refuse("missile", mr_set_missile(self._idle(), env, slot, &state))

    def launch(self, Py_ssize_t env, Py_ssize_t fighter):
        """Launches at once. False without a missile, a living enemy or, with sensors, a track."""
        self._check_index(env, fighter, self.fighters, "fighter")
        return bool(mr_launch(self._idle(), env, fighter))

    def types(self):
        """Returns what each fighter flies with height, DRAWN_TYPES [num_envs, fighters].

        Raises:
            UsageError: the game is in the plane.
        """
        _check_height(self.parameters, "types")
        cdef MrSim *sim = self._idle()
        keys = self.read("engagement")
        cdef const int32_t[:, ::1] engagement = keys["engagement"], episode = keys["episode"]
        out = np.empty((self.num_envs, self.fighters), DRAWN_TYPES)
        cdef uint8_t[:, ::1] rows = out.view(np.uint8)
        for env in range(self.num_envs):
            mr_draw_types(sim, engagement[env, 0], episode[env, 0], <MrDrawnTypes *> &rows[env, 0])
        return out

    def read(self, str entity):
        """Returns copies of the fields of an entity: name -> array [num_envs, entities].

        `entity` is "engagement", "fighter" or "missile", and with sensors also "contact", "belief"
        or "systems". csrc/state_fields.h lists the fields. The arrays are float32, or int32 for
        whole numbers.

        Raises:
            KeyError: no such entity.
            ValueError: a contact, a belief or systems without sensors.
        """
        cdef MrEntity kind
        cdef const MrField *field
        cdef uint8_t[:, ::1] values
        kind = _ENTITIES[entity]
        if entity in ("contact", "belief", "systems") and self.parameters["sensing"] == "full":
            raise ValueError(f"{entity}: there is none with sensing = full")
        out = {}
        cdef MrSim *sim = self._begin()
        cdef int count = mr_count_of(sim, kind)
        field = mr_fields(sim, kind)
        try:
            while field.name != NULL:
                array = np.empty((self.num_envs, count), np.int32 if field.is_int else np.float32)
                values = array.view(np.uint8)
                mr_get_field(sim, kind, field, &values[0, 0])
                out[field.name.decode()] = array
                field += 1
        finally:
            self.busy = False
        return out

    def status(self):
        """Returns arrays [num_envs] of outcome, truncated, time (physics steps) and episode."""
        fields = {name: array[:, 0] for name, array in self.read("engagement").items()}
        truncated = fields["truncated"].astype(bool)
        return fields["outcome"], truncated, fields["time"], fields["episode"]

    def snapshot(self):
        """Returns an exact copy of the state."""
        cdef size_t size = mr_snapshot_bytes(self._idle())
        out = bytearray(size)
        cdef uint8_t[::1] view = out
        mr_snapshot(self._idle(), &view[0])
        return bytes(out)

    def restore(self, const uint8_t[::1] state):
        """Restores a snapshot that an equal simulation's snapshot() has given.

        Raises:
            ValueError: the size is another, or the contents are impossible; nothing is changed.
        """
        if <size_t> state.shape[0] != mr_snapshot_bytes(self._idle()):
            raise ValueError(f"snapshot of {state.shape[0]} bytes: "
                             f"this simulation's have {mr_snapshot_bytes(self._idle())}")
        _refuse("snapshot", mr_restore(self._idle(), &state[0]))

    def state_hash(self):
        """Returns a 64-bit hash of all that the future depends on, given parameters and pilots."""
        return mr_state_hash(self._idle())

    def fight_hash(self):
        """Returns a 64-bit hash of the fights alone, without the seed and engagement numbers."""
        return mr_fight_hash(self._idle())

    def fly_shots(self, shots):
        """Flies out shots by this simulation's parameters; its state plays no part.

        Args:
            shots: array [n] of SHOT; lengths in m, speeds in m/s. The shooter is at the origin, the
                target `range` ahead on +x. nose: unit vector of the shooter's velocity. aspect:
                unit vector of the target's velocity as seen along the line from it to the shooter:
                (1, 0) flies at the shooter, (0, 1) 90 degrees to the left of that. With height
                both are as seen from above, and so is `range`; height and target_height are where
                the shooter and the target begin [m], climb_sine is the sine of the shooter's climb,
                and red's types fire at blue's. Shots of about the same duration should be
                neighbours.

        Returns:
            bool [n]: True for each shot that hits.

        Raises:
            ValueError: another dtype or shape, an unknown evasion, a number that is not finite, a
                height below the ground; or the types of aircraft or missiles are drawn, or there
                are teams with height.
        """
        _check_undrawn(self.parameters, "fly_shots")
        if self.parameters["dimensions"] == 3 and self.fighters > MR_SIDES:
            raise ValueError("fly_shots: with height it flies the shots of one against one")
        shots = np.array(shots, order="C")  # a copy: no other thread changes it after the checks
        if shots.dtype != SHOT or shots.ndim != 1:
            raise ValueError(f"shots of {shots.dtype}, shape {shots.shape}: must be [n] of SHOT")
        cdef int32_t count = len(shots)
        cdef const uint8_t[::1] rows = shots.view(np.uint8)
        cdef uint8_t[::1] hits = np.empty(count, np.uint8)
        if count == 0:
            return np.zeros(0, bool)
        if not (0 <= shots["evasion"].min() and shots["evasion"].max() < MR_EVASION_COUNT):
            raise ValueError(f"evasion of a shot: must be from 0 to {MR_EVASION_COUNT - 1}")
        if not np.isfinite(shots.view("f4").reshape(count, -1)[:, :-1]).all():
            raise ValueError("shots must be finite")
        if min(shots["height"].min(), shots["target_height"].min()) < 0:
            raise ValueError("height of a shot: must not be below 0")
        with nogil:
            mr_fly_shots(self.sim, <const MrShot *> &rows[0], count, <c_bool *> &hits[0])
        return np.asarray(hits).view(bool)

    def look_ahead(self, Py_ssize_t env, Py_ssize_t seat, Py_ssize_t interval, Py_ssize_t count):
        """Flies a copy of one engagement ahead, with a manoeuvre of `seat` in each lane.

        Returns:
            MOMENT [count], the first is now, `interval` physics steps apart, and PREDICTION
            [missiles, lanes]. The lanes are AHEAD_HELD, ...; csrc/midrange.h has their manoeuvres.

        Raises:
            IndexError: no such engagement or seat.
            ValueError: no moments, or too many or too far apart.
        """
        self._check_index(env, seat, MR_SIDES, "seat")
        if self.fighters != MR_SIDES:
            raise ValueError("look_ahead: it flies one against one ahead")
        _check_moments(interval, count)
        moments = np.empty(count, MOMENT)
        predictions = np.empty((MR_PAIR_MISSILES, MR_LANES), PREDICTION)
        cdef uint8_t[::1] to_moments = moments.view(np.uint8)
        cdef uint8_t[:, ::1] to_predictions = predictions.view(np.uint8)
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_look_ahead(sim, env, seat, interval, count, <MrMoment *> &to_moments[0],
                          <MrPrediction *> &to_predictions[0, 0])
        self.busy = False
        return moments, predictions

    def threat_cone(self, float launch_speed, Py_ssize_t interval, Py_ssize_t count):
        """Returns the possible places of a missile launched now, left of the launcher's nose.

        Returns:
            float32 [count, turns, headings, 2], m ahead and to the left of the launcher, the first
            is now, `interval` physics steps apart. csrc/midrange.h has the turns. NaN once spent.

        Raises:
            ValueError: no moments, or too many or too far apart.
        """
        _check_plane(self.parameters, "threat_cone")
        _check_moments(interval, count)
        out = np.empty((count, MR_CONE_RUDDERS, MR_LANES, 2), np.float32)
        cdef float[:, :, :, ::1] view = out
        with nogil:
            mr_threat_cone(self.sim, launch_speed, interval, count, <MrCone *> &view[0, 0, 0, 0])
        return out

    def high_threat_cone(self, Py_ssize_t env, Py_ssize_t fighter, Py_ssize_t interval,
                         Py_ssize_t count):
        """Returns the possible places of a missile that a fighter launches now; only with height.

        Returns:
            float32 [count, climbs, turns, headings, 3], m ahead of the fighter on the ground, to
            the left of it, and high. Otherwise as `threat_cone`.

        Raises:
            IndexError: no such engagement or fighter.
            ValueError: no moments, or too many or too far apart; or more than one against one.
            UsageError: the game is in the plane.
        """
        _check_height(self.parameters, "high_threat_cone")
        self._check_index(env, fighter, MR_SIDES, "fighter")
        if self.fighters != MR_SIDES:
            raise ValueError("high_threat_cone: it is of one against one")
        _check_moments(interval, count)
        out = np.empty((count, MR_CONE_CLIMBS, MR_CONE_SHARES, MR_LANES, 3), np.float32)
        cdef float[:, :, :, :, ::1] view = out
        cdef MrSim *sim = self._begin()
        with nogil:
            mr_high_threat_cone(sim, env, fighter, interval, count,
                                <MrHighCone *> &view[0, 0, 0, 0, 0])
        self.busy = False
        return out
