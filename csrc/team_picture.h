// SPDX-License-Identifier: MIT
//
// When the picture of teams is updated, and what the fighters of a side tell each other by data link: that their radars
// track an enemy, and where it is. It arrives one decision late, by when the enemy is believed to have flown straight on.
// RULES.md, "Teams". picture.h has the rest.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

// What a side's radars had of an enemy at the last update.
typedef struct {
  MR_ALIGNED int32_t trackers[MR_LANES];  // fighters whose radars tracked it
  MrBody body;                            // that it is believed to have by now, the same for all of these
} MrLink;

static void mr_link(const struct MrSim *sim, const MrPicture *picture, int32_t enemy, MrLink *out) {
  MR_FOR_LANES(i) out->trackers[i] = 0;
  MR_FOR_SIDE(sim, !mr_side(sim, enemy), f) {
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, f, enemy)];
    const MrBody *body = &contact->body;
    MR_FOR_LANES(i) {
      int tracks = contact->source[i] == MR_RADAR;
      out->trackers[i] += tracks;
      out->body.x[i] = mr_select(tracks, body->x[i], out->body.x[i]);
      out->body.y[i] = mr_select(tracks, body->y[i], out->body.y[i]);
      out->body.c[i] = mr_select(tracks, body->c[i], out->body.c[i]);
      out->body.s[i] = mr_select(tracks, body->s[i], out->body.s[i]);
      out->body.v[i] = mr_select(tracks, body->v[i], out->body.v[i]);
    }
  }
}

// What a contact is after its own radar has been asked: without that, what another fighter's radar had, if there is one.
// Everybody sees a kill: there is no track of the dead. `tracked` is whether the own radar was among those of the link.
static void mr_hear_of(const MrLink *link, const MrFighter *enemy, const int32_t tracked[MR_LANES], int32_t steps,
                       MrContact *contact) {
  MrBody *body = &contact->body;
  MR_FOR_LANES(i) {
    int32_t source = contact->source[i];
    int linked = (source != MR_RADAR) & (link->trackers[i] > tracked[i]);
    source = mr_select_int(linked, MR_LINKED, source);
    contact->source[i] = mr_select_int(mr_is_track(source) & !enemy->alive[i], MR_LOST, source);
    contact->age[i] = mr_select_int(linked, steps, contact->age[i]);
    body->x[i] = mr_select(linked, link->body.x[i], body->x[i]);
    body->y[i] = mr_select(linked, link->body.y[i], body->y[i]);
    body->c[i] = mr_select(linked, link->body.c[i], body->c[i]);
    body->s[i] = mr_select(linked, link->body.s[i], body->s[i]);
    body->v[i] = mr_select(linked, link->body.v[i], body->v[i]);
  }
}

// Updates what a side knows of an enemy.
static void mr_update_contacts(const struct MrSim *sim, const MrBlock *b, int32_t enemy, int32_t steps,
                               MrPicture *picture) {
  MrLink link = {.trackers = {0}};
  mr_link(sim, picture, enemy, &link);
  MR_FOR_SIDE(sim, !mr_side(sim, enemy), f) {
    MrContact *contact = &picture->contacts[mr_contact_place(sim, f, enemy)];
    MR_ALIGNED int32_t tracked[MR_LANES];
    MrSight sight;
    MR_FOR_LANES(i) tracked[i] = contact->source[i] == MR_RADAR;
    mr_look_at(&b->fighters[f].body, &b->fighters[enemy].body, &sight);
    mr_update_contact(sim, &b->fighters[f], &b->fighters[enemy], steps, &sight, contact);
    mr_hear_of(&link, &b->fighters[enemy], tracked, steps, contact);
  }
}

static void mr_note_targets(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t slot,
                            MrTargets *out) {
  const MrMissile *m = &b->missiles[slot];
  *out = (MrTargets){.tracked = {0}};
  MR_EACH_LANE(i) {
    if (!m->active[i]) continue;  // where no missile flies, owner and target mean nothing
    const MrBody *body = &b->fighters[m->target[i]].body;
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, m->owner[i], m->target[i])];
    const MrBody *told = &contact->body;
    out->x[i] = body->x[i];
    out->y[i] = body->y[i];
    out->vx[i] = body->v[i] * body->c[i];
    out->vy[i] = body->v[i] * body->s[i];
    out->tracked[i] = mr_is_track(contact->source[i]);
    out->told_x[i] = told->x[i];
    out->told_y[i] = told->y[i];
    out->told_vx[i] = told->v[i] * told->c[i];
    out->told_vy[i] = told->v[i] * told->s[i];
  }
}

// Updates the picture after `steps` physics steps: contacts, what missiles believe, and which missiles are lost.
static void mr_update_picture(const struct MrSim *sim, int32_t steps, MrBlock *b, MrPicture *picture) {
  for (int32_t enemy = 0; enemy < mr_fighters(sim); enemy++) mr_update_contacts(sim, b, enemy, steps, picture);
  mr_update_beliefs(sim, steps, b, picture);
}

// The receivers of a fighter ------------------------------------------------------------------------------

// What it hears of each enemy's radar, by the enemy's place in its side.
typedef struct {
  MrHeard of[MR_ENEMIES];
} MrHeardAll;

static void mr_listen_around(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrPicture *picture,
                             MrHeardAll *out) {
  int32_t enemies = !mr_side(sim, fighter), first = mr_first(sim, enemies);
  MR_FOR_SIDE(sim, enemies, e) {
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, e, fighter)];
    MrSight sight;
    mr_look_at(&b->fighters[fighter].body, &b->fighters[e].body, &sight);
    mr_listen(sim, &b->fighters[fighter], &b->fighters[e], &sight, contact, &out->of[e - first]);
  }
}

// Whether a radar presses more than another: one that tracks the fighter first, of these the one nearer its nose. Those
// that are not heard come last.
static inline int mr_presses(const MrHeard *a, const MrHeard *b, int i) {
  int32_t order = a->hears[i] + a->tracked[i], other = b->hears[i] + b->tracked[i];
  return (order > other) | ((order == other) & (a->ahead[i] > b->ahead[i]));
}

// The radar that presses most.
static void mr_most_pressing(const struct MrSim *sim, int32_t fighter, const MrHeardAll *all, MrHeard *out) {
  *out = all->of[0];
  for (int32_t e = 1; e < mr_size(sim, !mr_side(sim, fighter)); e++) {
    const MrHeard *other = &all->of[e];
    MR_FOR_LANES(i) {
      int more = mr_presses(other, out, i);
      out->hears[i] = mr_select_int(more, other->hears[i], out->hears[i]);
      out->tracked[i] = mr_select_int(more, other->tracked[i], out->tracked[i]);
      out->ahead[i] = mr_select(more, other->ahead[i], out->ahead[i]);
      out->left[i] = mr_select(more, other->left[i], out->left[i]);
    }
  }
}
