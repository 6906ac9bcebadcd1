// SPDX-License-Identifier: MIT
//
// Writes observations in a game with sensors: the features of MR_RADAR_FEATURES, from the picture and from what the
// fighter knows of itself and its own missiles.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "feature_table.h"
#include "observation.h"
#include "picture.h"
#include "scene.h"
#include "transpose.h"

#define MR_SCALE_VIEW(name, scale, lateral, meaning) (float)(1.0 / (scale)),
static const float mr_view_factor[] = {MR_RADAR_FEATURES(MR_SCALE_VIEW)};

static inline float mr_view_scaled(const MrConstants *k, int feature, float value) {
  return mr_clip(value * mr_view_factor[feature], -k->one, k->one);
}

// Write a feature from the variable of its name: always, where the enemy is tracked, or where a rank is `present`.
#define MR_WRITE_VIEW(name, scale, lateral, meaning) out[MR_VIEW_##name][i] = mr_view_scaled(k, MR_VIEW_##name, name);
#define MR_WRITE_TRACKED(name, scale, lateral, meaning) \
  out[MR_VIEW_##name][i] = mr_select(tracked, mr_view_scaled(k, MR_VIEW_##name, name), 0.0f);

// Writes the features of the own fighter, the contact and the receiver. `scene` is as the side believes it.
static void mr_view_contact(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                            const MrContact *contact, const MrHeard *heard, MrFeatures out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter];
  const MrSight *sight = &scene->sights[fighter];
  int32_t other = mr_opponent(fighter);
  MR_FOR_LANES(i) {
    int tracked = mr_is_track(contact->source[i]);
    MR_OWN_VALUES(k, b, own, scene->inbound[other].in_air[i], i)
    float track_live = (float)(contact->source[i] == MR_RADAR);
    float track_memory = (float)(contact->source[i] == MR_MEMORY);
    float track_age = (float)contact->age[i] * k->dt;
    float enemy_speed = contact->body.v[i];
    MR_GEOMETRY_VALUES(k, own, sight, i)
    float receiver_searched = (float)(heard->hears[i] & !heard->tracked[i]);
    float receiver_tracked = (float)heard->tracked[i];
    float receiver_ahead = heard->ahead[i];
    float receiver_left = heard->left[i];
    MR_OWN_FEATURES(MR_WRITE_VIEW)
    MR_CONTACT_FEATURES(MR_WRITE_TRACKED)
    MR_GEOMETRY_FEATURES(MR_WRITE_TRACKED)
    MR_RECEIVER_FEATURES(MR_WRITE_VIEW)
  }
}

// Writes the features of the seekers with a lock on the own fighter.
static void mr_view_seekers(const MrConstants *k, const MrSeekers *seekers, MrFeatures features) {
  for (int rank = 0; rank < MR_HEARD_SEEKERS; rank++) {
    float(*out)[MR_LANES] = features + rank * MR_SEEKER_FEATURE_COUNT;
    MR_FOR_LANES(i) {
      float seeker_1_present = (float)seekers->present[rank][i];
      float seeker_1_ahead = seekers->ahead[rank][i];
      float seeker_1_left = seekers->left[rank][i];
      MR_SEEKER_FEATURES(MR_WRITE_VIEW, seeker_1)
    }
  }
}

// Collects whether the own missiles of one rank have a lock.
static void mr_collect_locks(const MrPicture *picture, const int32_t keys[MR_LANES], int32_t locked[MR_LANES]) {
  MR_EACH_LANE(i) locked[i] = picture->beliefs[keys[i] & MR_SLOT_BITS].locked[i];
}

// Writes the features of the own missiles of one rank. Where they stand to the enemy is by the contact.
static void mr_view_missile(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                            const MrPicture *picture, int rank, MrFeatures features) {
  const MrConstants *k = &sim->constants;
  const MrContact *contact = &picture->contacts[fighter];
  const int32_t *keys = scene->inbound[mr_opponent(fighter)].keys[rank];
  float(*out)[MR_LANES] = features + MR_VIEW_own_missile_1_present + rank * MR_SEEN_GUIDED_FEATURES;
  MrSeen seen;
  MR_ALIGNED int32_t locked[MR_LANES];
  mr_collect(b, scene, keys, &seen);
  mr_collect_locks(picture, keys, locked);
  mr_rate_missiles(sim, &contact->body, &seen);
  mr_see_missile(k, &b->fighters[fighter].body, false, &seen, keys, out);
  MR_FOR_LANES(i) {
    int present = keys[i] < MR_NO_MISSILE, tracked = mr_is_track(contact->source[i]);
    out[MR_SEEN_missile_nearness][i] = mr_select(tracked, out[MR_SEEN_missile_nearness][i], 0.0f);
    out[MR_SEEN_missile_urgency][i] = mr_select(tracked, out[MR_SEEN_missile_urgency][i], 0.0f);
    out[MR_SEEN_missile_reach][i] = mr_select(tracked, out[MR_SEEN_missile_reach][i], 0.0f);
    out[MR_SEEN_guided_supported][i] = (float)(present & tracked);
    out[MR_SEEN_guided_active][i] = (float)(present & locked[i]);
  }
}

// Writes the observations of one fighter in the first `lanes` lanes. Lane i's row starts at rows + i * stride. `scene`
// is as the side believes it, `sights` are the true ones, which the receiver hears by.
static void mr_view_fighter(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                            const MrSight sights[MR_FIGHTERS], const MrPicture *picture, int lanes, float *rows,
                            size_t stride) {
  MR_ALIGNED MrFeatures features;
  MrHeard heard;
  MrSeekers seekers;
  int32_t other = mr_opponent(fighter);
  mr_listen(sim, &b->fighters[fighter], &b->fighters[other], &sights[fighter], &picture->contacts[other], &heard);
  mr_listen_to_seekers(b, fighter, picture, &seekers);
  mr_view_contact(sim, b, fighter, scene, &picture->contacts[fighter], &heard, features);
  mr_view_seekers(&sim->constants, &seekers, features);
  size_t own_missiles = MR_SEEN_OWN * MR_SEEN_GUIDED_FEATURES;
  if (!scene->any) memset(features[MR_VIEW_own_missile_1_present], 0, own_missiles * sizeof features[0]);
  for (int rank = 0; scene->any && rank < MR_SEEN_OWN; rank++) {
    mr_view_missile(sim, b, fighter, scene, picture, rank, features);
  }
  mr_write_rows(features, MR_RADAR_FEATURE_COUNT, lanes, rows, stride);
}
