// SPDX-License-Identifier: MIT
//
// The picture: in a game with sensors a side's contacts with its enemies, and its missiles' beliefs of their targets.
// Between updates, which come with the decisions, believed bodies fly straight on. RULES.md, "Sensors".
//
// Teams differ from one against one in two ways. The fighters of a side tell each other their tracks by data link. And
// all of them see a kill: a track of the dead is lost, while in one against one it lives on as a memory.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "feature_table.h"
#include "filter.h"
#include "sight.h"
#include "systems.h"

// 1 if a contact of this source is a track.
static inline int mr_is_track(int32_t source) {
  return (source == MR_LIVE) | (source == MR_MEMORY) | (source == MR_LINKED);
}

// A target as a sensor may see it.
typedef struct {
  float ahead;   // cosine of the angle between the sensor's nose and the line to it
  float range;   // [m]
  float radial;  // its own speed along the line of sight [m/s]
  float below;   // by how much it is lower than the sensor [m]; not used in the plane
} MrEcho;

// 1 if a target is in the notch, which hides slow ones in front of the ground: in the plane everywhere, with height only
// where the sensor looks down on it.
static inline int mr_is_notched(const MrParams *p, MrEcho echo) {
  int is_slow = fabsf(echo.radial) < p->radar_notch_speed;
#if MR_DIMENSIONS == 3
  return is_slow & (echo.below > p->radar_look_down * echo.range);
#else
  return is_slow;
#endif
}

// 1 if a sensor with this cosine of its half angle and this range sees a target.
static inline int mr_sees(const MrParams *p, float cosine, float reach, MrEcho echo) {
  return (echo.ahead >= cosine) & (echo.range <= reach) & !mr_is_notched(p, echo);
}

// The range of a sensor on a fighter in lane i, over that of the parameters, which its aircraft's radar cross-section
// sets. 1 in the plane.
static inline float mr_echo_of(const MrRoster *roster, int32_t fighter, int i) {
#if MR_DIMENSIONS == 3
  return roster->fighters[fighter].aircraft.echo[i];
#else
  (void)roster, (void)fighter, (void)i;
  return 1.0f;
#endif
}

// The range of a radar on a target [m]. `toward` is the cosine of the target's aspect.
static inline float mr_radar_range(const MrParams *p, float toward) {
  float end = mr_select(toward > 0.0f, p->radar_range_nose, p->radar_range_tail);
  return p->radar_range_beam + (end - p->radar_range_beam) * (toward * toward);
}

// The burn-through range of the jammer of a fighter in lane i [m], that of its side times that of its aircraft; 0 if it
// has none.
static inline float mr_jammer(const MrSim *sim, const MrRoster *roster, int32_t fighter, int i) {
  float of_side = sim->constants.sensors.jammer[mr_side(sim, fighter)];
#if MR_DIMENSIONS == 3
  return of_side * roster->fighters[fighter].aircraft.jammer[i];
#else
  (void)roster, (void)i;
  return of_side;
#endif
}

// How far a radar with a range on a target sees it if the target jams. The echo falls with the fourth power of the
// range and the jamming with the square, so the burn-through range goes with the square of the radar's range.
static inline float mr_burn_through(const MrParams *p, float jammer, float reach) {
  float share = reach / p->radar_range_nose;
  return mr_select(jammer > 0.0f, mr_min(reach, jammer * (share * share)), reach);
}

// Flies all believed bodies straight on for a time [s]. A lost contact stays where it is.
static void mr_fly_beliefs(const MrSim *sim, float time, const MrBlock *b, MrPicture *picture) {
  for (int32_t place = 0; place < mr_contacts(sim); place++) {
    MrContact *contact = &picture->contacts[place];
    MrBody *body = &contact->body;
    MR_FOR_LANES(i) {
      float way = mr_select(mr_is_track(contact->source[i]), time * body->v[i], 0.0f);
      body->x[i] += way * body->c[i];
      body->y[i] += way * body->s[i];
#if MR_DIMENSIONS == 3
      body->z[i] += way * body->u[i];
#endif
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MrBelief *belief = &picture->beliefs[slot];
#define MR_FLY_ON(x, vx) belief->x[i] += time * belief->vx[i];
    MR_FOR_LANES(i) {
      MR_AXES(MR_FLY_ON)
    }
#undef MR_FLY_ON
  }
}

// Updates the contact of a fighter, `f`, with an enemy, `target`, by its radar. `sight` is of the enemy, the true one;
// `systems` are those of all fighters; `steps` have been flown since the last update.
static void mr_update_contact(const MrSim *sim, const MrRoster *roster, const MrBlock *b, int32_t f, int32_t target,
                              int32_t steps, const MrSight *sight, const MrSystems *systems, MrContact *contact) {
  const MrSensors *k = &sim->constants.sensors;
  const MrFighter *own = &b->fighters[f], *enemy = &b->fighters[target];
  MrBody *body = &contact->body;
  MrGlimpse glimpse;
  MR_ALIGNED int32_t blind[MR_LANES];
  mr_find_blind_radars(sim, b, f, target, sight, systems, blind);
  MR_FOR_LANES(i) {
    float reach = mr_radar_range(&sim->params, mr_aspect_cosine(sight, i)) * mr_echo_of(roster, target, i);
    float below = mr_height(&own->body, i) - mr_height(&enemy->body, i);
    MrEcho echo = {mr_cosine(sight, i), sight->range[i], sight->approach[i], below};
    float within = mr_burn_through(&sim->params, mr_jammer(sim, roster, target, i), reach);
    int sees = own->alive[i] & enemy->alive[i] & !blind[i] & mr_sees(&sim->params, k->radar_cosine, within, echo);
    int32_t before = contact->seen[i], source = contact->source[i];
    int32_t seen = mr_select_int(sees, mr_select_int(before < 0, 0, before + steps), -1);
    int32_t age = contact->age[i] + steps;
    int tracked = mr_is_track(source);
    int live = sees & (tracked | (seen >= k->acquire_time));
    int remembered = tracked & (age <= k->track_memory);
    source = mr_select_int(source == MR_UNSEEN, MR_UNSEEN, MR_LOST);
    source = mr_select_int(remembered, MR_MEMORY, source);
    source = mr_select_int(live, MR_LIVE, source);
    contact->seen[i] = seen;
    contact->source[i] = source;
    contact->age[i] = mr_select_int(live | (source == MR_UNSEEN), 0, age);
    mr_take_body(live & !k->is_noisy, &enemy->body, body, i);
    glimpse.sees[i] = sees;
    glimpse.begins[i] = sees & !tracked & (before < 0);
    glimpse.flown[i] = tracked;
    glimpse.reach[i] = reach;
  }
  if (!k->is_noisy) return;
  mr_draw_errors(sim, b, mr_contact_place(sim, f, target), &glimpse);
  mr_filter(sim, own, enemy, (float)steps * sim->constants.dt, sight, &glimpse, contact);
}

#if MR_SIDE == 1

static void mr_update_contacts(const MrSim *sim, const MrRoster *roster, const MrBlock *b, int32_t steps,
                               MrPicture *picture) {
  MrSight sights[MR_FIGHTERS];
  mr_look(b, sights);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    mr_update_contact(sim, roster, b, f, mr_opponent(f), steps, &sights[f], picture->systems, &picture->contacts[f]);
  }
}

#else

// Tracks of an enemy that the radars of a side had at the last update. They arrive by data link one decision late.
typedef struct {
  MR_ALIGNED int32_t trackers[MR_LANES];  // fighters whose radars tracked it
  MrContact best;                         // the track of these with the least variance, as it is by now
} MrLink;

// Takes over the track of another fighter where the condition holds.
static inline void mr_take_track(const MrSim *sim, const int32_t condition[MR_LANES], const MrContact *from,
                                 MrContact *to) {
  MR_FOR_LANES(i) mr_take_body(condition[i], &from->body, &to->body, i);
  if (!sim->constants.sensors.is_noisy) return;
#define MR_TAKE_SPREAD(type, name, ...) to->name[i] = mr_select(condition[i], from->name[i], to->name[i]);
  MR_FOR_LANES(i) {
    MR_SPREAD_FIELDS(MR_TAKE_SPREAD)
  }
#undef MR_TAKE_SPREAD
}

static void mr_gather_link(const MrSim *sim, const MrPicture *picture, int32_t enemy, int32_t steps, MrLink *out) {
  MR_ALIGNED float least[MR_LANES];
  MR_ALIGNED int32_t better[MR_LANES];
  MR_FOR_LANES(i) {
    out->trackers[i] = 0;
    least[i] = INFINITY;
  }
  MR_FOR_SIDE(sim, !mr_side(sim, enemy), f) {
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, f, enemy)];
    MR_FOR_LANES(i) {
      int tracks = contact->source[i] == MR_LIVE;
      float variance = contact->along_xx[i] + contact->across_xx[i];
      better[i] = tracks & (variance < least[i]);
      out->trackers[i] += tracks;
      least[i] = mr_select(better[i], variance, least[i]);
    }
    mr_take_track(sim, better, contact, &out->best);
  }
  if (sim->constants.sensors.is_noisy) mr_spread_track(sim, (float)steps * sim->constants.dt, &out->best);
}

// Updates a contact by data link, after the own radar: if that does not track the enemy, but another radar did, the
// contact is linked. All fighters see a kill: a track of the dead is lost. `tracked` is 1 if the own radar is one of
// the link's trackers.
static void mr_receive_link(const MrSim *sim, const MrLink *link, const MrFighter *enemy,
                            const int32_t tracked[MR_LANES], int32_t steps, MrContact *contact) {
  MR_ALIGNED int32_t linked[MR_LANES];
  MR_FOR_LANES(i) {
    int32_t source = contact->source[i];
    linked[i] = (source != MR_LIVE) & (link->trackers[i] > tracked[i]);
    source = mr_select_int(linked[i], MR_LINKED, source);
    contact->source[i] = mr_select_int(mr_is_track(source) & !enemy->alive[i], MR_LOST, source);
    contact->age[i] = mr_select_int(linked[i], steps, contact->age[i]);
  }
  mr_take_track(sim, linked, &link->best, contact);
}

// Updates the contacts of a side with an enemy.
static void mr_update_side(const MrSim *sim, const MrRoster *roster, const MrBlock *b, int32_t enemy, int32_t steps,
                           MrPicture *picture) {
  MrLink link = {.trackers = {0}};
  mr_gather_link(sim, picture, enemy, steps, &link);
  MR_FOR_SIDE(sim, !mr_side(sim, enemy), f) {
    MrContact *contact = &picture->contacts[mr_contact_place(sim, f, enemy)];
    MR_ALIGNED int32_t tracked[MR_LANES];
    MrSight sight;
    MR_FOR_LANES(i) tracked[i] = contact->source[i] == MR_LIVE;
    mr_look_at(&b->fighters[f].body, &b->fighters[enemy].body, &sight);
    mr_update_contact(sim, roster, b, f, enemy, steps, &sight, picture->systems, contact);
    mr_receive_link(sim, &link, &b->fighters[enemy], tracked, steps, contact);
  }
}

static void mr_update_contacts(const MrSim *sim, const MrRoster *roster, const MrBlock *b, int32_t steps,
                               MrPicture *picture) {
  for (int32_t enemy = 0; enemy < mr_fighters(sim); enemy++) mr_update_side(sim, roster, b, enemy, steps, picture);
}

#endif

// The targets of a slot's missiles: the true ones, those that the missiles' fighters believe, where these have a track,
// and the targets' chaff.
#define MR_DECLARE_AXIS(x, vx) \
  MR_ALIGNED float x[MR_LANES], vx[MR_LANES], contact_##x[MR_LANES], contact_##vx[MR_LANES], cloud_##x[MR_LANES];
typedef struct {
  MR_AXES(MR_DECLARE_AXIS)  // [m], [m/s]
  MR_ALIGNED int32_t tracked[MR_LANES];
  MR_ALIGNED int32_t decoys[MR_LANES];  // 1 where the target's chaff, at `cloud`, decoys a seeker that would see it
#if MR_DIMENSIONS == 3
  MR_ALIGNED float echo[MR_LANES], jammer[MR_LANES];  // mr_echo_of, mr_jammer
#endif
} MrTargets;
#undef MR_DECLARE_AXIS

// The sums over the axes of products of two vectors, in the order of the axes.
#if MR_DIMENSIONS == 3
#define MR_SUM(a, b) (a##x * b##x + a##y * b##y + a##z * b##z)
#else
#define MR_SUM(a, b) (a##x * b##x + a##y * b##y)
#endif

// Updates the beliefs of a slot's missiles by the first of these that applies: the seeker homes on the target's jammer;
// chaff decoys it; it sees the target; it remembers the target; the missile's fighter has a track; the belief stays.
// Marks in `strays` missiles with none but the last.
static void mr_update_belief(const MrSim *sim, const MrMissile *m, int32_t steps, const MrTargets *t, MrBelief *belief,
                             int32_t strays[MR_LANES]) {
  const MrSensors *k = &sim->constants.sensors;
#define MR_BELIEVED_AXIS(x, vx)                                           \
  float x = mr_select(follows, t->contact_##x[i], belief->x[i]);          \
  float vx = mr_select(follows, t->contact_##vx[i], belief->vx[i]);       \
  float believed_##x = x - m->body.x[i], line_##x = t->x[i] - m->body.x[i];
#define MR_TURN_TO_AXIS(x, vx)                           \
  x = mr_select(falls_back, t->contact_##x[i], x);       \
  vx = mr_select(falls_back, t->contact_##vx[i], vx);    \
  x = mr_select(decoyed, t->cloud_##x[i], x);            \
  vx = mr_select(decoyed, 0.0f, vx);                     \
  belief->x[i] = mr_select(sees, t->x[i], x);            \
  belief->vx[i] = mr_select(sees, t->vx[i], vx);
  MR_FOR_LANES(i) {
    int tracked = t->tracked[i];
    int follows = tracked & !belief->locked[i];
    MR_AXES(MR_BELIEVED_AXIS)
    float target_vx = t->vx[i], target_vy = t->vy[i], nose_x = m->body.c[i], nose_y = m->body.s[i];
#if MR_DIMENSIONS == 3
    float target_vz = t->vz[i], nose_z = m->body.u[i], reach = sim->params.seeker_range * t->echo[i];
    float jammer = t->jammer[i];
#else
    float reach = sim->params.seeker_range;
    float jammer = mr_select(mr_side(sim, m->target[i]), k->jammer[1], k->jammer[0]);
#endif
    int looks = MR_SUM(believed_, believed_) <= reach * reach;
    float range = sqrtf(MR_SUM(line_, line_)), inverse = 1.0f / mr_max(range, 1.0f);
    float ahead = MR_SUM(line_, nose_) * inverse, radial = MR_SUM(line_, target_v) * inverse;
#if MR_DIMENSIONS == 3
    MrEcho echo = {ahead, range, radial, -line_z};
#else
    MrEcho echo = {ahead, range, radial, 0.0f};
#endif
    int homes = (jammer > 0.0f) & (ahead >= k->seeker_cosine) & (range <= sim->params.home_on_jam_range);
    int finds = looks & mr_sees(&sim->params, k->seeker_cosine, reach, echo);
    int decoyed = finds & t->decoys[i] & !homes, sees = homes | (finds & !t->decoys[i]);

    int32_t unseen = mr_select_int(sees, 0, belief->unseen[i] + steps);
    int locked = sees | (belief->locked[i] & (unseen <= k->seeker_memory) & !decoyed);
    // A lock that ends in this update leaves the missile to the track, if there is one.
    int falls_back = belief->locked[i] & !locked & tracked;
    MR_AXES(MR_TURN_TO_AXIS)
    belief->locked[i] = locked;
    belief->unseen[i] = mr_select_int(locked, unseen, 0);
    strays[i] = m->active[i] & !locked & !tracked & !decoyed;
  }
#undef MR_BELIEVED_AXIS
#undef MR_TURN_TO_AXIS
}

// Removes a slot's burnt-out missiles that are strays.
static void mr_drop_strays(const MrSim *sim, const MrRoster *roster, const int32_t strays[MR_LANES], MrBlock *b,
                           int32_t slot) {
  MrMissile *m = &b->missiles[slot];
#if MR_DIMENSIONS == 3
  MR_EACH_LANE(i) {
    if (!strays[i]) continue;
    const MrMissileLanes *type = &roster->missiles[mr_side(sim, m->owner[i])][m->kind[i]];
    m->active[i] = (float)m->age[i] < type->motor_steps[i];
  }
#else
  (void)roster;
  MR_FOR_LANES(i) m->active[i] &= !(strays[i] & ((float)m->age[i] >= sim->constants.burn_steps));
#endif
  b->live[slot] = mr_count(m->active);
}

// The place of the contact that a missile's fighter has with its target. In one against one it compares: gcc vectorises
// only this form.
#if MR_SIDE == 1
#define MR_OF_CONTACT(sim, m, picture, field, i) \
  ((m)->owner[i] == 1 ? (picture)->contacts[1].field[i] : (picture)->contacts[0].field[i])
#else
#define MR_OF_CONTACT(sim, m, picture, field, i) \
  ((picture)->contacts[mr_contact_place(sim, (m)->owner[i], (m)->target[i])].field[i])
#endif

static void mr_note_targets(const MrSim *sim, const MrRoster *roster, const MrBlock *b, const MrPicture *picture,
                            int32_t slot, MrTargets *out) {
  (void)sim, (void)roster;
  const MrMissile *m = &b->missiles[slot];
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  if (MR_SIDE > 1) *out = (MrTargets){.tracked = {0}};
  MR_FOR_ACTIVE(m, i) {
    float v = MR_OF_TARGET(m, bodies, v, i), contact_v = MR_OF_CONTACT(sim, m, picture, body.v, i);
    out->x[i] = MR_OF_TARGET(m, bodies, x, i);
    out->y[i] = MR_OF_TARGET(m, bodies, y, i);
    out->vx[i] = v * MR_OF_TARGET(m, bodies, c, i);
    out->vy[i] = v * MR_OF_TARGET(m, bodies, s, i);
    out->tracked[i] = mr_is_track(MR_OF_CONTACT(sim, m, picture, source, i));
    out->contact_x[i] = MR_OF_CONTACT(sim, m, picture, body.x, i);
    out->contact_y[i] = MR_OF_CONTACT(sim, m, picture, body.y, i);
    out->contact_vx[i] = contact_v * MR_OF_CONTACT(sim, m, picture, body.c, i);
    out->contact_vy[i] = contact_v * MR_OF_CONTACT(sim, m, picture, body.s, i);
#if MR_DIMENSIONS == 3
    out->echo[i] = mr_echo_of(roster, m->target[i], i);
    out->jammer[i] = mr_jammer(sim, roster, m->target[i], i);
    out->z[i] = MR_OF_TARGET(m, bodies, z, i);
    out->vz[i] = v * MR_OF_TARGET(m, bodies, u, i);
    out->contact_z[i] = MR_OF_CONTACT(sim, m, picture, body.z, i);
    out->contact_vz[i] = contact_v * MR_OF_CONTACT(sim, m, picture, body.u, i);
#endif
  }
}

// Notes where chaff decoys the seekers of a slot's missiles, if they would see their targets.
static void mr_note_decoys(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t slot, MrTargets *out) {
  const MrMissile *m = &b->missiles[slot];
#define MR_NO_CLOUD(x, vx) out->cloud_##x[i] = 0.0f;
#define MR_NOTE_CLOUD(x, vx) out->cloud_##x[i] = cloud->x[i];
  MR_FOR_LANES(i) {
    out->decoys[i] = 0;
    MR_AXES(MR_NO_CLOUD)
  }
  if (sim->params.chaff == 0) return;
  MR_EACH_LANE(i) {
    const MrSystems *cloud = &picture->systems[m->target[i]];
    if (!m->active[i] || !mr_has_cloud(b, cloud, i)) continue;
    out->decoys[i] = mr_decoys_seeker(sim, b, cloud, slot, i);
    MR_AXES(MR_NOTE_CLOUD)
  }
#undef MR_NO_CLOUD
#undef MR_NOTE_CLOUD
}

// Updates the beliefs of all missiles, after the contacts, and removes missiles that are lost.
static void mr_update_beliefs(const MrSim *sim, const MrRoster *roster, int32_t steps, MrBlock *b, MrPicture *picture) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MR_ALIGNED int32_t strays[MR_LANES];
    MrTargets targets;
    if (!b->live[slot]) continue;
    mr_note_targets(sim, roster, b, picture, slot, &targets);
    mr_note_decoys(sim, b, picture, slot, &targets);
    mr_update_belief(sim, &b->missiles[slot], steps, &targets, &picture->beliefs[slot], strays);
    mr_drop_strays(sim, roster, strays, b, slot);
  }
}

// Updates the picture after `steps` physics steps: contacts, beliefs, and which missiles are lost. `roster` has the
// types that the block flies.
static void mr_update_picture(const MrSim *sim, const MrRoster *roster, int32_t steps, MrBlock *b, MrPicture *picture) {
  mr_update_contacts(sim, roster, b, steps, picture);
  mr_update_beliefs(sim, roster, steps, b, picture);
}
