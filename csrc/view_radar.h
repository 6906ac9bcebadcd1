// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in one against one with sensors, in the plane and with height: the own fighter,
// its contact, what its receiver hears, and its missiles, all as its side believes them.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <string.h>

#include "picture.h"
#include "receiver.h"
#include "scene.h"
#include "view.h"
#include "view_mission.h"
#include "view_systems.h"

// The view of one fighter. The kinds of missiles are set if fighters carry several.
typedef struct {
  MR_OWN_FEATURES(MR_DECLARE_FEATURE)
  MR_CONTACT_FEATURES(MR_DECLARE_FEATURE)
  MR_GEOMETRY_FEATURES(MR_DECLARE_FEATURE)
  MR_RECEIVER_FEATURES(MR_DECLARE_FEATURE)
#if MR_DIMENSIONS == 3
  MR_OWN_HEIGHT_FEATURES(MR_DECLARE_FEATURE)
  MR_ECHO_FEATURES(MR_DECLARE_FEATURE)
  MR_ELEVATION_FEATURES(MR_DECLARE_FEATURE, enemy, "the enemy")
  MR_ASCENT_FEATURES(MR_DECLARE_FEATURE, enemy, "the enemy")
#endif
  MrSeekerRow seekers[MR_SEEKERS_OBSERVED];
  MrGuidedRow own_missiles[MR_OWN_MISSILES_OBSERVED];
#if MR_DIMENSIONS == 3
  MR_TWO_KNOWN_KIND_FEATURES(MR_DECLARE_FEATURE)
  MR_THIRD_KNOWN_KIND_FEATURES(MR_DECLARE_FEATURE)
#endif
} MrRadarView;

enum { MR_RADAR_VIEW_COUNT = MR_DIMENSIONS == 3 ? (int)MR_RADAR_HEIGHT_3_FEATURE_COUNT : (int)MR_RADAR_FEATURE_COUNT };
_Static_assert(sizeof(MrRadarView) == MR_RADAR_VIEW_COUNT * sizeof(float[MR_LANES]), "every feature is written");

// Writes the features of the own fighter, the contact and the receiver. `scene` is as the side believes it.
static void mr_write_contact(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                             const MrContact *contact, const MrHeard *heard, MrRadarView *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter];
  const MrSight *sight = &scene->sights[fighter];
  int32_t other = mr_opponent(fighter);
  const MrRoster *roster = mr_roster(sim, b);
  MR_FOR_LANES(i) {
    float limit = k->one;
    MR_OWN_VALUES(k, b, own, scene->inbound[other].in_air[i], i)
    float receiver_searched = (float)(heard->hears[i] & !heard->tracked[i]);
    float receiver_tracked = (float)heard->tracked[i];
    float receiver_ahead = heard->ahead[i];
    float receiver_left = heard->left[i];
    MR_OWN_FEATURES(MR_WRITE)
    MR_RECEIVER_FEATURES(MR_WRITE)
  }
  MR_FOR_LANES(i) {
    float limit = mr_select(mr_is_track(contact->source[i]), k->one, 0.0f);
    float quality = mr_quality(contact, i);
    float track_live = quality * (float)(contact->source[i] == MR_LIVE);
    float track_memory = quality * (float)(contact->source[i] == MR_MEMORY);
    float track_age = (float)contact->age[i] * k->dt;
    float enemy_speed = contact->body.v[i];
    MR_GEOMETRY_VALUES(sim, roster, fighter, &own->body, &contact->body, sight, i)
    MR_CONTACT_FEATURES(MR_WRITE)
    MR_GEOMETRY_FEATURES(MR_WRITE)
  }
}

#if MR_DIMENSIONS == 3

// Writes the features of a kind of missile in all lanes.
#define MR_WRITE_KNOWN_KIND(prefix, kind, which)                                                             \
  MR_FOR_LANES(i) {                                                                                          \
    float limit = sim->constants.one;                                                                        \
    float own_##prefix##_ammunition = (float)mr_missiles_left(own, kind, i);                                 \
    MR_KIND_STORE_FEATURES(MR_WRITE, prefix, which)                                                          \
  }                                                                                                          \
  MR_FOR_LANES(i) {                                                                                          \
    float limit = mr_select(mr_is_track(contact->source[i]), sim->constants.one, 0.0f);                      \
    float range = sight->range[i], approach = sight->approach[i];                                            \
    float its_approach = mr_cosine(sight, i) * own->body.v[i];                                               \
    float r_max = mr_r_max(sim, roster, its, kind, &own->body, &contact->body, approach, i);                 \
    float its_r_max = mr_r_max(sim, roster, fighter, kind, &contact->body, &own->body, its_approach, i);     \
    float own_##prefix##_reach = r_max - range;                                                              \
    float enemy_##prefix##_reach = its_r_max - range;                                                        \
    MR_KIND_REACH_FEATURES(MR_WRITE, prefix, which)                                                          \
  }

// Writes the features that height adds to those of the own fighter and the contact.
static void mr_write_contact_height(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrSight *sight,
                                    const MrContact *contact, MrRadarView *out) {
  const MrRoster *roster = mr_roster(sim, b);
  const MrFighter *own = &b->fighters[fighter];
  int32_t its = mr_opponent(fighter);
  MR_FOR_LANES(i) {
    float limit = sim->constants.one;
    MR_OWN_HEIGHT_VALUES(sim, roster, fighter, own, i)
    MR_ECHO_VALUES(roster, fighter, i)
    MR_OWN_HEIGHT_FEATURES(MR_WRITE)
    MR_ECHO_FEATURES(MR_WRITE)
  }
  MR_FOR_LANES(i) {
    float limit = mr_select(mr_is_track(contact->source[i]), sim->constants.one, 0.0f);
    MR_SEEN_HEIGHT_VALUES(enemy, sim, roster, its, &own->body, &contact->body, sight, i)
    MR_ELEVATION_FEATURES(MR_WRITE, enemy, "the enemy")
    MR_ASCENT_FEATURES(MR_WRITE, enemy, "the enemy")
  }
  if (mr_kinds(sim) < 2) return;
  MR_WRITE_KNOWN_KIND(first, 0, "first")
  MR_WRITE_KNOWN_KIND(second, 1, "second")
  if (mr_kinds(sim) < 3) return;
  MR_WRITE_KNOWN_KIND(third, 2, "third")
}

#else

static inline void mr_write_contact_height(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrSight *sight,
                                           const MrContact *contact, MrRadarView *out) {
  (void)sim, (void)b, (void)fighter, (void)sight, (void)contact, (void)out;
}

#endif

// Writes the features of the own missiles of one rank. Range and time to go are to the contact.
static void mr_write_own_missiles(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                                  const MrPicture *picture, int rank, MrGuidedRow *out) {
  const MrContact *contact = &picture->contacts[fighter];
  const int32_t *keys = scene->inbound[mr_opponent(fighter)].keys[rank];
  MrObserved missiles;
  mr_collect(sim, b, scene, keys, &missiles);
  MR_EACH_LANE(i) missiles.active[i] = picture->beliefs[keys[i] & MR_SLOT_BITS].locked[i];
  MR_FOR_LANES(i) missiles.supported[i] = mr_is_track(contact->source[i]);
  mr_rate_missiles(sim, mr_roster(sim, b), fighter, &contact->body, true, &missiles);
  mr_write_guided(&sim->constants, &b->fighters[fighter].body, &missiles, out);
}

// Writes the view of one fighter with sensors. `scene` is as the side believes it; `sights` are the true ones, by which
// the receiver hears.
static void mr_write_radar_view(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                                const MrSight sights[MR_FIGHTERS], const MrPicture *picture, MrRadarView *out) {
  MrHeard heard;
  MrSeekers seekers;
  int32_t other = mr_opponent(fighter);
  mr_listen(sim, &b->fighters[fighter], b, picture, other, &sights[fighter], &picture->contacts[other], &heard);
  mr_listen_to_seekers(sim, b, fighter, picture, &seekers);
  mr_write_contact(sim, b, fighter, scene, &picture->contacts[fighter], &heard, out);
  mr_write_contact_height(sim, b, fighter, &scene->sights[fighter], &picture->contacts[fighter], out);
  mr_write_seekers(&sim->constants, &seekers, out->seekers);
  if (!scene->any) memset(out->own_missiles, 0, sizeof out->own_missiles);
  for (int rank = 0; scene->any && rank < MR_OWN_MISSILES_OBSERVED; rank++) {
    mr_write_own_missiles(sim, b, fighter, scene, picture, rank, &out->own_missiles[rank]);
  }
}

// Writes the rows of a block. `sights` are the true ones.
static void mr_write_radar_views(const MrSim *sim, const MrBlock *b, const MrPicture *picture,
                                 const MrSight sights[MR_FIGHTERS], const MrOutputs *out, MrDestination to) {
  MrRadarView view;
  MrScene believed;
  mr_look_around_by_picture(sim, b, picture, &believed);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_write_radar_view(sim, b, f, &believed, sights, picture, &view);
    mr_place_systems(sim, b, picture, f, &to);
    mr_place_mission(sim, b, f, &to);
    mr_place_view(sim, &view, &to);
  }
}
