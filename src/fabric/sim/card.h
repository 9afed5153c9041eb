/*
 * card.h - the network card of a simulated PE: puts and gets in which no core of the target has part.
 *
 * The card works as UCX uses one over InfiniBand. A put of less than 8 KiB is copied into the card's memory, so its
 * source is free at once. The card itself reads longer ones, whose memory is registered when it is first used. The
 * target's card stores the bytes and acknowledges them. It rings no doorbell: a thread that polls sees the bytes at
 * once, and one that sleeps finds them after its nap (wait/door.c).
 */
#ifndef WTL_FABRIC_SIM_CARD_H
#define WTL_FABRIC_SIM_CARD_H

#include "fabric/transport.h"

/* A simulated PE takes this from its network (wtl_sim_take). It is the first member of a struct of the card or of
 * transport_sim.c, and holds no pointer to a function, for each PE has its own copy of the program. */
typedef struct wtl_mail {
  bool of_card;
} wtl_mail;

typedef struct wtl_card wtl_card;

/* Returns NULL if there is no memory. */
wtl_card *wtl_card_open(int pe);
void wtl_card_close(wtl_card *c);

/* Registers memory. The caller's core pays for each page that was not registered yet. */
void wtl_card_register(wtl_card *c, const void *start, size_t n);

/* As in transport.h. */
void wtl_card_put(wtl_card *c, int pe, const wtl_transport_rma *r);
void wtl_card_get(wtl_card *c, int pe, const wtl_transport_rma *r);
void wtl_card_flush(wtl_card *c, wtl_done_fn done, void *arg);

/* Completes the operation of this PE's card that the mail is of. */
void wtl_card_complete(wtl_mail *mail);

#endif
