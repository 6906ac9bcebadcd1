// SPDX-License-Identifier: MIT
//
// Constants that are no parameters, because they say what a word of the rules means: what a feature of an
// observation shows, what a fly-out is. Whoever changed one would have results that cannot be compared with
// others'. All constants that make the game are rows of params.h.

#pragma once

// Time to go ---------------------------------------------------------------------------------------------

// A missile has at most so long to go [s], and exactly so long while it does not close.
#define MR_TIME_TO_GO_MAX 100.0f

// Observations, version 1 --------------------------------------------------------------------------------
//
// A change below needs a new MR_OBSERVATION_VERSION: policies have learnt what these features mean.

// The clock shows the seconds left over this scale [s]. With a longer time limit it shows the share of the limit
// that is left, so that it runs from 1 to 0, too.
#define MR_CLOCK_SCALE 300.0f

// Half-way points of the features that resolve near things finely: near / (near + value).
#define MR_NEAR_FIGHTER 10000.0f   // m
#define MR_NEAR_MISSILE 5000.0f    // m
#define MR_NEAR_TIME 10.0f         // s
#define MR_NEAR_MISS 1000.0f       // m

// How the miss of an inbound missile is predicted, prediction.h. Each missile is flown ahead for twice the longest
// time to go, since it may have to turn, but within these limits: few missiles outlive the longer. The time is
// divided into a few steps, each longer than the one before by the growth; the first is the given share of the
// time, so that all of them make up the whole. The missiles fly with less than their navigation constant: with all
// of it they would turn too far in such long steps.
//
// The predicted miss tells hits from misses with an AUC of 0.975 on 8,300 missiles out of fights of policies and
// pilots, and of 0.95 out of fights of pilots alone, where half the targets hold full rudder. Seven steps would
// reach 0.96 there, but cost more than a quarter of the throughput.
#define MR_PREDICTION_MIN 10.0f  // s
#define MR_PREDICTION_MAX 36.0f  // s
enum { MR_PREDICTION_STEPS = 6 };
#define MR_PREDICTION_GROWTH 1.25f
#define MR_PREDICTION_FIRST 0.08882f  // (growth - 1) / (growth^steps - 1)
#define MR_PREDICTION_GAIN 0.8f       // of the navigation constant

// Fly-outs and envelopes ---------------------------------------------------------------------------------

// A fly-out is a miss after so long [s]: with next to no drag a missile would hardly ever be spent.
#define MR_FLY_OUT_TIME 300.0

// How a target turns to its course: rudder per sine of the angle off it. The rudder is full beyond 14 degrees. At 15
// degrees a second the half second in which the rudder comes back from there ends the turn without passing the
// course by much.
#define MR_EVASION_STEERING 4.0f

// Threat cone --------------------------------------------------------------------------------------------

// Each turn's rudder over the one before, the fourth root of 1/2. The hardest turn is the shortest; the gentlest are
// near the best lift-to-drag ratio and cost the least speed.
#define MR_CONE_RATIO 0.84089642f
