// SPDX-License-Identifier: MIT
//
// Orders: the controls of fighters that follow an order of orders_table.h. They fly the courses of scripted pilots, know
// what pilots know, and fire by their estimates. RULES.md, "Orders".
//
// A fighter that follows orders is flown as a pilot whose tactics and target say what the orders say. For the time of
// a call the fighters have this pilot; then they are put back.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "awareness.h"
#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "receiver.h"
#include "sight.h"
#include "targets.h"

// The orders of one fighter. `given` is 1 in the lanes that have one. `absent` is 1 where what the order speaks of is
// not there.
typedef struct {
  MR_ALIGNED int32_t given[MR_LANES], order[MR_LANES], permission[MR_LANES], level[MR_LANES], target[MR_LANES];
  MR_ALIGNED int32_t systems[MR_LANES];
  MR_ALIGNED int32_t absent[MR_LANES];
} MrOrders;

// Reads the orders of one fighter of a block from its row in the first lane on. Returns false if it has none.
static bool mr_read_orders(const MrSim *sim, int32_t block, const int32_t *row, MrOrders *out) {
  int lanes = mr_used_lanes(sim, block), stride = mr_fighters(sim) * sim->head_count;
  *out = (MrOrders){.given = {0}};
  for (int i = 0; i < lanes; i++, row += stride) {
    out->given[i] = row[0] >= 0;
    for (int32_t head = 0; head < sim->head_count; head++) {
      int32_t last = sim->head_levels[head] - 1, level = row[head] < 0 ? 0 : row[head] < last ? row[head] : last;
      if (sim->heads[head] == MR_HEAD_ORDER) out->order[i] = (int32_t)sim->orders[level];
      if (sim->heads[head] == MR_HEAD_PERMISSION) out->permission[i] = level;
      if (sim->heads[head] == MR_HEAD_LEVEL) out->level[i] = level;
      if (sim->heads[head] == MR_HEAD_SYSTEMS) out->systems[i] = level;
      if (sim->heads[head] == MR_HEAD_TARGET) out->target[i] = level;
    }
  }
  return mr_count(out->given) > 0;
}

// Gives a fighter the pilot that follows its orders: it heeds every missile that it knows, and fires by permission.
// Without a map there is no R_NEZ in the plane.
static void mr_brief(const MrSim *sim, const MrOrders *orders, MrFighter *f) {
  const MrParams *p = &sim->params;
  float near = MR_DIMENSIONS == 3 || sim->has_map ? 1.0f : 0.0f, off_c, off_s;
  mr_unit_vector((double)p->order_crank_angle_deg / 360.0, &off_c, &off_s);
  f->tactics = (MrTactics){.delay = {0}};
  MR_FOR_LANES(i) {
    f->pilot[i] = MR_PILOT_shooter;
    f->tactics.fire_r_max[i] = mr_select(orders->permission[i] == MR_PERMISSION_free, p->order_fire, 0.0f);
    f->tactics.fire_r_nez[i] = mr_select(orders->permission[i] == MR_PERMISSION_tight, near, 0.0f);
    f->tactics.salvo[i] = p->order_salvo;
    f->tactics.off_c[i] = off_c;
    f->tactics.off_s[i] = off_s;
    f->tactics.cold_time[i] = MR_TIME_TO_GO_MAX;
#if MR_DIMENSIONS == 3
    f->tactics.height[i] = p->pilot_height_max;
#endif
  }
}

// Targets ------------------------------------------------------------------------------------------------

#if MR_SIDE > 1

// The living ally nearest a fighter in one lane; or -1.
static int32_t mr_nearest_ally(const MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  int32_t nearest = -1;
  float least = 0.0f;
  MR_FOR_SIDE(sim, mr_side(sim, fighter), f) {
    if (f == fighter || !b->fighters[f].alive[lane]) continue;
    float range2 = mr_range2(&b->fighters[fighter].body, &b->fighters[f].body, lane);
    if (nearest < 0 || range2 < least) {
      nearest = f;
      least = range2;
    }
  }
  return nearest;
}

// The enemy whose missile is the first to reach an ally, in one lane; or -1.
static int32_t mr_shooter_at(const MrBlock *b, int32_t ally, int lane) {
  const MrBody *bodies[MR_FIGHTERS];
  int32_t shooter = -1;
  float least = 0.0f;
  mr_bodies(b, bodies);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    const MrMissile *m = &b->missiles[slot];
    if (!m->active[lane] || m->target[lane] != ally || !b->fighters[m->owner[lane]].alive[lane]) continue;
    float time_to_go = mr_standing(m, bodies, lane).time_to_go;
    if (shooter < 0 || time_to_go < least) {
      shooter = m->owner[lane];
      least = time_to_go;
    }
  }
  return shooter;
}

// With sensors: of the enemies whose radars track an ally, as its receiver hears, and of which the fighter has a track,
// the one nearest the ally in one lane; or -1.
static int32_t mr_tracker_of(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                             int32_t ally, int lane) {
  MrHeardAll all;
  int32_t tracker = -1, enemies = !mr_side(sim, fighter), first = mr_first(sim, enemies);
  float least = 0.0f;
  mr_listen_around(sim, b, ally, picture, &all);
  MR_FOR_SIDE(sim, enemies, e) {
    const MrBody *enemy = mr_known(sim, b, picture, fighter, e, lane);
    if (!enemy || !all.of[e - first].tracked[lane]) continue;
    float range2 = mr_range2(&b->fighters[ally].body, enemy, lane);
    if (tracker < 0 || range2 < least) {
      tracker = e;
      least = range2;
    }
  }
  return tracker;
}

// The enemy that menaces the ally nearest a fighter in one lane; or -1.
static int32_t mr_menacing_enemy(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                 int lane) {
  int32_t ally = mr_nearest_ally(sim, b, fighter, lane);
  if (ally < 0) return -1;
  return picture ? mr_tracker_of(sim, b, picture, fighter, ally, lane) : mr_shooter_at(b, ally, lane);
}

// The enemy that a fighter is ordered against in one lane, the first of these that there is: for `guard` the one that
// menaces the nearest ally; the one that the order names by its place among those observed; the one nearest the nose;
// with sensors a living one whose track was lost; the first.
static int32_t mr_ordered_target(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                 MrOrders *orders, int lane) {
  int32_t side = mr_side(sim, fighter), target = -1;
  const MrBody *known[MR_FIGHTERS];
  if (orders->order[lane] == MR_ORDER_guard) {
    target = mr_menacing_enemy(sim, b, picture, fighter, lane);
    orders->absent[lane] |= target < 0;
  }
  if (target < 0 && orders->target[lane] > 0) {
    target = mr_nearest_enemy(sim, b, picture, fighter, orders->target[lane], lane);
  }
  if (target >= 0) return target;
  orders->absent[lane] |= orders->target[lane] > 0;
  MR_FOR_SIDE(sim, !side, e) known[e] = mr_known(sim, b, picture, fighter, e, lane);
  target = mr_nearest_nose(sim, &b->fighters[fighter].body, side, known, lane);
  if (target >= 0) return target;
  MR_FOR_SIDE(sim, !side, e) {
    bool lost = picture && picture->contacts[mr_contact_place(sim, fighter, e)].source[lane] == MR_LOST;
    if (lost && b->fighters[e].alive[lane]) return e;
  }
  return mr_first(sim, !side);
}

// The direction from a fighter in one lane to the middle of its living allies, a unit vector in its own frame; 0
// without an ally, or in the middle itself.
static MrVector mr_toward_allies(const MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  const MrBody *own = &b->fighters[fighter].body;
  float x = 0.0f, y = 0.0f;
  MR_FOR_SIDE(sim, mr_side(sim, fighter), f) {
    if (f == fighter || !b->fighters[f].alive[lane]) continue;
    x += b->fighters[f].body.x[lane] - own->x[lane];
    y += b->fighters[f].body.y[lane] - own->y[lane];
  }
  MrVector way = mr_into_own(own, x, y, lane);
  float inverse = 1.0f / mr_max(sqrtf(x * x + y * y), 1.0f);
  return (MrVector){way.ahead * inverse, way.left * inverse};
}

#endif

// 1 if a fighter has a direction of its target in lane i: its place, believed or true, or that of a search.
static int mr_has_bearing(const MrBlock *b, const MrPicture *picture, const MrAim *aim, const MrHeard *heard,
                          int32_t fighter, int i) {
#if MR_SIDE == 1
  (void)b, (void)fighter;
  return !picture || heard->hears[i] || aim->contact->source[i] != MR_UNSEEN;
#else
  int lives = b->fighters[b->fighters[fighter].target[i]].alive[i];
  if (!picture) return lives;
  int32_t source = aim->contact->source[i];
  return heard->hears[i] || mr_is_track(source) || (source == MR_LOST && lives);
#endif
}

// Courses ------------------------------------------------------------------------------------------------

// The most urgent inbound missile that a fighter knows: the direction to it, a unit vector in the own frame.
typedef struct {
  MR_ALIGNED int32_t present[MR_LANES];
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrInboundLine;

// With full information it is the one with the least time to go, with sensors the seeker nearest the nose of those with
// a lock on the fighter.
static void mr_find_inbound(const MrSim *sim, const MrBlock *b, const MrPicture *picture, const MrThreat *threat,
                            int32_t fighter, MrInboundLine *out) {
  MrSeekers seekers;
  if (picture) mr_listen_to_seekers(sim, b, fighter, picture, &seekers);
  MR_EACH_LANE(i) {
    out->present[i] = picture ? seekers.present[0][i] : threat->present[i];
    out->ahead[i] = picture ? seekers.ahead[0][i] : -threat->ahead[i];
    out->left[i] = picture ? seekers.left[0][i] : -threat->left[i];
  }
}

// Sets the courses of an ordered fighter.
static void mr_order_courses(const MrSim *sim, const MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                             int32_t fighter, const MrAim *aim, MrOrders *orders, MrCourse *out) {
  const MrSensors *k = &sim->constants.sensors;
  const MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &aware->threats[fighter];
  const MrHeard *heard = &aware->heard[fighter];
  MrInboundLine missile;
  mr_find_inbound(sim, b, picture, threat, fighter, &missile);
  MR_EACH_LANE(i) {
    int32_t order = orders->order[i];
    bool has_target = mr_has_bearing(b, picture, aim, heard, fighter, i);
    bool notches = order == MR_ORDER_notch && picture && heard->tracked[i];
    MrVector target = {aim->sight->ahead[i], aim->sight->left[i]}, ahead = {1.0f, 0.0f};
    MrVector line = missile.present[i] ? (MrVector){missile.ahead[i], missile.left[i]} : target;
    bool has_line = missile.present[i] || has_target, evades = order == MR_ORDER_beam || order == MR_ORDER_cold;
    bool lacks = evades ? !has_line : order == MR_ORDER_notch ? !notches : !has_target;
    orders->absent[i] |= lacks && order != MR_ORDER_regroup;
    MrVector course = has_target ? target : ahead;
    if (order == MR_ORDER_crank && has_target) {
      MrVector angle = mr_crank_angle(k, &f->tactics, threat, i);
      course = mr_off_to_nose(target, angle.ahead, angle.left);
    } else if (order == MR_ORDER_support && has_target) {
      course = mr_off_to_nose(target, k->crank_c, k->crank_s);
    } else if (notches) {
      course = mr_beam(heard->ahead[i], heard->left[i]);
    } else if (order == MR_ORDER_beam || order == MR_ORDER_notch) {
      course = has_line ? mr_beam(line.ahead, line.left) : ahead;
    } else if (order == MR_ORDER_cold) {
      course = has_line ? (MrVector){-line.ahead, -line.left} : ahead;
    }
#if MR_SIDE > 1
    if (order == MR_ORDER_regroup) {
      MrVector allies = mr_toward_allies(sim, b, fighter, i);
      bool has_allies = allies.ahead != 0.0f || allies.left != 0.0f;
      if (has_allies) course = allies;
      orders->absent[i] |= !has_allies;
    }
#endif
    out->ahead[i] = course.ahead;
    out->left[i] = course.left;
  }
}

// Controls -----------------------------------------------------------------------------------------------

#if MR_DIMENSIONS == 3
// Sets the climb of an ordered fighter.
static void mr_order_climb(const MrSim *sim, const MrRoster *roster, int32_t fighter, const MrOrders *orders,
                           MrFighter *f) {
  MrThreat none;
  mr_no_threat(&none);
  mr_choose_climb(sim, roster, fighter, &none, f);
  MR_FOR_LANES(i) {
    float high = f->climb_command[i], low = -sim->params.pilot_dive;
    float level = mr_select(orders->level[i] == MR_ORDER_LEVEL_high, high, 0.0f);
    f->climb_command[i] = mr_select(orders->level[i] == MR_ORDER_LEVEL_low, low, level);
  }
}
#endif

// Sets the commands of an ordered fighter, with a pilot by mr_brief and its target.
static void mr_follow_orders(const MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                             int32_t fighter, MrOrders *orders) {
  MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &aware->threats[fighter];
  MrAim aim;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
  mr_aim(sim, b, picture, &aware->heard[fighter], fighter, &aim);
  mr_order_courses(sim, b, picture, aware, fighter, &aim, orders, &course);
  mr_choose_fire(sim, b, fighter, aim.target, aim.sight, threat, fire);
  if (picture)
    MR_FOR_LANES(i) fire[i] = mr_select_int(mr_is_track(aim.contact->source[i]), fire[i], 0);
  mr_give_commands(sim, &course, fire, f);
#if MR_DIMENSIONS == 3
  mr_order_climb(sim, mr_roster(sim, b), fighter, orders, f);
#endif
}

// The control of a shot in one lane, which mr_fire_of reads: in one against one the kind of the missile, `fire`; in
// teams the place of the target among the enemies that the fighter observes, and one more.
static float mr_fire_control(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                             int32_t fire, int lane) {
#if MR_SIDE == 1
  (void)sim, (void)b, (void)picture, (void)fighter, (void)lane;
  return (float)fire;
#else
  int32_t target = b->fighters[fighter].target[lane];
  if (!fire || !mr_known(sim, b, picture, fighter, target, lane)) return 0.0f;
  int32_t place = 1;
  while (mr_nearest_enemy(sim, b, picture, fighter, place, lane) != target) place++;
  return (float)(place + 1);
#endif
}

// Writes the results of one fighter in the lanes with an order, from its rows in the first lane on.
static void mr_write_controls(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                              const MrOrders *orders, float *row, uint8_t *absent) {
  const MrFighter *f = &b->fighters[fighter];
  MR_EACH_LANE(i) {
    float *controls = row + i * mr_fighters(sim) * mr_controls_of(sim);
    if (!orders->given[i]) continue;
    if (absent) absent[i * mr_fighters(sim)] = (uint8_t)orders->absent[i];
    controls[0] = f->rudder_command[i];
#if MR_DIMENSIONS == 3
    controls[MR_CLIMB] = f->climb_command[i];
#endif
    controls[MR_THROTTLE] = 1.0f;
    if (sim->has_systems) controls[MR_SYSTEMS_PLACE] = (float)orders->systems[i];
    controls[mr_controls_of(sim) - 1] = mr_fire_control(sim, b, picture, fighter, f->fire[i], i);
  }
}

// mr_controls_of_orders for one block.
static void mr_controls_of_orders_in(const MrSim *sim, int32_t block, const int32_t *orders, float *controls,
                                     uint8_t *absent) {
  MrBlock *b = mr_block(sim, block);
  const MrPicture *picture = mr_picture(sim, block);
  int32_t fighters = mr_fighters(sim);
  size_t first = (size_t)block * MR_LANES * (size_t)fighters;
  bool ordered[MR_FIGHTERS], any = false;
  MrOrders given[MR_FIGHTERS];
  for (int32_t f = 0; f < fighters; f++) {
    ordered[f] = mr_read_orders(sim, block, orders + (first + (size_t)f) * (size_t)sim->head_count, &given[f]);
    any |= ordered[f];
  }
  if (!any) return;
  MrFighter saved[MR_FIGHTERS];
  MrAwareness aware;
  memcpy(saved, b->fighters, sizeof saved);
  for (int32_t f = 0; f < fighters; f++) {
    if (!ordered[f]) continue;
    mr_brief(sim, &given[f], &b->fighters[f]);
#if MR_SIDE > 1
    MR_EACH_LANE(i) b->fighters[f].target[i] = mr_ordered_target(sim, b, picture, f, &given[f], i);
#endif
  }
  mr_become_aware(sim, b, picture, ordered, &aware);
  for (int32_t f = 0; f < fighters; f++) {
    if (!ordered[f]) continue;
    mr_follow_orders(sim, b, picture, &aware, f, &given[f]);
    size_t row = first + (size_t)f, width = (size_t)mr_controls_of(sim);
    mr_write_controls(sim, b, picture, f, &given[f], controls + row * width, absent ? absent + row : NULL);
  }
  memcpy(b->fighters, saved, sizeof saved);
}
