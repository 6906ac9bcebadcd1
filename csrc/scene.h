// SPDX-License-Identifier: MIT
//
// What can be seen in a block at one moment, MrScene: of pairs or of teams.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"

#if MR_SIDE == 1
#include "pair_scene.h"
#else
#include "team_scene.h"
#endif
