// SPDX-License-Identifier: MIT
//
// Scripted pilots, for either seat. Each fills in the commands of the lanes it flies. RULES.md, "Pilots".

#pragma once

#include "block.h"
#include "sense.h"

// What a pilot wants in every lane.
typedef struct {
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];  // unit vector to steer to, own frame
  MR_ALIGNED int32_t fire[MR_LANES];
} MrIntent;

// Inbound missile with the least time to go, and own missiles in the air.
typedef struct {
  MR_ALIGNED float time_to_go[MR_LANES];
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];  // unit vector to it, own frame
  MR_ALIGNED int32_t own_in_air[MR_LANES];
} MrThreat;

static void mr_assess_threat(const MrBlock *b, int32_t fighter, MrThreat *out) {
  const MrBody *own = &b->fighters[fighter].body;
  MR_FOR_LANES(i) {
    out->time_to_go[i] = MR_TIME_TO_GO_MAX;
    out->ahead[i] = 1.0f;
    out->left[i] = 0.0f;
    out->own_in_air[i] = 0;
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MrTrack track;
    mr_track(b, slot, &track);
    MR_FOR_LANES(i) {
      int nearer = (m->active[i] != 0) & (m->target[i] == fighter) &
                   (track.time_to_go[i] < out->time_to_go[i]);
      float inverse = 1.0f / (track.range[i] > 1.0f ? track.range[i] : 1.0f);
      float ahead = (track.x[i] * own->c[i] + track.y[i] * own->s[i]) * inverse;
      float left = (track.y[i] * own->c[i] - track.x[i] * own->s[i]) * inverse;
      out->time_to_go[i] = mr_select(nearer, track.time_to_go[i], out->time_to_go[i]);
      out->ahead[i] = mr_select(nearer, ahead, out->ahead[i]);
      out->left[i] = mr_select(nearer, left, out->left[i]);
      out->own_in_air[i] += m->active[i] & (m->owner[i] == fighter);
    }
  }
}

static void mr_pursue_and_shoot(const struct MrSim *sim, const MrSight *sight, MrIntent *out) {
  const MrConstants *k = &sim->constants;
  float fraction = sim->params.shooter_fire_fraction;
  MR_FOR_LANES(i) {
    float limit = fraction * mr_reach(k, sight->approach[i]);
    out->ahead[i] = sight->ahead[i];
    out->left[i] = sight->left[i];
    out->fire[i] = (sight->ahead[i] > k->fire_cosine) & (sight->range[i] < limit);
  }
}

static void mr_evade(const struct MrSim *sim, const MrBlock *b, int32_t fighter, MrIntent *out) {
  MrThreat threat;
  mr_assess_threat(b, fighter, &threat);
  int32_t salvo = sim->params.evader_salvo;
  MR_FOR_LANES(i) {
    int cold = threat.time_to_go[i] < b->fighters[fighter].cold_time[i];
    out->ahead[i] = mr_select(cold, -threat.ahead[i], out->ahead[i]);
    out->left[i] = mr_select(cold, -threat.left[i], out->left[i]);
    out->fire[i] &= threat.own_in_air[i] < salvo;
  }
}

static void mr_weave(const struct MrSim *sim, MrBlock *b, int32_t fighter) {
  int32_t period = sim->constants.weave_period;
  float rudder = sim->params.weave_rudder;
  MrFighter *f = &b->fighters[fighter];
  MR_FOR_LANES(i) {
    int32_t phase = (b->time[i] + period / 4) % period;
    float weave = phase < period / 2 ? rudder : -rudder;
    f->rudder_command[i] = mr_select(f->pilot[i] == MR_PILOT_weave, weave, f->rudder_command[i]);
  }
}

// Writes the commands of the lanes that `pilot` flies: rudder = clip(gain * sin e), full when it is behind.
static void mr_steer(float gain, MrFighter *f, MrPilot pilot, const MrIntent *intent) {
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] == (int32_t)pilot;
    float side = intent->left[i] < 0.0f ? -1.0f : 1.0f;
    float rudder = intent->ahead[i] < 0.0f ? side : mr_clip(gain * intent->left[i], -1.0f, 1.0f);
    f->rudder_command[i] = mr_select(mine, rudder, f->rudder_command[i]);
    f->fire[i] = mr_select_int(mine, intent->fire[i], f->fire[i]);
  }
}

// Commands of all scripted fighters of a block.
static void mr_fly_pilots(const struct MrSim *sim, MrBlock *b) {
  for (int32_t fighter = 0; fighter < MR_FIGHTERS; fighter++) {
    MrFighter *f = &b->fighters[fighter];
    int32_t flown[MR_PILOT_COUNT] = {0};  // lanes of each pilot
    MR_EACH_LANE(i) flown[f->pilot[i]]++;
    if (flown[MR_PILOT_agent] == MR_LANES) continue;

    MR_FOR_LANES(i) {  // straight, and what the others have in common
      int scripted = f->pilot[i] != MR_PILOT_agent;
      f->rudder_command[i] = mr_select(scripted, 0.0f, f->rudder_command[i]);
      f->throttle_command[i] = mr_select(scripted, 1.0f, f->throttle_command[i]);
      f->fire[i] = mr_select_int(scripted, 0, f->fire[i]);
    }
    if (flown[MR_PILOT_weave]) mr_weave(sim, b, fighter);
    if (!flown[MR_PILOT_shooter] && !flown[MR_PILOT_evader]) continue;

    float gain = sim->params.pilot_steering;
    MrSight sight;
    MrIntent intent;
    mr_look(b, fighter, &sight);
    mr_pursue_and_shoot(sim, &sight, &intent);
    if (flown[MR_PILOT_shooter]) mr_steer(gain, f, MR_PILOT_shooter, &intent);
    if (!flown[MR_PILOT_evader]) continue;
    mr_evade(sim, b, fighter, &intent);
    mr_steer(gain, f, MR_PILOT_evader, &intent);
  }
}
