// SPDX-License-Identifier: MIT
//
// The sizes of sides that kernel.c and state.c are compiled for, each with its size as MR_SIDE: room for that many
// fighters on either side. A fight takes the smallest that has room for its fighters, on whichever side they are.

#pragma once

#include "isas.h"

// X(with, size), smallest first. A build may have fewer.
#ifndef MR_SIDE_SIZES
#define MR_SIDE_SIZES(X, with) X(with, 1) X(with, 2) X(with, 4) X(with, 8)
#endif

// In a file that is compiled for each: a name with the size at its end, and with the instruction set and the size.
#define MR_OF_SIDE(name) MR_PASTE(name, MR_SIDE)
#define MR_OF_ISA_AND_SIDE(name) MR_PASTE(MR_PASTE(MR_OF_ISA(name), _), MR_SIDE)
