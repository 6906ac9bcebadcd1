# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Binding of the C learner (csrc/learner/learner.h): checks arguments, then makes one C call."""

from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from midrange_puffer._learner cimport *
from midrange_puffer._threads cimport Threads

from midrange_puffer._threads import find_threads

MAX_LAYERS = MR_MAX_LAYERS
MAX_LEVELS = MR_OUTPUTS_MAX - 1  # of all heads together
MAX_ENTITY_SIZE = 256
WIDTH_UNIT = 16  # the width of a hidden layer is a multiple
MAX_WIDTH = 1024  # above it torch is faster, and the sums of the parts take gigabytes
MAX_FEATURES = 16_384  # more than a critic of sixteen fighters sees
MAX_DECISIONS = 2**30  # in one call: they are counted in 32 bits


def isas():
    """Returns the names of the instruction sets that this machine can run, best first."""
    names = []
    cdef const char *const *name = mr_learner_isas()
    while name[0] != NULL:
        names.append(name[0].decode())
        name += 1
    return names


def _can_be_heads(Py_ssize_t count):
    """True if a network can have so many numbers of an action."""
    return MR_HEADS_MIN <= count <= MR_HEADS_MAX


cdef int _check_aligned(const void *numbers, size_t size, str name) except -1:
    """Refuses numbers of `size` bytes at an address that C may not read them from."""
    if <size_t> numbers % size:
        raise ValueError(f"{name} must be aligned: begin at a multiple of {size} bytes")
    return 0


cdef int _check_decisions(str name, const float[:, ::1] array, Py_ssize_t rows,
                          Py_ssize_t horizon) except -1:
    """Refuses another shape than [rows, horizon]."""
    if array.shape[0] != rows or array.shape[1] != horizon:
        raise ValueError(f"{name} of shape ({array.shape[0]}, {array.shape[1]}): must be ({rows}, "
                         f"{horizon})")
    return _check_aligned(&array[0, 0], 4, name)


cdef int _check_rows(const int64_t[::1] rows, Py_ssize_t segments, Py_ssize_t horizon) except -1:
    """Refuses rows out of range, and no decisions or too many."""
    cdef Py_ssize_t i
    if not 1 <= rows.shape[0] * horizon <= MAX_DECISIONS:
        raise ValueError(f"{rows.shape[0]} segments of {horizon} decisions: at least 1 decision, "
                         f"at most {MAX_DECISIONS}")
    _check_aligned(&rows[0], 8, "rows")
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < segments:
            raise IndexError(f"segment {rows[i]}: 0 ... {segments - 1}")
    return 0


cdef int _choose(const int64_t[::1] rows, const int32_t[::1] decisions, Py_ssize_t horizon,
                 MrChoice *to) except -1:
    """Chooses these decisions of these segments, or all."""
    cdef Py_ssize_t i, most = rows.shape[0] * horizon
    to.rows, to.decisions, to.count = &rows[0], NULL, <int32_t> most
    if decisions is None:
        return 0
    if not 1 <= decisions.shape[0] <= most:
        raise ValueError(f"{decisions.shape[0]} decisions: at least 1, at most {most}")
    _check_aligned(&decisions[0], 4, "decisions")
    for i in range(decisions.shape[0]):
        if not 0 <= decisions[i] < most:
            raise IndexError(f"decision {decisions[i]}: 0 ... {most - 1}")
    to.decisions, to.count = &decisions[0], <int32_t> decisions.shape[0]
    return 0


def find_advantages(outcomes, const int64_t[::1] rows, settings, float[:, ::1] advantages,
                    float[::1] priorities):
    """Writes V-trace's advantages of some segments, and the sums of their absolute values.

    Args:
        outcomes: values, rewards and terminals for the decision before, and ratios of
            probabilities, float32 [segments, horizon] each.
        rows: int64 [n] of the segments.
        settings: gamma, gae_lambda, vtrace_rho_clip, vtrace_c_clip.
        advantages, priorities: float32 [segments, horizon], [segments]: these rows are written.
    """
    cdef MrOutcomes series
    cdef MrTraceSettings trace
    cdef const float[:, ::1] values, rewards, terminals, ratio
    cdef Py_ssize_t segments, horizon
    outcomes = tuple(outcomes)  # keeps the arrays alive while C reads
    values, rewards, terminals, ratio = outcomes
    segments, horizon = advantages.shape[0], advantages.shape[1]
    _check_rows(rows, segments, horizon)
    _check_decisions("values", values, segments, horizon)
    _check_decisions("rewards", rewards, segments, horizon)
    _check_decisions("terminals", terminals, segments, horizon)
    _check_decisions("ratio", ratio, segments, horizon)
    _check_aligned(&advantages[0, 0], 4, "advantages")
    if priorities.shape[0] != segments:
        raise ValueError(f"priorities of {priorities.shape[0]} segments: must be {segments}")
    _check_aligned(&priorities[0], 4, "priorities")
    trace.gamma, trace.lambda_, trace.rho_clip, trace.c_clip = settings
    series.horizon = <int32_t> horizon
    series.values, series.rewards = &values[0, 0], &rewards[0, 0]
    series.terminals, series.ratio = &terminals[0, 0], &ratio[0, 0]
    with nogil:
        mr_learner_advantages(&series, &trace, &rows[0], <int32_t> rows.shape[0], &advantages[0, 0],
                              &priorities[0])


cdef class Network:
    """An MLP in C: its outputs, the gradient of PPO's loss, and the steps of its optimizer.

    One Python thread at a time may use it: while a call is under way, every other raises
    RuntimeError.
    Its parameters are float32 [size], in the order and layout of the torch module `Policy`.

    A network without heads is a central critic: it gives values only, and its parameters are those
    of the torch module `Critic`.

    Args:
        features: number of features of an observation.
        widths: widths of the hidden layers.
        levels: number of levels of each of an action's numbers, 3 or more; None: actions are
            continuous; (): there are none, and it is a critic.
        ranges: of continuous actions, float32 [2, heads]: the middle of each
            number's range and half its length.
        deviations: of continuous actions, least and greatest, in half ranges.
        threads: number of threads to use, with the caller's; they are shared, see `find_threads`.
        learns: make room for gradients and steps, too.
        isa: one of isas(), or "auto".
        entities: None in one against one. In teams the layout of an observation: the number of
            features of the own state, the entity size, the kind of the targets, and for each kind
            its rows, their features, and the place of the first one. A kind of a critic may have
            the rows of several fighters: the rows of each, and the features from one fighter's
            first row to the next one's, follow.
        fighters: above 1, number of fighters that share the weights of their commander's network,
            whose observations, as `entities` lays out, and levels are those of one fighter after
            another. The last of `widths` is that of the joint layer.
        own_alive: with `fighters`, the feature that is above 0 for a living fighter.

    Attributes:
        heads: number of numbers of an action.

    Raises:
        ValueError: An impossible shape, or an instruction set that this machine cannot run.
        MemoryError: No memory, or no threads.
    """

    cdef MrLearner *learner
    cdef Threads shared
    cdef MrShape shape
    cdef bint busy  # read and written with the GIL held
    cdef readonly int size, features, heads, threads
    cdef readonly bint is_continuous, learns
    cdef readonly str isa

    def __cinit__(self, int features, widths, levels, ranges, deviations, int threads=1,
                  bint learns=True, str isa="auto", entities=None, int fighters=1,
                  int own_alive=0):
        cdef MrArray arrays[MR_MAX_ARRAYS]
        cdef int32_t size
        self.shared = find_threads(threads)
        known = isas()
        isa = known[0] if isa == "auto" else isa
        if isa not in known:
            raise ValueError(f"isa = {isa!r}: this machine has {', '.join(known)}, or auto")
        if not 1 <= len(widths) <= MR_MAX_LAYERS:
            raise ValueError(f"widths = {widths}: must be of 1 to {MR_MAX_LAYERS} layers")
        if any(width % WIDTH_UNIT or not 0 < width <= MAX_WIDTH for width in widths):
            raise ValueError(f"widths = {widths}: must be multiples of {WIDTH_UNIT} from "
                             f"{WIDTH_UNIT} to {MAX_WIDTH}")
        if not 1 <= features <= MAX_FEATURES:
            raise ValueError(f"features = {features}: at least 1, at most {MAX_FEATURES}")
        if levels and (not _can_be_heads(len(levels)) or min(levels) < 1
                       or sum(levels) > MAX_LEVELS):
            raise ValueError(f"levels = {levels}: must be {MR_HEADS_MIN} to {MR_HEADS_MAX} numbers "
                             f"from 1 on, and {MAX_LEVELS} at most together")
        if fighters < 1:
            raise ValueError(f"fighters = {fighters}: at least 1")
        if fighters > 1:
            self._take_fighters(fighters, own_alive, features, widths, levels, entities)
        self.shape.features = features // fighters
        self.shape.layers = len(widths)
        for layer, width in enumerate(widths):
            self.shape.width[layer] = width
        self.shape.is_continuous = levels is None
        if levels is None:
            middles, reaches = ranges
            if not _can_be_heads(len(middles)) or len(reaches) != len(middles):
                raise ValueError(f"ranges of {len(middles)} middles and {len(reaches)} halves: "
                                 f"must be {MR_HEADS_MIN} to {MR_HEADS_MAX} numbers each")
            self.shape.heads = len(middles)
            for head, (middle, reach) in enumerate(zip(middles, reaches, strict=True)):
                self.shape.middle[head], self.shape.reach[head] = middle, reach
        else:
            self.shape.heads = len(levels)
            for head, count in enumerate(levels):
                self.shape.levels[head] = count
        self.shape.deviation[0], self.shape.deviation[1] = deviations
        if entities is not None:
            self._take_entities(entities, levels and levels[len(levels) - len(levels) // fighters:])
        name = isa.encode()
        self.learner = mr_learner_create(&self.shape, self.shared.threads, learns, name)
        if self.learner == NULL:
            raise MemoryError(f"no memory for a network of widths {tuple(widths)}")
        mr_learner_arrays(self.learner, arrays, &size)
        self.size, self.features, self.threads, self.isa = size, features, threads, isa
        self.heads, self.is_continuous, self.learns = self.shape.heads, levels is None, learns

    cdef int _take_fighters(self, int fighters, int own_alive, int features, widths, levels,
                            entities) except -1:
        if entities is None or not levels or len(widths) < 2:
            raise ValueError(f"fighters = {fighters}: must be of a team, with levels and at least "
                             f"2 hidden layers")
        count = len(levels) // fighters
        if features % fighters or tuple(levels) != tuple(levels[:count]) * fighters:
            raise ValueError(f"fighters = {fighters}: {features} features and levels = {levels} "
                             f"must be of equal parts")
        if not 0 <= own_alive < entities[0]:
            raise ValueError(f"own_alive = {own_alive}: must be one of {entities[0]} features")
        self.shape.fighters, self.shape.own_alive = fighters, own_alive
        return 0

    cdef int _take_entities(self, entities, levels) except -1:
        own, size, targets, kinds = entities
        end = own
        if not (1 <= len(kinds) <= MR_MAX_KINDS and 0 <= targets < len(kinds)):
            raise ValueError(f"entities of {len(kinds)} kinds, targets = {targets}: must be of 1 "
                             f"to {MR_MAX_KINDS} kinds, of which one is the targets'")
        if size % WIDTH_UNIT or not 0 < size <= MAX_ENTITY_SIZE:
            raise ValueError(f"entity_size = {size}: must be a multiple of {WIDTH_UNIT} from "
                             f"{WIDTH_UNIT} to {MAX_ENTITY_SIZE}")
        for kind, (rows, features, place, *fighters) in enumerate(kinds):
            per_fighter, stride = fighters or (rows, 0)
            if (place != end and not fighters) or rows < 1 or features < 1:
                raise ValueError(f"entities = {entities}: each kind must follow the one before")
            if per_fighter < 1 or rows % per_fighter or stride < 0 or place < own:
                raise ValueError(f"entities = {entities}: {rows} rows cannot be {per_fighter} of "
                                 f"each fighter")
            last = place + (rows // per_fighter - 1) * stride
            end = max(end, last + per_fighter * features)
            self.shape.rows[kind] = MrEntityRows(rows, features, place, per_fighter, stride)
        if own < 1 or end != self.shape.features:
            raise ValueError(f"entities = {entities}: must be of {self.shape.features} features")
        if levels and levels[len(levels) - 1] != 1 + kinds[targets][0]:
            raise ValueError(f"levels = {levels}: the last must be 1 + {kinds[targets][0]} targets")
        self.shape.own, self.shape.kinds, self.shape.entity_size = own, len(kinds), size
        self.shape.targets = targets
        return 0

    def __dealloc__(self):
        mr_learner_destroy(self.learner)
        self.learner = NULL

    def arrays(self):
        """Returns the shapes of the parameters' arrays, in their order."""
        cdef MrArray arrays[MR_MAX_ARRAYS]
        cdef int32_t size
        count = mr_learner_arrays(self.learner, arrays, &size)
        shapes = [(arrays[i].rows, arrays[i].columns) for i in range(count)]
        return [shape if arrays[i].is_matrix else shape[1:] for i, shape in enumerate(shapes)]

    def load(self, const float[::1] parameters):
        """Loads the parameters, float32 [size]."""
        self._check_parameters("parameters", parameters)
        self._begin()
        try:
            with nogil:
                mr_learner_load(self.learner, &parameters[0])
        finally:
            self.busy = False

    def act(self, const float[:, :] observations, const float[:, ::1] noise, actions,
            outcomes=None, keep=None, Py_ssize_t row=0, Py_ssize_t step=0):
        """Draws actions.

        Args:
            observations: float32 [n, features] or more; the first features are used.
            noise: float32 [n, heads], uniform in [0, 1) for levels, standard normal for continuous
                actions; None: the likeliest action is taken.
            actions: int32 levels, or float32 clipped to their ranges, [n, heads]: written.
            outcomes: of the decision before, for `keep`: rewards float32 [n], and bool [n], True
                if it ended the engagement.
            keep: destinations: observations [rows, horizon, features or more], actions as drawn
                [rows, horizon, heads], log-probabilities, values, rewards and terminals
                float32 [rows, horizon]. None: nothing is kept.
            row, step: n rows from `row` on are written, of decision `step` of the horizon.
        """
        cdef MrSeen seen
        cdef MrKeep to
        cdef Py_ssize_t count = observations.shape[0]
        if self.heads == 0:
            raise RuntimeError("a critic does not act")
        if count == 0:
            return
        if count > MAX_DECISIONS:
            raise ValueError(f"{count} observations: at most {MAX_DECISIONS}")
        if (observations.shape[1] < self.features or observations.strides[1] != sizeof(float)
                or observations.strides[0] % <Py_ssize_t> sizeof(float)):
            raise ValueError(f"observations must be rows of {self.features} features or more, side "
                             f"by side, and rows whole numbers apart")
        _check_aligned(&observations[0, 0], 4, "observations")
        seen.count = <int32_t> count
        seen.observations = &observations[0, 0]
        seen.row = observations.strides[0] // <Py_ssize_t> sizeof(float)
        cdef uint8_t[:, ::1] drawn = self._raw(actions, (count, self.heads), "actions")
        if keep is not None:
            outcomes, keep = tuple(outcomes), tuple(keep)  # keep the arrays alive while C writes
        self._keep(outcomes, keep, row, step, observations.shape[1], &seen, &to)
        cdef const float *random = NULL
        if noise is not None:
            if noise.shape[0] != count or noise.shape[1] != self.heads:
                raise ValueError(f"noise must be of shape ({count}, {self.heads})")
            random = &noise[0, 0]
            _check_aligned(random, 4, "noise")
        self._begin()
        try:
            with nogil:
                mr_learner_act(self.learner, &seen, random, &drawn[0, 0], &to)
        finally:
            self.busy = False

    def score(self, experience, const int64_t[::1] rows, float[:, ::1] logprobs,
              float[:, ::1] values, const int32_t[::1] decisions=None):
        """Writes the policy's log-probabilities and values [n, horizon] for some segments.

        Args:
            experience: as of `gradient`.
            rows: int64 [n] of the segments.
            logprobs: of a critic None.
            decisions: as of `gradient`; the others are not written.
        """
        cdef MrExperience data
        cdef MrChoice choice
        experience = tuple(experience)  # keeps the arrays alive while C reads
        self._experience(experience, rows, &data)
        cdef float *given = self._logprobs(logprobs, rows.shape[0], data.horizon)
        _check_decisions("values", values, rows.shape[0], data.horizon)
        _choose(rows, decisions, data.horizon, &choice)
        self._begin()
        try:
            with nogil:
                mr_learner_score(self.learner, &data, &choice, given, &values[0, 0])
        finally:
            self.busy = False

    def gradient(self, experience, const int64_t[::1] rows, const float[:, ::1] advantages,
                 const float[:, ::1] returns, settings, float scale, float[::1] gradient,
                 float[:, ::1] logprobs, float[:, ::1] values,
                 const int32_t[::1] decisions=None):
        """Adds the gradient of the loss of some segments, times `scale`, to `gradient` [size].

        Args:
            experience: observations [segments, horizon, features or more], actions [segments,
                horizon, heads], which a critic does not read, log-probabilities before the update
                and latest values [segments, horizon].
            rows: int64 [n] of the segments.
            advantages: [n, horizon], normalised and weighted; a critic does not use them.
            returns: [n, horizon], the targets of the values.
            settings: clip_coef, vf_clip_coef, vf_coef, ent_coef.
            logprobs, values: [n, horizon]: written, the policy's outputs; logprobs of a critic are
                None.
            decisions: int32 [m], the places in [n, horizon] of the decisions that count, one or
                more; None: all count.

        Returns:
            Means over the decisions, by name; of a critic only "value_loss" has a meaning.
        """
        cdef MrExperience data
        cdef MrChoice choice
        cdef MrMinibatch minibatch
        cdef MrLossSettings loss
        cdef MrLosses losses
        experience = tuple(experience)  # keeps the arrays alive while C reads
        self._experience(experience, rows, &data)
        cdef float *given = self._logprobs(logprobs, rows.shape[0], data.horizon)
        _check_decisions("values", values, rows.shape[0], data.horizon)
        _check_decisions("advantages", advantages, rows.shape[0], data.horizon)
        _check_decisions("returns", returns, rows.shape[0], data.horizon)
        self._check_parameters("gradient", gradient)
        loss.clip, loss.value_clip, loss.value_weight, loss.entropy_weight = settings
        _choose(rows, decisions, data.horizon, &choice)
        minibatch.advantages = &advantages[0, 0]
        minibatch.returns = &returns[0, 0]
        self._begin_to_learn()
        try:
            with nogil:
                mr_learner_gradient(self.learner, &data, &choice, &minibatch, &loss, scale,
                                    &gradient[0], given, &values[0, 0], &losses)
        finally:
            self.busy = False
        return losses

    def muon(self, float[::1] parameters, float[::1] momentum, float[::1] gradient, float rate,
             float beta, float max_norm):
        """Takes a step of Muon against `gradient`, whose norm is limited first; all are [size]."""
        self._check_parameters("parameters", parameters)
        self._check_parameters("momentum", momentum)
        self._check_parameters("gradient", gradient)
        self._begin_to_learn()
        try:
            with nogil:
                mr_learner_muon(self.learner, &parameters[0], &momentum[0], &gradient[0], rate,
                                beta, max_norm)
        finally:
            self.busy = False

    def adam(self, float[::1] parameters, float[::1] mean, float[::1] square, float[::1] gradient,
             float rate, float beta1, float beta2, float epsilon, int64_t step, float max_norm):
        """Takes a step of Adam; `step` counts from 1; all arrays are [size]."""
        self._check_parameters("parameters", parameters)
        self._check_parameters("mean", mean)
        self._check_parameters("square", square)
        self._check_parameters("gradient", gradient)
        self._begin_to_learn()
        try:
            with nogil:
                mr_learner_adam(self.learner, &parameters[0], &mean[0], &square[0], &gradient[0],
                                rate, beta1, beta2, epsilon, step, max_norm)
        finally:
            self.busy = False

    cdef int _begin_to_learn(self) except -1:
        if not self.learns:
            raise RuntimeError("the network was made without room for gradients")
        return self._begin()

    cdef int _begin(self) except -1:
        if self.busy:
            raise RuntimeError("the network is in use by another thread")
        self.busy = True
        return 0

    cdef int _check_parameters(self, str name, const float[::1] array) except -1:
        if array.shape[0] != self.size:
            raise ValueError(f"{name} of {array.shape[0]} numbers: must be {self.size}")
        return _check_aligned(&array[0], 4, name)

    cdef float *_logprobs(self, float[:, ::1] logprobs, Py_ssize_t rows,
                          Py_ssize_t horizon) except? NULL:
        """Returns the destination of log-probabilities; NULL of a critic's."""
        if self.heads == 0:
            return NULL
        _check_decisions("logprobs", logprobs, rows, horizon)
        return &logprobs[0, 0]

    def _raw(self, array, tuple shape, str name):
        """Returns the bytes of an array of actions."""
        kind = np.float32 if self.is_continuous else np.int32
        if (array.dtype != kind or array.shape != shape or not array.flags.c_contiguous
                or not array.flags.aligned):
            raise ValueError(f"{name} of {array.dtype} {array.shape}: must be {kind.__name__} "
                             f"{shape}, aligned, one row after another")
        return array.view(np.uint8).reshape(shape[0], -1)

    cdef int _keep(self, outcomes, keep, Py_ssize_t row, Py_ssize_t step, Py_ssize_t seen_width,
                   MrSeen *seen, MrKeep *to) except -1:
        """Sets the destinations of `act`; the observations seen have `seen_width` numbers."""
        cdef float[:, :, ::1] observations
        cdef uint8_t[:, ::1] actions
        cdef float[:, ::1] logprobs, values, rewards, terminals
        cdef const float[::1] before
        cdef const uint8_t[::1] ends
        seen.rewards, seen.ends = NULL, NULL
        to.observations = to.logprobs = to.values = to.rewards = to.terminals = NULL
        to.actions = NULL
        to.stride = 1
        if keep is None:
            return 0
        observations, drawn, logprobs, values, rewards, terminals = keep
        before, ended = outcomes
        if ended.dtype != bool:
            raise ValueError(f"ends of {ended.dtype}: must be bool")
        ends = ended.view(np.uint8)
        shape = (values.shape[0], values.shape[1])
        if not 0 <= step < shape[1]:
            raise IndexError(f"step = {step}: 0 ... {shape[1] - 1}")
        if not 0 <= row <= shape[0] - seen.count:
            raise IndexError(f"row = {row}: {seen.count} rows from there on do not fit into "
                             f"{shape[0]}")
        if before.shape[0] != seen.count or ends.shape[0] != seen.count:
            raise ValueError(f"outcomes must be of {seen.count} agents")
        _check_decisions("log-probabilities", logprobs, values.shape[0], values.shape[1])
        _check_aligned(&values[0, 0], 4, "values")
        _check_decisions("rewards", rewards, values.shape[0], values.shape[1])
        _check_decisions("terminals", terminals, values.shape[0], values.shape[1])
        if (tuple(observations.shape)[:2] != shape
                or not self.features <= observations.shape[2] <= seen_width):
            raise ValueError(f"observations must be kept in {(*shape, self.features)}, or in "
                             f"longer rows up to the {seen_width} numbers that are seen")
        actions = self._raw(drawn, (*shape, self.heads), "actions that are kept")
        seen.rewards, seen.ends = &before[0], &ends[0]
        to.observations, to.width = &observations[row, step, 0], observations.shape[2]
        to.actions = &actions[row, 4 * self.heads * step]
        to.logprobs, to.values = &logprobs[row, step], &values[row, step]
        to.rewards, to.terminals = &rewards[row, step], &terminals[row, step]
        to.stride = shape[1]
        _check_aligned(seen.rewards, 4, "rewards")
        return _check_aligned(to.observations, 4, "observations that are kept")

    cdef int _experience(self, experience, const int64_t[::1] rows, MrExperience *to) except -1:
        """Sets the arrays of `gradient`, after checking that they and the rows fit."""
        cdef const float[:, :, ::1] observations
        cdef const uint8_t[:, ::1] actions
        cdef const float[:, ::1] proximal, values
        observations, taken, proximal, values = experience
        shape = tuple(values.shape)[:2]
        if (tuple(proximal.shape)[:2] != shape or tuple(observations.shape)[:2] != shape
                or observations.shape[2] < self.features):
            raise ValueError(f"experience must be of {shape} decisions and {self.features} "
                             f"features or more")
        _check_rows(rows, values.shape[0], values.shape[1])
        to.horizon = <int32_t> values.shape[1]
        to.observations, to.width = &observations[0, 0, 0], observations.shape[2]
        to.actions = NULL
        if self.heads:
            actions = self._raw(taken, (*shape, self.heads), "actions")
            to.actions = &actions[0, 0]
        to.proximal = &proximal[0, 0]
        to.values = &values[0, 0]
        _check_aligned(to.observations, 4, "observations")
        _check_aligned(to.proximal, 4, "log-probabilities")
        return _check_aligned(to.values, 4, "values")
