// SPDX-License-Identifier: MIT
//
// Looks up a shot's ranges in the map of the missile envelope, by linear interpolation along all four axes. RULES.md,
// "Missile envelopes".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <assert.h>
#include <math.h>

#include "block.h"
#include "quads.h"
#include "sight.h"

// Distances between neighbouring nodes of each axis in MrMap.ranges [floats].
enum { MR_TARGET_STRIDE = 4, MR_LAUNCH_STRIDE = MR_MAP_TARGET * MR_TARGET_STRIDE };
enum { MR_ASPECT_STRIDE = MR_MAP_LAUNCH * MR_LAUNCH_STRIDE, MR_OFF_STRIDE = (MR_MAP_ASPECT + 1) * MR_ASPECT_STRIDE };

// Ranges of a fighter's shot on its enemy [m].
typedef struct {
  MR_ALIGNED float aero[MR_LANES], nez[MR_LANES], cold[MR_LANES];
} MrShotRanges;

// The cell of the map in which a shot lies: the index of the cell's first corner in MrMap.ranges [floats], and the
// shot's place within the cell along each axis, 0 to 1.
typedef struct {
  int32_t corner;
  float off, aspect, launch, target;
} MrCell;

// The diamond angle of a direction: an angle without trigonometry. 0 is ahead, 1 left, -1 right, 2 and -2 behind.
static inline float mr_diamond(float ahead, float left) {
  float across = fabsf(left);
  float angle = across / mr_max(fabsf(ahead) + across, 1e-6f);
  angle = ahead < 0.0f ? 2.0f - angle : angle;
  return left < 0.0f ? -angle : angle;
}

// Splits a place on an axis with `nodes` nodes into the node below, which is returned, and the rest, which stays in
// `place`. The node is at most the last but one, so the cell has a node above. The result goes into an index; it is
// valid for any `place`, since mr_clip turns NaN into its lower limit.
static inline int32_t mr_node_below(float *place, int32_t nodes) {
  int32_t node = (int32_t)mr_clip(*place, 0.0f, (float)(nodes - 2));
  *place -= (float)node;
  return node;
}

// The cell of a shot. target_seen is the target in the shooter's frame, shooter_seen the shooter in the target's frame.
// The map has only shots whose nose is on one side of the line to the target. A shot whose nose is on the other side
// is looked up as its mirror image.
static inline MrCell mr_cell(const MrMap *map, MrVector target_seen, MrVector shooter_seen, float launch_speed,
                             float target_speed) {
  float aspect_left = target_seen.left > 0.0f ? shooter_seen.left : -shooter_seen.left;
  float off = mr_diamond(target_seen.ahead, fabsf(target_seen.left)) * (0.5f * (MR_MAP_OFF - 1));
  float aspect = (mr_diamond(shooter_seen.ahead, aspect_left) + 2.0f) * (0.25f * MR_MAP_ASPECT);
  float launch = mr_clip((launch_speed - map->launch_speed_min) * map->launch_nodes, 0.0f, MR_MAP_LAUNCH - 1);
  float target = mr_clip((target_speed - map->target_speed_min) * map->target_nodes, 0.0f, MR_MAP_TARGET - 1);
  int32_t corner = mr_node_below(&off, MR_MAP_OFF) * MR_OFF_STRIDE +
                   mr_node_below(&aspect, MR_MAP_ASPECT + 1) * MR_ASPECT_STRIDE +
                   mr_node_below(&launch, MR_MAP_LAUNCH) * MR_LAUNCH_STRIDE +
                   mr_node_below(&target, MR_MAP_TARGET) * MR_TARGET_STRIDE;
  return (MrCell){corner, off, aspect, launch, target};
}

// Interpolates between two nodes, all four ranges at once.
static inline MrQuad mr_mix(MrQuad a, MrQuad b, float share) { return a + (b - a) * share; }

static inline MrQuad mr_mix_speeds(const float *corner, MrCell cell) {
  const float *next = corner + MR_LAUNCH_STRIDE;
  MrQuad low = mr_mix(mr_load_quad(corner), mr_load_quad(corner + MR_TARGET_STRIDE), cell.target);
  MrQuad high = mr_mix(mr_load_quad(next), mr_load_quad(next + MR_TARGET_STRIDE), cell.target);
  return mr_mix(low, high, cell.launch);
}

// The ranges aero, nez, cold and minimum [m], interpolated in a cell.
static inline MrQuad mr_ranges(const MrMap *map, MrCell cell) {
  const float *corner = map->ranges[0][0][0][0] + cell.corner;
  const float *next = corner + MR_OFF_STRIDE;
  MrQuad near = mr_mix(mr_mix_speeds(corner, cell), mr_mix_speeds(corner + MR_ASPECT_STRIDE, cell), cell.aspect);
  MrQuad far = mr_mix(mr_mix_speeds(next, cell), mr_mix_speeds(next + MR_ASPECT_STRIDE, cell), cell.aspect);
  return mr_mix(near, far, cell.off);
}

#if MR_DIMENSIONS == 2

// The ranges of a fighter's shot on an enemy, in all lanes. `sight` is the fighter's sight of that enemy.
static void mr_look_up(const MrSim *sim, const MrBody *own, const MrBody *enemy, const MrSight *sight,
                       MrShotRanges *out) {
  MR_ALIGNED int32_t corner[MR_LANES];
  MR_ALIGNED float off[MR_LANES], aspect[MR_LANES], launch[MR_LANES], target[MR_LANES];
  MR_ALIGNED float ranges[MR_LANES][4];
  MR_FOR_LANES(i) {
    MrVector target_seen = {sight->ahead[i], sight->left[i]};
    MrVector shooter_seen = {sight->aspect_ahead[i], sight->aspect_left[i]};
    MrCell cell = mr_cell(&sim->map, target_seen, shooter_seen, own->v[i], enemy->v[i]);
    corner[i] = cell.corner;
    off[i] = cell.off;
    aspect[i] = cell.aspect;
    launch[i] = cell.launch;
    target[i] = cell.target;
  }
  MR_EACH_LANE(i) {
    assert(corner[i] >= 0 && corner[i] < MR_OFF_STRIDE * (MR_MAP_OFF - 1) && "the cell is of the map");
    MrCell cell = {corner[i], off[i], aspect[i], launch[i], target[i]};
    mr_store_quad(mr_ranges(&sim->map, cell), ranges[i]);
  }
  MR_FOR_LANES(i) {
    out->aero[i] = ranges[i][0];
    out->nez[i] = ranges[i][1];
    out->cold[i] = ranges[i][2];
  }
}

#endif

#if MR_SIDE == 1 && MR_DIMENSIONS == 2

// The ranges of shots one by one. In an MrShot the bearings are of noses from the line of sight; in a cell they are of
// the line of sight from noses.
static void mr_look_up_each(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges) {
  for (int32_t n = 0; n < count; n++) {
    const MrShot *shot = &shots[n];
    MrVector target_seen = {shot->nose_x, -shot->nose_y}, shooter_seen = {shot->aspect_x, -shot->aspect_y};
    MrCell cell = mr_cell(&sim->map, target_seen, shooter_seen, shot->launch_speed, shot->target_speed);
    MrQuad ranges = mr_ranges(&sim->map, cell);
    edges[n] = (MrShotEdges){ranges[0], ranges[1], ranges[2], ranges[3]};
  }
}

#endif
