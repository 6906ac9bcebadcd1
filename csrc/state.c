// SPDX-License-Identifier: MIT
//
// Access to the state from outside: reading and setting it, its hash. setup.py compiles this file once for each
// game, MR_SIDE and MR_DIMENSIONS.

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aligned.h"
#include "block.h"
#include "kernel.h"

// Fields -------------------------------------------------------------------------------------------------

#define MR_IS_float false
#define MR_IS_int32_t true
#define MR_DESCRIBE(type, name, minimum, maximum, hashed, meaning, offset) \
  {#name, meaning, MR_IS_##type, hashed, minimum, maximum, offset},
#define MR_OF_ENGAGEMENT(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrBlock, name))
#define MR_OF_FIGHTER(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, name))
#define MR_OF_TACTICS(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, tactics.name))
#define MR_OF_FIGHTER_BODY(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, body.name))
#define MR_OF_MISSILE(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrMissile, name))
#define MR_OF_MISSILE_BODY(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrMissile, body.name))
#define MR_OF_BELIEVED(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrContact, body.name))
#define MR_OF_A_CONTACT(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrContact, name))
#define MR_OF_BELIEF(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrBelief, name))
#define MR_OF_SYSTEMS(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrSystems, name))

static const MrField engagement_fields[] = {MR_KEY_FIELDS(MR_OF_ENGAGEMENT) MR_ENGAGEMENT_FIELDS(MR_OF_ENGAGEMENT){0}};
static const MrField fighter_fields[] = {MR_BODY_FIELDS(MR_OF_FIGHTER_BODY) MR_TACTICS_FIELDS(MR_OF_TACTICS)
                                             MR_FIGHTER_FIELDS(MR_OF_FIGHTER){0}};
static const MrField missile_fields[] = {MR_BODY_FIELDS(MR_OF_MISSILE_BODY) MR_MISSILE_FIELDS(MR_OF_MISSILE){0}};
static const MrField contact_fields[] = {MR_BODY_FIELDS(MR_OF_BELIEVED) MR_CONTACT_FIELDS(MR_OF_A_CONTACT){0}};
static const MrField belief_fields[] = {MR_BELIEF_FIELDS(MR_OF_BELIEF){0}};
static const MrField systems_fields[] = {MR_SYSTEMS_FIELDS(MR_OF_SYSTEMS){0}};

// The fields of a kind of entity, and where its structs are in a block, or in a block's picture if it is `known`: the
// first at `offset`, each of `size` bytes; there is room for `room`.
typedef struct {
  const MrField *fields;
  size_t offset, size;
  int32_t room;
  bool known;
} Entity;

static const Entity entities[MR_ENTITY_COUNT] = {
    [MR_ENGAGEMENT] = {engagement_fields, 0, sizeof(MrBlock), 1, false},
    [MR_FIGHTER] = {fighter_fields, offsetof(MrBlock, fighters), sizeof(MrFighter), MR_FIGHTERS, false},
    [MR_MISSILE] = {missile_fields, offsetof(MrBlock, missiles), sizeof(MrMissile), MR_MISSILES, false},
    [MR_CONTACT] = {contact_fields, offsetof(MrPicture, contacts), sizeof(MrContact), MR_CONTACTS, true},
    [MR_BELIEF] = {belief_fields, offsetof(MrPicture, beliefs), sizeof(MrBelief), MR_MISSILES, true},
    [MR_SYSTEMS] = {systems_fields, offsetof(MrPicture, systems), sizeof(MrSystems), MR_FIGHTERS, true},
};

static const MrField *fields_of(MrEntity entity) { return entities[entity].fields; }

// A block and its picture, which is NULL without sensors.
typedef struct {
  const void *block, *picture;
} State;

static State state_of(const MrSim *sim, int32_t block) { return (State){mr_block(sim, block), mr_picture(sim, block)}; }

// The address of a field's four bytes: in one lane of the entity `number` of its kind.
static const char *place(State state, const Entity *entity, int32_t number, const MrField *field, int lane) {
  const char *from = entity->known ? state.picture : state.block;
  return from + entity->offset + (size_t)number * entity->size + field->offset + 4 * (size_t)lane;
}

static void get_field(const MrSim *sim, MrEntity kind, const MrField *field, void *values) {
  const Entity *entity = &entities[kind];
  int32_t count = mr_count_of(sim, kind);
  char *to = values;
  if (entity->known && !sim->pictures) return;
  for (int32_t env = 0; env < sim->num_envs; env++) {
    for (int32_t number = 0; number < count; number++, to += 4) {
      memcpy(to, place(state_of(sim, env / MR_LANES), entity, number, field, env % MR_LANES), 4);
    }
  }
}

// Checks -------------------------------------------------------------------------------------------------
//
// A state from outside is checked before it is flown: its fields by their ranges, and the numbers of fighters and the
// directions that the steps rely on. `flown` is true of a state that has been flown on since it was checked: it may
// have left the ends of the wide ranges, and directions may have drifted.

// An end of a field's range.
static double range_end(double end, bool flown) { return flown && fabs(end) > 1e4 ? 2.0 * end : end; }

// True if the value at an address is in the field's range. Not-a-number is in no range.
static bool in_range(const MrField *field, const char *at, bool flown) {
  int32_t whole;
  float number;
  memcpy(&whole, at, sizeof whole);
  memcpy(&number, at, sizeof number);
  double value = field->is_int ? whole : (double)number;
  return value >= range_end(field->minimum, flown) && value <= range_end(field->maximum, flown);
}

// The name of the first field of an entity that is out of its range in one lane; NULL if there is none.
static const char *out_of_range(State state, const Entity *entity, int32_t number, int lane, bool flown) {
  for (const MrField *field = entity->fields; field->name; field++) {
    if (!in_range(field, place(state, entity, number, field, lane), flown)) return field->name;
  }
  return NULL;
}

// NULL if a body's direction is a unit vector in one lane.
static const char *wrong_direction(const MrBody *body, int lane, bool flown) {
  float sine = mr_climb_sine(body, lane);
  float length2 = body->c[lane] * body->c[lane] + body->s[lane] * body->s[lane] + sine * sine;
  return fabsf(length2 - 1.0f) < (flown ? 0.02f : 0.01f) ? NULL : "direction";
}

// True if `other` is the number of an enemy of a fighter, which may be any number, too.
static bool is_enemy(const MrSim *sim, int32_t fighter, int32_t other) {
  bool are_fighters = fighter >= 0 && fighter < mr_fighters(sim) && other >= 0 && other < mr_fighters(sim);
  return are_fighters && mr_side(sim, fighter) != mr_side(sim, other);
}

// The name of what is wrong about a missile that flies, beside the ranges of its fields; NULL if nothing is.
static const char *wrong_missile(const MrSim *sim, const MrMissile *m, int lane, bool flown) {
  if (!m->active[lane]) return NULL;
  if (!is_enemy(sim, m->owner[lane], m->target[lane])) return "target";
  if (mr_kind(m, lane) >= mr_kinds_of(sim, mr_side(sim, m->owner[lane]))) return "kind";
  return wrong_direction(&m->body, lane, flown);
}

// "ammunition" if a fighter has more missiles of the later kinds than in all, or some of a kind that its side does not
// carry; else NULL.
static const char *wrong_ammunition(const MrSim *sim, int32_t fighter, const MrFighter *f, int lane) {
  int32_t others = 0, kinds = mr_kinds_of(sim, mr_side(sim, fighter));
  for (int32_t kind = 1; MR_DIMENSIONS == 3 && kind < MR_KINDS_MAX; kind++) {
    int32_t left = mr_missiles_left(f, kind, lane);
    if (kind >= kinds && left > 0) return "ammunition";
    others += left;
  }
  return others > f->ammunition[lane] ? "ammunition" : NULL;
}

// The name of a fighter's system that works in one lane of a game without it; NULL if none does.
static const char *wrong_systems(const MrSim *sim, const MrSystems *systems, int lane) {
  if (systems->silent[lane] && !sim->params.emission_control) return "silent";
  if (systems->chaff[lane] > sim->params.chaff) return "chaff";
  return systems->cloud_end[lane] && !sim->params.chaff ? "cloud_end" : NULL;
}

// The same about all that is in one lane. In one against one a fighter has no field for its target.
static const char *wrong_lane(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int lane, bool flown) {
  bool attacks = b->attacker[lane] != 0, has_mission = sim->params.mission != MR_MISSION_FIGHT;
  float length2 = b->line_x[lane] * b->line_x[lane] + b->line_y[lane] * b->line_y[lane];
  const char *wrong = attacks != has_mission ? "attacker" : NULL;
  if (!wrong && fabsf(length2 - (has_mission ? 1.0f : 0.0f)) > 0.01f) wrong = "line";
  for (int32_t f = 0; f < mr_fighters(sim) && !wrong; f++) {
    wrong = wrong_direction(&b->fighters[f].body, lane, flown);
    if (!wrong) wrong = wrong_ammunition(sim, f, &b->fighters[f], lane);
    if (!wrong && picture) wrong = wrong_systems(sim, &picture->systems[f], lane);
#if MR_SIDE > 1
    if (!is_enemy(sim, f, b->fighters[f].target[lane])) wrong = "target";
#endif
  }
  for (int32_t slot = 0; slot < MR_MISSILES && !wrong; slot++) {
    const MrMissile *m = &b->missiles[slot];
    wrong = wrong_missile(sim, m, lane, flown);
    if (!wrong && m->active[lane] && !b->fighters[m->target[lane]].alive[lane]) wrong = "target";
  }
  for (int32_t n = 0; picture && n < mr_contacts(sim) && !wrong; n++) {
    wrong = wrong_direction(&picture->contacts[n].body, lane, flown);
  }
  return wrong;
}

// The same about a block.
static const char *wrong_block(const MrSim *sim, const MrBlock *b, const MrPicture *picture, bool flown) {
  State state = {b, picture};
  const char *wrong = NULL;
  for (size_t kind = 0; kind < MR_ENTITY_COUNT; kind++) {
    const Entity *entity = &entities[kind];
    if (entity->known && !picture) continue;
    for (int32_t number = 0; number < entity->room; number++) {
      for (int i = 0; i < MR_LANES && !wrong; i++) wrong = out_of_range(state, entity, number, i, flown);
    }
  }
  for (int i = 0; i < MR_LANES && !wrong; i++) wrong = wrong_lane(sim, b, picture, i, flown);
  return wrong;
}

#ifndef NDEBUG
void mr_assert_state(const MrSim *sim, int32_t block) {
  const MrBlock *b = mr_block(sim, block);
  const char *wrong = wrong_block(sim, b, mr_picture(sim, block), true);
  if (wrong) fprintf(stderr, "midrange: %s is out of its range\n", wrong);
  assert(!wrong && "the state is possible");  // stderr has just named what is not
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    assert(b->live[slot] == mr_count(b->missiles[slot].active) && "`live` counts the lanes whose slot is active");
  }
}
#endif

// A block of a snapshot, which may be at any address: it is checked as an aligned copy. The copy is on the heap, as it
// is larger than the stacks of some threads.
typedef struct {
  MrBlock block;
  MrPicture picture;
} MrBlockCopy;

static const char *find_wrong(const MrSim *sim, const char *blocks, const char *pictures) {
  MrBlockCopy *copy = mr_alloc_aligned(_Alignof(MrBlockCopy), sizeof *copy);
  if (!copy) return "no memory to check it";
  const char *wrong = NULL;
  for (int32_t i = 0; i < sim->num_blocks && !wrong; i++) {
    memcpy(&copy->block, blocks + (size_t)i * sizeof copy->block, sizeof copy->block);
    if (pictures) memcpy(&copy->picture, pictures + (size_t)i * sizeof copy->picture, sizeof copy->picture);
    wrong = wrong_block(sim, &copy->block, pictures ? &copy->picture : NULL, false);
  }
  mr_free_aligned(copy);
  return wrong;
}

static void take_over(MrSim *sim) {
  for (int32_t block = 0; block < sim->num_blocks; block++) {
    MrBlock *b = mr_block(sim, block);
    memset(b->live, 0, sizeof b->live);
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) b->live[slot] = mr_count(b->missiles[slot].active);
    MR_EACH_LANE(i) mr_enlist(sim, block, i);
  }
}

// Entities -----------------------------------------------------------------------------------------------

// The members of the states of fighters and missiles that are fields: X(member, field).
#define MR_BODY_STATE(X) \
  X(x, body.x) X(y, body.y) X(direction_x, body.c) X(direction_y, body.s) X(speed, body.v) X(rudder, body.rudder) \
  MR_HEIGHT_STATE(X)
#if MR_DIMENSIONS == 3
#define MR_HEIGHT_STATE(X) X(z, body.z) X(direction_z, body.u)
#define MR_CLIMB_STATE(X) X(climb, climb) X(ammunition_2, ammunition_2) X(ammunition_3, ammunition_3)
#define MR_KIND_STATE(X) X(kind, kind)
#else
#define MR_HEIGHT_STATE(X)
#define MR_CLIMB_STATE(X)
#define MR_KIND_STATE(X)
#endif
#define MR_FIGHTER_STATE(X) \
  MR_BODY_STATE(X) MR_CLIMB_STATE(X) X(throttle, throttle) X(alive, alive) X(ammunition, ammunition)
#define MR_MISSILE_STATE(X) \
  MR_BODY_STATE(X) MR_KIND_STATE(X) X(active, active) X(owner, owner) X(target, target) X(age, age)
#define MR_GET(member, field) .member = from->field[i],
#define MR_SET(member, field) to->field[i] = state->member;

static void get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state) {
  const MrBlock *b = mr_block(sim, env / MR_LANES);
  const MrFighter *from = &b->fighters[fighter];
  int i = env % MR_LANES;
  int32_t wait = from->ready[i] - b->time[i];
  *state = (MrFighterState){MR_FIGHTER_STATE(MR_GET).pilot = from->pilot[i], .launch_wait = wait > 0 ? wait : 0};
  if (!sim->has_systems) return;
  const MrSystems *s = &mr_picture(sim, env / MR_LANES)->systems[fighter];
  int32_t cloud = s->cloud_end[i] - b->time[i];
  state->silent = s->silent[i];
  state->chaff = s->chaff[i];
  state->cloud_wait = cloud > 0 ? cloud : 0;
  state->cloud_x = s->x[i];
  state->cloud_y = s->y[i];
  state->cloud_z = s->z[i];
}

// Removes missiles whose target is dead, after the caller has set the state: the physics steps rely on living targets.
static void drop_missiles_at_dead(const MrSim *sim, MrBlock *b, int lane) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!b->fighters[f].alive[lane]) mr_remove_missiles_at(b, f, lane);
  }
}

// Sets the systems of a fighter. Returns the name of a member that is out of its range, after which nothing is changed;
// or NULL.
static const char *set_systems(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state) {
  int32_t time = mr_block(sim, env / MR_LANES)->time[env % MR_LANES];
  if (!sim->has_systems)
    return state->silent ? "silent" : state->chaff ? "chaff" : state->cloud_wait ? "cloud_wait" : NULL;
  MrSystems *to = &mr_picture(sim, env / MR_LANES)->systems[fighter], before = *to;
  int i = env % MR_LANES;
  if (state->cloud_wait < 0 || state->cloud_wait > INT32_MAX - time) return "cloud_wait";
  to->silent[i] = state->silent;
  to->chaff[i] = state->chaff;
  to->cloud_end[i] = state->cloud_wait ? time + state->cloud_wait : 0;
  to->x[i] = state->cloud_x;
  to->y[i] = state->cloud_y;
  to->z[i] = state->cloud_z;
  const char *wrong = out_of_range(state_of(sim, env / MR_LANES), &entities[MR_SYSTEMS], fighter, i, false);
  if (!wrong) wrong = wrong_systems(sim, to, i);
  if (wrong) *to = before;
  return wrong;
}

static const char *set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state) {
  MrBlock *b = mr_block(sim, env / MR_LANES);
  MrFighter *to = &b->fighters[fighter], before = *to;
  int i = env % MR_LANES;
  if (state->launch_wait < 0 || state->launch_wait > INT32_MAX - b->time[i]) return "launch_wait";
  if (MR_DIMENSIONS == 2 && (state->z != 0.0f || state->direction_z != 0.0f || state->climb != 0.0f)) return "z";
  if (MR_DIMENSIONS == 2 && (state->ammunition_2 || state->ammunition_3)) return "ammunition_2 or ammunition_3";
  MR_FIGHTER_STATE(MR_SET)
#if MR_DIMENSIONS == 3
  to->climb_command[i] = state->climb;
#endif
  to->rudder_command[i] = state->rudder;
  to->throttle_command[i] = state->throttle;
  to->ready[i] = b->time[i] + state->launch_wait;
  const char *wrong = out_of_range(state_of(sim, env / MR_LANES), &entities[MR_FIGHTER], fighter, i, false);
  if (!wrong) wrong = wrong_direction(&to->body, i, false);
  if (!wrong) wrong = wrong_ammunition(sim, fighter, to, i);
  if (!wrong) wrong = set_systems(sim, env, fighter, state);
  if (wrong) {
    *to = before;
    return wrong;
  }
  drop_missiles_at_dead(sim, b, i);
  mr_assert_state(sim, env / MR_LANES);
  sim->kernel->rate_lane(sim, env / MR_LANES, i);
  return NULL;
}

static void get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state) {
  const MrMissile *from = &mr_block(sim, env / MR_LANES)->missiles[slot];
  int i = env % MR_LANES;
  *state = from->active[i] ? (MrMissileState){MR_MISSILE_STATE(MR_GET)} : (MrMissileState){0};
}

static const char *set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state) {
  MrBlock *b = mr_block(sim, env / MR_LANES);
  MrMissile *to = &b->missiles[slot], before = *to;
  int i = env % MR_LANES;
  if (MR_DIMENSIONS == 2 && (state->z != 0.0f || state->direction_z != 0.0f)) return "z";
  if (MR_DIMENSIONS == 2 && state->kind) return "kind";
  MR_MISSILE_STATE(MR_SET)
  const char *wrong = out_of_range(state_of(sim, env / MR_LANES), &entities[MR_MISSILE], slot, i, false);
  if (!wrong) wrong = wrong_missile(sim, to, i, false);
  if (wrong) {
    *to = before;
    return wrong;
  }
  b->live[slot] = mr_count(to->active);
  if (sim->pictures) {  // it believes in the true target, without a lock
    mr_believe_in(&b->fighters[state->target].body, 0, &mr_picture(sim, env / MR_LANES)->beliefs[slot], i);
  }
  drop_missiles_at_dead(sim, b, i);
  mr_assert_state(sim, env / MR_LANES);
  sim->kernel->rate_lane(sim, env / MR_LANES, i);
  return NULL;
}

// Hash ---------------------------------------------------------------------------------------------------

// FNV-1a over 32-bit words.
static uint64_t mix(uint64_t hash, const void *word) {
  uint32_t bits;
  memcpy(&bits, word, sizeof bits);
  return (hash ^ bits) * 1099511628211u;
}

static bool is_zero(const char *word) {
  uint32_t bits;
  memcpy(&bits, word, sizeof bits);
  return bits == 0;
}

static uint64_t hash_entity(uint64_t h, State state, MrEntity kind, int32_t number, int lane) {
  const Entity *entity = &entities[kind];
  for (const MrField *field = entity->fields; field->name; field++) {
    const char *word = place(state, entity, number, field, lane);
    if (field->hashed == MR_HASHED_IF_SET) {
      uint32_t index = (uint32_t)(field - entity->fields);
      if (is_zero(word)) continue;
      h = mix(h, &index);  // or equal words of different fields had one hash
    }
    if (field->hashed) h = mix(h, word);
  }
  return h;
}

static uint64_t hash_engagement(uint64_t h, const MrSim *sim, int32_t env) {
  const MrBlock *b = mr_block(sim, env / MR_LANES);
  State state = state_of(sim, env / MR_LANES);
  int lane = env % MR_LANES;
  h = hash_entity(h, state, MR_ENGAGEMENT, 0, lane);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    h = hash_entity(h, state, MR_FIGHTER, f, lane);
    if (!sim->pictures) continue;
    MR_FOR_SIDE(sim, !mr_side(sim, f), e) h = hash_entity(h, state, MR_CONTACT, mr_contact_place(sim, f, e), lane);
    h = hash_entity(h, state, MR_SYSTEMS, f, lane);
  }
  for (int32_t slot = 0; slot < mr_count_of(sim, MR_MISSILE); slot++) {
    h = mix(h, &b->missiles[slot].active[lane]);
    // The fields of an empty slot do not matter: they are those of the slot's last missile.
    if (!b->missiles[slot].active[lane]) continue;
    h = hash_entity(h, state, MR_MISSILE, slot, lane);
    if (sim->pictures) h = hash_entity(h, state, MR_BELIEF, slot, lane);
  }
  return h;
}

static uint64_t fight_hash(const MrSim *sim) {
  uint64_t h = 14695981039346656037u;
  for (int32_t env = 0; env < sim->num_envs; env++) {
    h = hash_engagement(h, sim, env);
  }
  return h;
}

static uint64_t state_hash(const MrSim *sim) {
  uint32_t seed[] = {(uint32_t)sim->seed, (uint32_t)(sim->seed >> 32)};
  uint64_t h = mix(mix(fight_hash(sim), &seed[0]), &seed[1]);
  for (int32_t env = 0; env < sim->num_envs; env++) {
    h = mix(h, &mr_block(sim, env / MR_LANES)->engagement[env % MR_LANES]);
  }
  return h;
}

const MrAccess MR_OF_GAME(mr_access_) = {
    .block_bytes = sizeof(MrBlock),
    .picture_bytes = sizeof(MrPicture),
    .fields = fields_of,
    .get_field = get_field,
    .get_fighter = get_fighter,
    .set_fighter = set_fighter,
    .get_missile = get_missile,
    .set_missile = set_missile,
    .find_wrong = find_wrong,
    .take_over = take_over,
    .fight_hash = fight_hash,
    .state_hash = state_hash,
};
