// SPDX-License-Identifier: MIT
//
// The orders that an agent gives in place of controls. RULES.md, "Orders". A row is
//
//     X(name, needs, meaning, otherwise)
//
// Everything else follows from the row: its MrOrder, its level in the games that have it, and its name and texts in
// Python. orders.h has its course.
//
//   needs: the games that have the order: those of MR_NEEDS_NOTHING (all), MR_NEEDS_SENSORS or MR_NEEDS_TEAM.
//   meaning: the course that the fighter flies.
//   otherwise: the course without what the meaning speaks of.
//
// The level of an order is its place among the orders that the game has.

#pragma once

// clang-format off
#define MR_ORDERS(X) \
  X(commit, MR_NEEDS_NOTHING, "toward the target", "without a place of the target straight on") \
  X(crank, MR_NEEDS_NOTHING, "off the target by order_crank_angle_deg, to the side of the nose; with sensors within the radar's cone while an own missile needs support", "without a place of the target straight on") \
  X(beam, MR_NEEDS_NOTHING, "across the line to the most urgent inbound missile, to the side that the nose is nearer to", "without an inbound missile across the line to the target") \
  X(cold, MR_NEEDS_NOTHING, "straight away from the most urgent inbound missile", "without an inbound missile straight away from the target") \
  X(notch, MR_NEEDS_SENSORS, "across the line to the radar that tracks the fighter", "without such a radar as beam") \
  X(support, MR_NEEDS_SENSORS, "the target at the edge of the radar's cone, on the side of the nose", "without a place of the target straight on") \
  X(guard, MR_NEEDS_TEAM, "toward the enemy that menaces the nearest ally, which becomes the target", "without such an enemy as commit") \
  X(regroup, MR_NEEDS_TEAM, "toward the middle of the living allies", "without an ally as commit")

// What a fighter may fire at its target, beside the pilots' rules for the nose and the missiles in the air.
#define MR_PERMISSIONS(X) \
  X(hold, "fires nothing") \
  X(tight, "fires inside R_NEZ") \
  X(free, "fires inside order_fire of R_max")

// With emission control or chaff: the systems.
#define MR_ORDER_SYSTEMS(X) \
  X(emit, "the radar emits") \
  X(silent, "the radar is silent") \
  X(chaff, "the radar emits, and chaff is dropped while there is no cloud") \
  X(silent_chaff, "both")

// With height: the climb.
#define MR_ORDER_LEVELS(X) \
  X(low, "dives with pilot_dive") \
  X(level, "holds its height") \
  X(high, "goes to pilot_height_max")
// clang-format on

typedef enum { MR_NEEDS_NOTHING, MR_NEEDS_SENSORS, MR_NEEDS_TEAM } MrNeeds;

#define MR_ENUM_ORDER(name, needs, meaning, otherwise) MR_ORDER_##name,
typedef enum { MR_ORDERS(MR_ENUM_ORDER) MR_ORDER_COUNT } MrOrder;
#define MR_ENUM_PERMISSION(name, meaning) MR_PERMISSION_##name,
typedef enum { MR_PERMISSIONS(MR_ENUM_PERMISSION) MR_PERMISSION_COUNT } MrPermission;
#define MR_ENUM_ORDER_LEVEL(name, meaning) MR_ORDER_LEVEL_##name,
typedef enum { MR_ORDER_LEVELS(MR_ENUM_ORDER_LEVEL) MR_ORDER_LEVEL_COUNT } MrOrderLevel;
