// SPDX-License-Identifier: MIT
//
// Constants of definitions: of the observations' features, of fly-outs, of the threat cone. They are not
// parameters, because results are comparable only while everybody uses the same definitions. The constants of the
// game itself are rows of params.h.

#pragma once

// Time to go ---------------------------------------------------------------------------------------------

// Greatest time to go of a missile [s]. A missile that does not close on its target has this time to go.
#define MR_TIME_TO_GO_MAX 100.0f

// Observations, version 1 --------------------------------------------------------------------------------
//
// Raise MR_OBSERVATION_VERSION when one of these constants changes: trained policies rely on what the features
// meant in their training.

// The feature time_left is the seconds left, divided by this scale [s]. With a time limit above the scale, the
// feature is the share of the time limit that is left. So it starts at 1 at most and ends at 0.
#define MR_CLOCK_SCALE 300.0f

// The nearness features are near / (near + value), which resolves small values finely. At the value `near` the
// feature is 1/2.
#define MR_NEAR_FIGHTER 10000.0f   // m
#define MR_NEAR_MISSILE 5000.0f    // m
#define MR_NEAR_TIME 10.0f         // s
#define MR_NEAR_MISS 1000.0f       // m
#define MR_NEAR_TRACK 1000.0f      // m, standard deviation of the place of a track of quality 1/2

// Prediction of the miss distance of a fighter's inbound missiles, view_pair.h. The fighter and its missiles are
// flown ahead in a few long steps.
//
// - The duration is twice the longest time to go of these missiles, since a missile may have to turn first. It is
//   kept between MIN and MAX. Few missiles fly for longer than MAX.
// - Each step is longer than the one before by the factor GROWTH. The first step is the share FIRST of the
//   duration. The shares of all steps add up to 1.
// - The missiles fly with GAIN times their navigation constant. With the full constant they would turn too far in
//   steps of this length.
//
// A threshold on the predicted miss distance separates hits from misses with an AUC (area under the ROC curve) of
// 0.975, on 8,300 missiles from fights between policies and pilots. In fights between pilots alone half the targets
// hold full rudder; the AUC is 0.95 there. Seven steps would reach 0.96 there, but the prediction would then take
// more than a quarter of the throughput.
#define MR_PREDICTION_MIN 10.0f  // s
#define MR_PREDICTION_MAX 36.0f  // s
enum { MR_PREDICTION_STEPS = 6 };
#define MR_PREDICTION_GROWTH 1.25f
#define MR_PREDICTION_FIRST 0.08882f  // (growth - 1) / (growth^steps - 1)
#define MR_PREDICTION_GAIN 0.8f       // of the navigation constant

// Fly-outs and envelopes ---------------------------------------------------------------------------------

// Time limit of a fly-out [s]. A missile still in flight at the limit is a miss. With almost no drag a missile
// would hardly ever be spent.
#define MR_FLY_OUT_TIME 300.0

// Steering of a target in a fly-out: rudder per sine of the angle between its nose and its course. The rudder is
// full beyond 14 degrees off the course. A fighter turns at about 15 degrees a second, and its rudder needs half a
// second from full to centre. The turn therefore ends near the course, with little overshoot.
#define MR_EVASION_STEERING 4.0f

// Threat cone --------------------------------------------------------------------------------------------

// Ratio of each turn's rudder to the rudder of the turn before, the fourth root of 1/2. The first turn has full
// rudder and is the shortest. The last turns fly near the best lift-to-drag ratio and lose the least speed.
#define MR_CONE_RATIO 0.84089642f
