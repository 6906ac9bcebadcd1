"""Declarations of csrc/midrange.h for Cython."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from midrange_puffer._threads cimport MrThreads

cdef extern from "stdbool.h":
    ctypedef bint c_bool "bool"

cdef extern from "midrange.h" nogil:
    enum: MR_SIDES
    enum: MR_FIGHTERS_MAX
    enum: MR_SIDE_MAX
    enum: MR_KINDS_MAX
    enum: MR_TYPES_MAX
    enum: MR_MISSILES_PER_FIGHTER
    enum: MR_PAIR_MISSILES
    enum: MR_ROW_COUNT
    enum: MR_ROW_SYSTEMS
    enum: MR_ROW_MISSION
    enum: MR_SYSTEMS_LEVELS
    enum: MR_SILENT
    enum: MR_DROP
    enum: MR_RUDDER_LEVELS
    enum: MR_CLIMB_LEVELS
    enum: MR_THROTTLE_LEVELS
    enum: MR_PAIR_FIRE_LEVELS
    enum: MR_PILOT_COUNT
    enum: MR_OBSERVATION_VERSION
    enum: MR_RULES_VERSION
    enum: MR_SAME_BITS_SINCE
    enum: MR_MAP_OFF
    enum: MR_MAP_ASPECT
    enum: MR_MAP_LAUNCH
    enum: MR_MAP_TARGET
    enum: MR_EVASION_COUNT
    enum: MR_LANES
    enum: MR_AHEAD_HELD
    enum: MR_AHEAD_ESCAPES
    enum: MR_AHEAD_THREATENED
    enum: MR_AHEAD_LANES

    ctypedef struct MrParams:
        pass
    ctypedef struct MrParameter:
        const char *group
        const char *name
        const char *unit
        const char *meaning
        c_bool is_int
        double default_value, minimum, maximum
        size_t offset
    ctypedef struct MrParameterPair:
        const char *low
        const char *high
    ctypedef struct MrParameterAddition:
        const char *name
        int32_t version
        double neutral
    ctypedef struct MrPilotInfo:
        const char *name
        const char *meaning
        c_bool by_map, needs_sensors, needs_team, needs_mission
    ctypedef enum MrEntity:
        MR_ENGAGEMENT
        MR_FIGHTER
        MR_MISSILE
        MR_CONTACT
        MR_BELIEF
        MR_SYSTEMS
    ctypedef struct MrField:
        const char *name
        const char *meaning
        c_bool is_int
    ctypedef struct MrFeature:
        const char *name
        float scale
        c_bool lateral
        const char *meaning
    ctypedef enum MrMission:
        MR_MISSION_FIGHT
        MR_MISSION_LINE
        MR_MISSION_ESCORT
    ctypedef enum MrObservation:
        MR_OBSERVE_DEFAULT
        MR_OBSERVE_STG
        MR_OBSERVE_RADAR
        MR_OBSERVE_TEAM
        MR_OBSERVE_TEAM_RADAR
        MR_OBSERVE_HEIGHT
        MR_OBSERVE_HEIGHT_2
        MR_OBSERVE_HEIGHT_3
        MR_OBSERVE_TEAM_HEIGHT
        MR_OBSERVE_RADAR_HEIGHT
        MR_OBSERVE_RADAR_HEIGHT_2
        MR_OBSERVE_RADAR_HEIGHT_3
        MR_OBSERVE_TEAM_RADAR_HEIGHT
    ctypedef struct MrAdded:
        c_bool systems, mission
    ctypedef struct MrRows:
        const char *name
        int32_t rows, features, first
    # Arrays [MR_MAP_OFF][MR_MAP_ASPECT][MR_MAP_LAUNCH][MR_MAP_TARGET]; Cython need not know.
    ctypedef struct MrRanges "MrRanges":
        pass
    ctypedef struct MrEnvelope:
        float launch_speed_min, launch_speed_max, target_speed_min, target_speed_max
        MrRanges aero, nez, cold, minimum
    # Floats, one for each row of mr_aircraft_fields and mr_missile_fields.
    ctypedef struct MrAircraftFields:
        pass
    ctypedef struct MrMissileFields:
        pass
    ctypedef struct MrTypeField:
        const char *name
        double minimum, maximum
        const char *unit
        const char *meaning
    ctypedef struct MrTypeInfo:
        const char *name
        const char *meaning
    ctypedef struct MrConfig:
        MrParams params
        int32_t num_envs
        uint64_t seed
        float pilot_weights[16][16]
        MrAircraftFields aircraft[8]
        MrMissileFields missiles[8]
        float aircraft_weights[2][8]
        float missile_weights[2][8]
        int32_t loads[2][3]
        int32_t load_types[2][3]
        c_bool auto_reset
        const char *isa
        MrThreads *threads
        const MrEnvelope *envelope
        MrObservation observation
    ctypedef struct MrResults:
        float *observations
        float *rewards
        c_bool *terminals
        c_bool *truncations
        float *final_observations
        float *states
        float *final_states
    ctypedef enum MrNeeds:
        MR_NEEDS_NOTHING
        MR_NEEDS_SENSORS
        MR_NEEDS_TEAM
    ctypedef struct MrOrderInfo:
        const char *name
        MrNeeds needs
        const char *meaning
        const char *otherwise
    ctypedef enum MrHead:
        MR_HEAD_ORDER
        MR_HEAD_PERMISSION
        MR_HEAD_LEVEL
        MR_HEAD_SYSTEMS
        MR_HEAD_TARGET
    enum: MR_ORDER_HEADS_MAX
    ctypedef enum MrOrder:
        MR_ORDER_COUNT
    enum: MR_STATE_COUNT
    ctypedef struct MrStateInfo:
        const char *name
        const char *meaning
    ctypedef struct MrFighterState:
        float x, y, z, direction_x, direction_y, direction_z, speed, rudder, climb, throttle
        int32_t alive, ammunition, ammunition_2, ammunition_3, pilot, launch_wait
        int32_t silent, chaff, cloud_wait
        float cloud_x, cloud_y, cloud_z
    ctypedef struct MrMissileState:
        int32_t active, owner, target, age, kind
        float x, y, z, direction_x, direction_y, direction_z, speed, rudder
    ctypedef struct MrDrawnTypes:
        pass
    ctypedef struct MrRecord:
        pass
    ctypedef struct MrSim:
        pass
    ctypedef struct MrEvasion:
        const char *name
        const char *meaning
    ctypedef struct MrShot:
        pass
    enum: MR_CONE_RUDDERS
    enum: MR_CONE_SHARES
    enum: MR_CONE_CLIMBS
    ctypedef struct MrCone:
        pass
    ctypedef struct MrHighCone:
        pass
    ctypedef struct MrMoment:
        pass
    ctypedef struct MrPrediction:
        pass
    ctypedef struct MrMember:
        const char *name
        c_bool is_float
        size_t offset, size
    ctypedef struct MrLayouts:
        const MrMember *record
        const MrMember *shot
        const MrMember *moment
        const MrMember *prediction
        const MrMember *drawn_types

    const MrParameter *mr_parameters()
    const MrParameterPair *mr_parameter_pairs()
    const MrParameterAddition *mr_parameter_additions()
    const MrPilotInfo *mr_pilots()
    const MrStateInfo *mr_states()
    const MrOrderInfo *mr_orders()
    const MrStateInfo *mr_permissions()
    const MrStateInfo *mr_order_levels()
    const MrStateInfo *mr_order_systems()
    int32_t mr_order_heads(int32_t sensing, int32_t red_size, int32_t blue_size, int32_t dimensions,
                           c_bool has_systems, int32_t *levels, MrHead *heads, MrOrder *orders)
    void mr_controls_of_orders(MrSim *sim, const int32_t *orders, float *controls, uint8_t *absent)
    const MrTypeField *mr_aircraft_fields()
    const MrTypeField *mr_missile_fields()
    const MrTypeInfo *mr_aircraft_types()
    const MrTypeInfo *mr_missile_types()
    void mr_package_types(MrConfig *config)
    const MrField *mr_fields(const MrSim *sim, MrEntity entity)
    int32_t mr_count_of(const MrSim *sim, MrEntity entity)
    int32_t mr_fighters_per_env(const MrSim *sim)
    int32_t mr_controls(const MrSim *sim)
    void mr_team_rows(MrObservation observation, MrAdded added, int32_t red_size,
                      int32_t blue_size, MrRows *rows)
    int32_t mr_enemy_rows(int32_t red_size, int32_t blue_size)
    const MrFeature *mr_features(MrObservation observation)
    const MrFeature *mr_mission_features()
    const MrFeature *mr_systems_features()
    MrAdded mr_added(const MrParams *params)
    int32_t mr_feature_count(MrObservation observation, MrAdded added, int32_t red_size,
                             int32_t blue_size)
    MrParams mr_default_params()
    const char *const *mr_isas()
    MrSim *mr_create(const MrConfig *config)
    void mr_destroy(MrSim *sim)
    const char *mr_isa(const MrSim *sim)
    size_t mr_state_bytes(const MrSim *sim)
    int32_t mr_agents_per_env(const MrSim *sim)
    uint64_t mr_seed(const MrSim *sim)
    void mr_reset(MrSim *sim, uint64_t seed)
    void mr_start_episode(MrSim *sim, int32_t env, int32_t engagement, int32_t episode)
    void mr_step(MrSim *sim, const int32_t *actions, const MrResults *results)
    void mr_step_continuous(MrSim *sim, const float *actions, const MrResults *results)
    void mr_step_controls(MrSim *sim, const float *controls, float *rewards)
    void mr_advance(MrSim *sim, int32_t steps)
    void mr_observe(MrSim *sim, float *observations)
    void mr_observe_states(MrSim *sim, float *states)
    void mr_observe_all(MrSim *sim, float *observations)
    void mr_observe_truth(MrSim *sim, float *observations)
    int32_t mr_truth_features(const MrSim *sim)
    void mr_get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state)
    const char *mr_set_fighter(MrSim *sim, int32_t env, int32_t fighter,
                               const MrFighterState *state)
    void mr_get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state)
    const char *mr_set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state)
    void mr_draw_types(const MrSim *sim, int32_t engagement, int32_t episode,
                       MrDrawnTypes *drawn)
    c_bool mr_launch(MrSim *sim, int32_t env, int32_t fighter)
    void mr_get_field(const MrSim *sim, MrEntity entity, const MrField *field, void *values)
    size_t mr_snapshot_bytes(const MrSim *sim)
    void mr_snapshot(const MrSim *sim, void *bytes)
    const char *mr_restore(MrSim *sim, const void *bytes)
    uint64_t mr_state_hash(const MrSim *sim)
    uint64_t mr_fight_hash(const MrSim *sim)
    int32_t mr_record_count(const MrSim *sim)
    const MrRecord *mr_take_records(MrSim *sim, int32_t *count)
    MrLayouts mr_layouts()
    void mr_direction(double degrees, float *x, float *y)
    void mr_philox4x32(const uint32_t *counter, const uint32_t *key, uint32_t *out)
    const MrEvasion *mr_evasions()
    void mr_fly_shots(const MrSim *sim, const MrShot *shots, int32_t count, c_bool *hits)
    void mr_look_ahead(const MrSim *sim, int32_t env, int32_t seat, int32_t interval, int32_t count,
                       MrMoment *moments, MrPrediction *predictions)
    void mr_threat_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count,
                        MrCone *cones)
    void mr_high_threat_cone(const MrSim *sim, int32_t env, int32_t fighter, int32_t interval,
                             int32_t count, MrHighCone *cones)
