// SPDX-License-Identifier: MIT
//
// When the picture of one against one is updated, which picture.h has.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

// A field of the contact that the owner of a missile has with its target.
#define MR_OF_CONTACT(m, picture, field, i) \
  ((m)->owner[i] == 1 ? (picture)->contacts[1].field[i] : (picture)->contacts[0].field[i])

static void mr_note_targets(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t slot,
                            MrTargets *out) {
  (void)sim;
  const MrMissile *m = &b->missiles[slot];
  const MrBody *const fighters[] = {&b->fighters[0].body, &b->fighters[1].body};
  MR_FOR_LANES(i) {
    float v = MR_OF_TARGET(m, fighters, v, i), told_v = MR_OF_CONTACT(m, picture, body.v, i);
    out->x[i] = MR_OF_TARGET(m, fighters, x, i);
    out->y[i] = MR_OF_TARGET(m, fighters, y, i);
    out->vx[i] = v * MR_OF_TARGET(m, fighters, c, i);
    out->vy[i] = v * MR_OF_TARGET(m, fighters, s, i);
    out->tracked[i] = mr_is_track(MR_OF_CONTACT(m, picture, source, i));
    out->told_x[i] = MR_OF_CONTACT(m, picture, body.x, i);
    out->told_y[i] = MR_OF_CONTACT(m, picture, body.y, i);
    out->told_vx[i] = told_v * MR_OF_CONTACT(m, picture, body.c, i);
    out->told_vy[i] = told_v * MR_OF_CONTACT(m, picture, body.s, i);
  }
}

// Updates the picture after `steps` physics steps: contacts, what missiles believe, and which missiles are lost.
static void mr_update_picture(const struct MrSim *sim, int32_t steps, MrBlock *b, MrPicture *picture) {
  MrSight sights[MR_FIGHTERS];
  mr_look(b, sights);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    const MrFighter *own = &b->fighters[f], *enemy = &b->fighters[mr_opponent(f)];
    mr_update_contact(sim, own, enemy, steps, &sights[f], &picture->contacts[f]);
  }
  mr_update_beliefs(sim, steps, b, picture);
}
