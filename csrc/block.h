// SPDX-License-Identifier: MIT
//
// The state of the simulation. A block holds MR_LANES engagements, which fly in lock-step. A lane is the place of one
// engagement in its block. Every quantity is an array [lane], so a plain loop over the lanes compiles to one or a few
// vector instructions. state_fields.h lists the quantities.
//
// A block has room for MR_SIDE fighters on each side, in the plane or with height, as MR_DIMENSIONS says. kernel.c and
// state.c are compiled once for each game of isas.h, and no other .c file includes this header. Smaller fights leave
// the last fighters of a block unused.

#pragma once

#include <assert.h>

#include "isas.h"
#include "kernel.h"
#include "simulation.h"
#include "state_fields.h"

enum { MR_FIGHTERS = 2 * MR_SIDE };                            // room for fighters: red's first, then blue's
enum { MR_MISSILES = MR_FIGHTERS * MR_MISSILES_PER_FIGHTER };  // slots for missiles in the air
enum { MR_CONTACTS = 2 * MR_SIDE * MR_SIDE };                  // room for each fighter's contacts with its enemies
// The most enemies that a fighter can have: sides need not be equal.
enum { MR_ENEMIES = MR_FIGHTERS - 1 < MR_LISTED(MR_SIDE) ? MR_FIGHTERS - 1 : MR_LISTED(MR_SIDE) };

// Values of a fighter's `fire`: 0; the place of an enemy among those it observes, from 1; in teams also one of these.
// In one against one with height, from 1: the kind of the missile.
enum { MR_FIRE_AHEAD = MR_LISTED(MR_SIDE) + 1, MR_FIRE_TARGET };
enum { MR_PAIR_FIRE_HIGHEST = MR_DIMENSIONS == 3 ? MR_KINDS_MAX : 1 };
enum { MR_FIRE_HIGHEST = MR_SIDE == 1 ? MR_PAIR_FIRE_HIGHEST : MR_FIRE_TARGET };

// The places of a fighter's controls. The first is the rudder, the last is fire. There is a climb with height only, and
// the systems with emission control or chaff only: mr_controls_of.
enum { MR_CLIMB = 1, MR_THROTTLE = MR_DIMENSIONS == 3 ? 2 : 1, MR_SYSTEMS_PLACE = MR_THROTTLE + 1 };

// The structs of the state; state_fields.h says what their fields mean.
#define MR_DECLARE_FIELD(type, name, ...) MR_ALIGNED type name[MR_LANES];

typedef struct {
  MR_BODY_FIELDS(MR_DECLARE_FIELD)
} MrBody;

typedef struct {
  MR_TACTICS_FIELDS(MR_DECLARE_FIELD)
} MrTactics;

typedef struct {
  MrBody body;
  MrTactics tactics;
  MR_FIGHTER_FIELDS(MR_DECLARE_FIELD)
} MrFighter;

// A missile slot, for missiles of any fighter. A launch takes the lowest free slot of its engagement. So the
// missiles of a block's engagements fill few slots, and the other slots cost nothing.
typedef struct {
  MrBody body;
  MR_MISSILE_FIELDS(MR_DECLARE_FIELD)
} MrMissile;

typedef struct {
  MR_KEY_FIELDS(MR_DECLARE_FIELD)
  MR_ENGAGEMENT_FIELDS(MR_DECLARE_FIELD)
  MrFighter fighters[MR_FIGHTERS];
  MrMissile missiles[MR_MISSILES];
  // Number of lanes in which a slot is active; a slot with 0 is skipped. The room makes the size a multiple of 64
  // bytes.
  int32_t live[(MR_MISSILES + 15) / 16 * 16];
} MrBlock;

_Static_assert(sizeof(MrBlock) % 64 == 0, "blocks stay aligned to cache lines");
// With height it may take a quarter more.
_Static_assert(sizeof(MrBlock) <= (MR_DIMENSIONS == 3 ? 1280 : 1024) * MR_LANES * MR_SIDE,
               "an engagement fits in 1 KiB for each fighter of a side");

// The picture of a block in a game with sensors: picture.h. Simulations without sensors have none.
typedef struct {
  MrBody body;  // the believed one of the enemy
  MR_CONTACT_FIELDS(MR_DECLARE_FIELD)
} MrContact;

typedef struct {
  MR_BELIEF_FIELDS(MR_DECLARE_FIELD)
} MrBelief;

typedef struct {
  MR_SYSTEMS_FIELDS(MR_DECLARE_FIELD)
} MrSystems;

typedef struct {
  MrContact contacts[MR_CONTACTS];  // of each fighter with each enemy: mr_contact_place
  MrBelief beliefs[MR_MISSILES];    // of the missile in each slot
  MrSystems systems[MR_FIGHTERS];   // of each fighter, with emission control or chaff
} MrPicture;

// The axes of a belief: X(place, velocity).
#if MR_DIMENSIONS == 3
#define MR_AXES(X) X(x, vx) X(y, vy) X(z, vz)
#else
#define MR_AXES(X) X(x, vx) X(y, vy)
#endif

_Static_assert(sizeof(MrPicture) % (4 * MR_LANES) == 0, "a picture is of arrays [lane] of 4 bytes");

// Asserts the invariants of a block's state (state.c), with its picture unless that is NULL, in builds without NDEBUG,
// such as those with sanitizers.
#ifdef NDEBUG
#define mr_assert_state(sim, block) ((void)0)
#else
#define mr_assert_state MR_OF_GAME(mr_assert_state_)
void mr_assert_state(const MrSim *sim, int32_t block);
#endif

static inline MrBlock *mr_block(const MrSim *sim, int32_t block) { return (MrBlock *)sim->blocks + block; }

// The picture of a block; NULL without sensors.
static inline MrPicture *mr_picture(const MrSim *sim, int32_t block) {
  return sim->pictures ? (MrPicture *)sim->pictures + block : NULL;
}

// The types that the engagements of a block fly; NULL in the plane. Where types are drawn, `b` must be a block of the
// simulation, not a copy.
static inline const MrRoster *mr_roster(const MrSim *sim, const MrBlock *b) {
  if (MR_DIMENSIONS == 2) return NULL;
  if (!sim->types.are_drawn) return sim->rosters;
  assert(b >= mr_block(sim, 0) && b < mr_block(sim, sim->num_blocks));
  return mr_roster_of(sim, (int32_t)(b - (const MrBlock *)sim->blocks));
}

// Notes the types that the engagement in a lane draws.
static inline void mr_enlist(const MrSim *sim, int32_t block, int lane) {
  const MrBlock *b = mr_block(sim, block);
  if (MR_DIMENSIONS == 2 || !sim->types.are_drawn) return;
  mr_fill_roster(sim, b->engagement[lane], b->episode[lane], mr_roster_of(sim, block), lane);
}

// The controls of a fighter.
static inline int32_t mr_controls_of(const MrSim *sim) { return MR_SYSTEMS_PLACE + sim->has_systems + 1; }

// Sides ---------------------------------------------------------------------------------------------------
//
// One against one has constants for these, so that it costs what it would cost alone.

// The number of fighters in the engagement.
static inline int32_t mr_fighters(const MrSim *sim) { return MR_SIDE == 1 ? MR_SIDES : sim->fighters; }

static inline int32_t mr_size(const MrSim *sim, int32_t side) { return MR_SIDE == 1 ? 1 : sim->sizes[side]; }

// The side of a fighter: 0 red, 1 blue.
static inline int32_t mr_side(const MrSim *sim, int32_t fighter) { return fighter >= mr_size(sim, 0); }

// The first fighter of a side. Its fighters follow one another.
static inline int32_t mr_first(const MrSim *sim, int32_t side) { return side ? mr_size(sim, 0) : 0; }

// A loop over the fighters of a side.
#define MR_FOR_SIDE(sim, side, f) \
  for (int32_t f = mr_first(sim, side); f < mr_first(sim, side) + mr_size(sim, side); f++)

// Kinds of missiles: those of the side with more. In teams there is one.
static inline int32_t mr_kinds(const MrSim *sim) { return MR_DIMENSIONS == 3 && MR_SIDE == 1 ? sim->types.kinds : 1; }

// Kinds of missiles that a side's fighters may carry; the first is there even with no missiles of it.
static inline int32_t mr_kinds_of(const MrSim *sim, int32_t side) {
  int32_t kinds = 1;
  while (MR_DIMENSIONS == 3 && MR_SIDE == 1 && kinds < MR_KINDS_MAX && sim->types.loads[side][kinds] > 0) kinds++;
  return kinds;
}

// Levels of fire: none, and one for each place of an enemy, or in one against one with height for each kind of missile.
static inline int32_t mr_fire_levels(const MrSim *sim) {
  if (MR_DIMENSIONS == 3 && MR_SIDE == 1) return 1 + mr_kinds(sim);
  return 1 + mr_enemy_rows(mr_size(sim, 0), mr_size(sim, 1));
}

// The number of contacts: of each fighter with each enemy.
static inline int32_t mr_contacts(const MrSim *sim) { return 2 * mr_size(sim, 0) * mr_size(sim, 1); }

// The place of a fighter's contact with an enemy among them: red's come first, by fighter, then by enemy.
static inline int32_t mr_contact_place(const MrSim *sim, int32_t fighter, int32_t enemy) {
  int32_t red = mr_size(sim, 0), blue = mr_size(sim, 1);
  return fighter < red ? fighter * blue + enemy - red : red * blue + (fighter - red) * red + enemy;
}

// A field of the missile's target in lane i. `bodies` is an array with a pointer for each fighter. For one against one
// the macro compares and selects instead of indexing: gcc vectorises only this form.
#if MR_SIDE == 1
#define MR_OF_TARGET(missile, bodies, field, i) \
  mr_select((missile)->target[i] == 1, (bodies)[1]->field[i], (bodies)[0]->field[i])
#else
#define MR_OF_TARGET(missile, bodies, field, i) ((bodies)[(missile)->target[i]]->field[i])
#endif

// The living fighters of each side.
static inline void mr_count_living(const MrSim *sim, const MrBlock *b, int32_t living[MR_SIDES][MR_LANES]) {
  for (int32_t side = 0; side < MR_SIDES; side++) {
    MR_FOR_LANES(i) living[side][i] = 0;
    MR_FOR_SIDE(sim, side, f) {
      MR_FOR_LANES(i) living[side][i] += b->fighters[f].alive[i];
    }
  }
}

// Bodies and missiles -------------------------------------------------------------------------------------

// A loop over the lanes in which a slot's missile flies. In one against one over all lanes at once: the others compute
// numbers that are not used. In teams, where few lanes of a slot have a missile, over these one by one.
#if MR_SIDE == 1
#define MR_FOR_ACTIVE(missile, i) MR_FOR_LANES(i)
#else
#define MR_FOR_ACTIVE(missile, i) MR_EACH_LANE(i) if ((missile)->active[i])
#endif

// Gives a body in lane i the place and the velocity of another, but not its rudder, where the condition holds.
static inline void mr_take_body(int condition, const MrBody *from, MrBody *to, int i) {
  to->x[i] = mr_select(condition, from->x[i], to->x[i]);
  to->y[i] = mr_select(condition, from->y[i], to->y[i]);
  to->c[i] = mr_select(condition, from->c[i], to->c[i]);
  to->s[i] = mr_select(condition, from->s[i], to->s[i]);
  to->v[i] = mr_select(condition, from->v[i], to->v[i]);
#if MR_DIMENSIONS == 3
  to->z[i] = mr_select(condition, from->z[i], to->z[i]);
  to->u[i] = mr_select(condition, from->u[i], to->u[i]);
#endif
}

static inline void mr_copy_body(const MrBody *from, MrBody *to) {
  MR_FOR_LANES(i) {
    mr_take_body(1, from, to, i);
    to->rudder[i] = from->rudder[i];
  }
}

// Takes over a body where it flies; the rudder moves everywhere.
static inline void mr_keep_body(const int32_t flies[MR_LANES], const MrBody *flown, MrBody *body) {
  MR_FOR_LANES(i) {
    mr_take_body(flies[i], flown, body, i);
    body->rudder[i] = flown->rudder[i];
  }
}

// The height of a body in lane i [m], and the sine of its climb; 0 in the plane.
static inline float mr_height(const MrBody *body, int i) {
#if MR_DIMENSIONS == 3
  return body->z[i];
#else
  (void)body, (void)i;
  return 0.0f;
#endif
}

static inline float mr_climb_sine(const MrBody *body, int i) {
#if MR_DIMENSIONS == 3
  return body->u[i];
#else
  (void)body, (void)i;
  return 0.0f;
#endif
}

// The kind of a missile in lane i; 0 in the plane.
static inline int32_t mr_kind(const MrMissile *m, int i) {
#if MR_DIMENSIONS == 3
  return m->kind[i];
#else
  (void)m, (void)i;
  return 0;
#endif
}

// The missiles of a kind that a side's fighters start with.
static inline int32_t mr_load(const MrSim *sim, int32_t side, int32_t kind) {
  return MR_DIMENSIONS == 3 ? sim->types.loads[side][kind] : sim->params.ammunition;
}

// The missiles of all kinds that they start with.
static inline int32_t mr_full_load(const MrSim *sim, int32_t side) {
  int32_t load = 0;
  for (int32_t kind = 0; kind < mr_kinds(sim); kind++) load += mr_load(sim, side, kind);
  return load;
}

// The missiles of a kind that a fighter in lane i has left.
static inline int32_t mr_missiles_left(const MrFighter *f, int32_t kind, int i) {
#if MR_DIMENSIONS == 3
  int32_t second = f->ammunition_2[i], third = f->ammunition_3[i];
  return kind == 0 ? f->ammunition[i] - second - third : kind == 1 ? second : third;
#else
  (void)kind;
  return f->ammunition[i];
#endif
}

// Gives a missile in one lane the belief that its target is this body, with or without a lock on it.
static inline void mr_believe_in(const MrBody *target, int32_t locked, MrBelief *belief, int lane) {
  belief->x[lane] = target->x[lane];
  belief->y[lane] = target->y[lane];
  belief->vx[lane] = target->v[lane] * target->c[lane];
  belief->vy[lane] = target->v[lane] * target->s[lane];
#if MR_DIMENSIONS == 3
  belief->z[lane] = target->z[lane];
  belief->vz[lane] = target->v[lane] * target->u[lane];
#endif
  belief->locked[lane] = locked;
  belief->unseen[lane] = 0;
}

// Removes the missile of a slot in one lane, if there is one.
static inline void mr_remove(MrBlock *b, int32_t slot, int lane) {
  b->live[slot] -= b->missiles[slot].active[lane];
  b->missiles[slot].active[lane] = 0;
}

// Removes the missiles that fly at a fighter in one lane.
static inline void mr_remove_missiles_at(MrBlock *b, int32_t target, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (b->missiles[slot].target[lane] == target) mr_remove(b, slot, lane);
  }
}
